// The pages about spans in one file for the browser: fetched together when the first one is opened.

export { ProjectPage } from "./project";
export { Sessions } from "./sessions";
export { Sql } from "./sql";
export { TracePage } from "./trace";
export { Traces } from "./traces";
