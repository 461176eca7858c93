// Where the runs of a preset work, and how the form shows what a provider lacks.

import { Choice, Field } from "../../parts/form";
import { provider_title, use_providers } from "./data";
import { type Draft, for_provider } from "./draft";

/** A field that the provider lacks is disabled, with the reason. */
export const unless = (reason: string | undefined, hint?: string) =>
  reason === undefined ? { hint } : { hint: reason, disabled: true };

export function ProviderField({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  const providers = use_providers();
  const chosen = providers.find((entry) => entry.name === draft.provider);
  if (providers.length === 0) return null;
  const advice = chosen && chosen.advice !== "" ? `Not available: ${chosen.advice}` : undefined;
  return (
    <>
      <Choice
        label="Provider"
        value={draft.provider}
        on_change={(name) => {
          const wanted = providers.find((entry) => entry.name === name);
          if (wanted) change(for_provider(draft, wanted));
        }}
        options={providers
          .filter((entry) => (entry.available && entry.allowed) || entry.name === draft.provider)
          .map((entry) => ({ value: entry.name, title: provider_title(entry) }))}
        hint={advice ?? chosen?.text}
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
