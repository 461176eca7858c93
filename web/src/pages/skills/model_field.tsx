// The name of a model: chosen from the list of the provider, or typed.

import { useEffect, useId, useState } from "preact/hooks";
import { type ApiError, api, to_api_error } from "../../api";
import type { OfferedModel } from "../../api_types";
import { plural } from "../../lib/format/number";
import { space } from "../../login";
import { Choice, Field } from "../../parts/form";
import { ErrorNote } from "../../parts/state";

/** What the list is of: a stored model skill, or one that is not stored yet. */
export type ModelSource = { skill: string } | { variables: Record<string, string>; key: string };

interface ModelFieldProps {
  value: string;
  on_input: (model: string) => void;
  /** Null: what is needed for a list is not filled in yet. */
  source: ModelSource | null;
  /** Other suggestions. */
  seen?: string[];
  required?: boolean;
}

const other = "";

const title_of = (model: OfferedModel) =>
  model.title === "" || model.title === model.name ? model.name : `${model.title} (${model.name})`;

export function ModelField({ value, on_input, source, seen = [], required }: ModelFieldProps) {
  const list = useId();
  const [offered, set_offered] = useState<OfferedModel[]>([]);
  const [typed, set_typed] = useState(false);
  const [busy, set_busy] = useState(false);
  const [error, set_error] = useState<ApiError | null>(null);
  const of = JSON.stringify(source);
  // A list belongs to the provider and the key that it was requested with.
  useEffect(() => {
    set_offered([]);
    set_error(null);
    set_typed(false);
  }, [of]);
  async function load(): Promise<void> {
    set_busy(true);
    set_error(null);
    try {
      const models = await api.post<OfferedModel[]>("/v1/model_lists", source, { space: space.value?.id });
      set_offered(models);
      set_typed(models.length === 0);
      if (models[0] && !models.some((model) => model.name === value)) on_input(models[0].name);
    } catch (failure) {
      set_error(to_api_error(failure));
    } finally {
      set_busy(false);
    }
  }
  const chooses = offered.length > 0 && !typed;
  return (
    <div class="model-field">
      {chooses ? (
        <Choice
          label="Model"
          value={value}
          on_change={(name) => (name === other ? set_typed(true) : on_input(name))}
          options={[
            ...offered.map((model) => ({ value: model.name, title: title_of(model) })),
            { value: other, title: "Another name…" },
          ]}
          hint={`${plural(offered.length, "model")} with this key.`}
        />
      ) : (
        <Field
          label="Model"
          hint={
            seen.length > 0
              ? "The provider's name of the model; models of your traces are suggested."
              : "The provider's name of the model."
          }
          list={list}
          value={value}
          on_input={on_input}
          required={required}
        />
      )}
      <datalist id={list}>
        {(offered.length > 0 ? offered.map((model) => model.name) : seen).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {!chooses && (
        <button type="button" disabled={busy || source === null} onClick={() => void load()}>
          {busy ? "Waiting for the provider…" : "List models"}
        </button>
      )}
      {error && <ErrorNote error={error} />}
    </div>
  );
}
