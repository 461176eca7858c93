// Create an evaluator with a model: from a built-in one, or from an empty prompt.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Builtin, Evaluator, LlmDefinition, NewEvaluator } from "../../api_types";
import { reload, use_load } from "../../load";
import { space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { Data } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { evaluator_page } from "../addresses";
import { evaluators_changed, list_builtins, llm_with, output_of } from "./data";

const own = "";
const own_prompt =
  "Input: {{input}}\n\nOutput: {{output}}\n\nDecide whether the output is a good response to the input.";

function body_of(
  builtin: Builtin | undefined,
  name: string,
  model: string,
  skill: string,
  votes: string,
): NewEvaluator {
  const description = builtin?.description ?? "";
  if (builtin?.kind === "code")
    return { name, kind: "code", description, code: builtin.definition as NewEvaluator["code"] };
  const given: Partial<LlmDefinition> = builtin
    ? (builtin.definition as Partial<LlmDefinition>)
    : { messages: [{ role: "user", content: own_prompt }], output: output_of("pass=1, fail=0") };
  const llm = { ...llm_with(model.trim(), skill.trim(), given), votes: Number(votes) };
  return { name, kind: "llm", description, llm };
}

function CreateForm({ builtins, on_close }: { builtins: Builtin[]; on_close: () => void }) {
  const [start, set_start] = useState(own);
  const [name, set_name] = useState("");
  const [model, set_model] = useState("");
  const [skill, set_skill] = useState("");
  const [votes, set_votes] = useState("1");
  const builtin = builtins.find((one) => one.name === start);
  const is_code = builtin?.kind === "code";
  const chosen_name = name.trim() || builtin?.name || "";
  return (
    <Form
      title="Create evaluator"
      disabled={chosen_name === "" || (!is_code && model.trim() === "")}
      on_cancel={on_close}
      submit={async () => {
        const made = await api.post<Evaluator>("/v1/evaluators", body_of(builtin, chosen_name, model, skill, votes), {
          space: space.value?.id,
        });
        await evaluators_changed();
        toast_done(`${made.name} created; test it on real traces`);
        navigate(evaluator_page(made.id));
      }}
    >
      <Choice
        label="Start from"
        value={start}
        on_change={set_start}
        options={[
          { value: own, title: "An own prompt" },
          ...builtins
            .filter((one) => one.kind !== "rule")
            .map((one) => ({ value: one.name, title: `${one.name} (${one.kind}, ${one.target.replace("_", " ")})` })),
        ]}
        hint={builtin?.description ?? "You write the prompt and the labels on the next page."}
      />
      <Field
        label="Name"
        value={name}
        on_input={set_name}
        placeholder={builtin?.name ?? "polite"}
        hint="The name of its evals."
        first
      />
      {!is_code && (
        <div class="field-row">
          <Field label="Model" value={model} on_input={set_model} placeholder="gpt-4o-mini" required />
          <Field label="Model skill" value={skill} on_input={set_skill} hint="Empty: the one that offers the model." />
          <Choice
            label="Votes"
            value={votes}
            on_change={set_votes}
            options={["1", "3", "5"].map((value) => ({ value, title: value }))}
          />
        </div>
      )}
    </Form>
  );
}

export function CreateDialog({ on_close }: { on_close: () => void }) {
  const load = use_load("evaluator_builtins", list_builtins);
  return (
    <Dialog title="New evaluator" wide on_close={on_close}>
      <Data load={load} retry={() => void reload("evaluator_builtins")}>
        {(builtins) => <CreateForm builtins={builtins} on_close={on_close} />}
      </Data>
    </Dialog>
  );
}
