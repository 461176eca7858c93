// Where the runs of a preset work, and how the form shows what a provider lacks.

import type { ProviderView } from "../../api_types";
import { Choice, Field } from "../../parts/form";
import { lack_of, provider_title, use_providers } from "./data";
import { type Draft, for_provider } from "./draft";

/** A field that the provider lacks is disabled, with the reason. */
export const unless = (reason: string | undefined, hint?: string) =>
  reason === undefined ? { hint } : { hint: reason, disabled: true };

export function ProviderField({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  const providers = use_providers();
  const chosen = providers.find((entry) => entry.name === draft.provider);
  if (providers.length === 0) return null;
  const can_be_chosen = (entry: ProviderView) => entry.available && entry.allowed;
  const reasons = providers.filter((entry) => !can_be_chosen(entry) && entry.advice !== "");
  return (
    <>
      <Choice
        label="Provider"
        value={draft.provider}
        on_change={(name) => {
          const wanted = providers.find((entry) => entry.name === name);
          if (wanted) change(for_provider(draft, wanted));
        }}
        options={providers.map((entry) => ({
          value: entry.name,
          title: provider_title(entry),
          disabled: !can_be_chosen(entry) && entry.name !== draft.provider,
        }))}
        hint={
          <>
            {chosen?.text} {lack_of(chosen, "kept_workspace")}
            {reasons.map((entry) => (
              <span key={entry.name}>
                {" "}
                {entry.title}: {entry.advice}
              </span>
            ))}
          </>
        }
      />
      {draft.provider === "claude-managed" && (
        <div class="field-row">
          <Field
            label="Agent"
            hint="Id of an agent at the provider. Empty: Hone makes one for these settings."
            value={draft.agent}
            on_input={(agent) => change({ agent })}
          />
          <Field
            label="Environment"
            hint="Id of an environment at the provider. Empty: Hone makes one for this network."
            value={draft.environment}
            on_input={(environment) => change({ environment })}
          />
        </div>
      )}
    </>
  );
}
