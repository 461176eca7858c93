// Datasets, experiments, prompts and evaluators: one file for the browser.

export { ComparePage } from "../pages/datasets/compare";
export { DatasetPage } from "../pages/datasets/dataset";
export { Datasets } from "../pages/datasets/datasets";
export { ExperimentPage } from "../pages/datasets/experiment";
export { PrintedAddress } from "../pages/datasets/printed_address";
export { EvaluatorPage } from "../pages/evaluators/evaluator";
export { Evaluators } from "../pages/evaluators/evaluators";
export { EvalTaskPage } from "../pages/evaluators/task";
export { Playground } from "../pages/prompts/playground";
export { PromptPage } from "../pages/prompts/prompt";
export { Prompts } from "../pages/prompts/prompts";
export { QueuePage } from "../pages/queues/queue";
export { Queues } from "../pages/queues/queues";
