// Datasets, experiments and prompts for specs, made over the API as clients make them.

import { type Person, unique } from "./fixtures";

interface Uploaded {
  dataset_id: string;
  version_id: string;
}

export interface MadeDataset {
  name: string;
  /** As in addresses. */
  id: string;
  node: string;
}

const plain = (node: string) => Buffer.from(node, "base64").toString().split(":")[1] ?? node;

const questions = ["Where is my order?", "Can I return it?", "Do you ship to Norway?", "Is it in stock?"];

/** Four examples with ids e0 to e3; e0 and e1 are in the split "test". A second version changes e3. */
export async function make_dataset(admin: Person, name = unique("tickets")): Promise<MadeDataset> {
  const upload = (output: (index: number) => string) =>
    admin.send<Uploaded>("POST", "/v1/datasets/upload?sync=true", {
      action: "update",
      name,
      description: "Questions of customers",
      inputs: questions.map((question) => ({ question })),
      outputs: questions.map((_, index) => ({ answer: output(index) })),
      metadata: questions.map((_, index) => ({ level: index })),
      example_ids: questions.map((_, index) => `e${index}`),
      splits: questions.map((_, index) => (index < 2 ? "test" : null)),
    });
  await upload((index) => `answer ${index}`);
  const made = await upload((index) => (index === 3 ? "another answer" : `answer ${index}`));
  return { name, id: plain(made.dataset_id), node: made.dataset_id };
}

interface ExampleOfApi {
  id: string;
  node_id: string;
}

/** An experiment whose run of example i passes when `passes(i, repetition)`; null fails with an error. */
export async function make_experiment(
  admin: Person,
  dataset: MadeDataset,
  name: string,
  passes: (index: number, repetition: number) => boolean | null,
  repetitions = 1,
  metadata: Record<string, unknown> = {},
): Promise<string> {
  const { examples } = await admin.send<{ examples: ExampleOfApi[] }>(
    "GET",
    `/v1/datasets/${encodeURIComponent(dataset.node)}/examples`,
  );
  const made = await admin.send<{ id: string }>(
    "POST",
    `/v1/datasets/${encodeURIComponent(dataset.node)}/experiments`,
    { name, repetitions, metadata },
  );
  const times = { start_time: "2026-11-16T10:00:00Z", end_time: "2026-11-16T10:00:01Z" };
  for (const [index, example] of examples.entries())
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      const result = passes(index, repetition);
      const run = await admin.send<{ id: string }>("POST", `/v1/experiments/${encodeURIComponent(made.id)}/runs`, {
        dataset_example_id: example.node_id,
        repetition_number: repetition,
        output: result === null ? null : { answer: result ? `answer ${index}` : "no idea" },
        ...(result === null ? { error: "the model did not respond" } : {}),
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
        ...times,
      });
      if (result === null) continue;
      await admin.send("POST", "/v1/experiment_evaluations", {
        experiment_run_id: run.id,
        name: "correct",
        annotator_kind: "CODE",
        result: { score: result ? 1 : 0, label: result ? "yes" : "no", explanation: "compared with the reference" },
        ...times,
      });
    }
  return plain(made.id);
}

/** A prompt with two versions; the first has the tag production. Gives its name and the id of the second version. */
export async function make_prompt(admin: Person): Promise<{ name: string; version: string }> {
  const name = unique("greet").toLowerCase();
  const add = (content: string, temperature: number) =>
    admin.send<{ id: string }>("POST", "/v1/prompts", {
      prompt: { name, description: "Greets a customer" },
      version: {
        model_provider: "OPENAI",
        model_name: "gpt-x",
        template_type: "CHAT",
        template_format: "MUSTACHE",
        template: {
          type: "chat",
          messages: [
            { role: "system", content: "You are kind." },
            { role: "user", content },
          ],
        },
        invocation_parameters: { type: "openai", openai: { temperature } },
      },
    });
  const first = await add("Hello {{who}}", 0.1);
  await admin.send("POST", `/v1/prompt_versions/${encodeURIComponent(first.id)}/tags`, { name: "production" });
  const second = await add("Good morning {{who}}", 0.7);
  return { name, version: second.id };
}
