// The consent of an owner that data of the space is sent to an agent provider: what leaves, what is not kept, who agreed.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { ManagedConsentView } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Check, Field, Form } from "../../parts/form";
import { Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";

const path = () => `/v1/spaces/${segment(space.value?.id ?? "")}/managed-consent`;
const first_address = "https://api.anthropic.com";

function Given({ view }: { view: ManagedConsentView }) {
  async function withdraw(base_url: string): Promise<void> {
    try {
      await api.post<ManagedConsentView>(`${path()}/withdraw`, { base_url });
      await reload("managed_consent/");
      toast_done("Consent withdrawn; its sessions end");
    } catch (error) {
      toast_failed("Could not withdraw the consent", error);
    }
  }
  if (view.consents.length === 0) return <p class="soft">No owner has consented: presets with it are not saved.</p>;
  return (
    <ul>
      {view.consents.map((consent) => (
        <li key={consent.base_url}>
          <code>{consent.base_url}</code>, {consent.consented_by}, <Time time={consent.consented_at} />{" "}
          {can("space_delete") && (
            <button type="button" class="quiet" onClick={() => void withdraw(consent.base_url)}>
              Withdraw
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Give() {
  const [address, set_address] = useState(first_address);
  const [has_read, set_has_read] = useState(false);
  if (!can("space_delete")) return <p class="soft">Only an owner of the space can consent.</p>;
  return (
    <Form
      title="Consent"
      plain
      disabled={!has_read || address.trim() === ""}
      submit={async () => {
        await api.post<ManagedConsentView>(path(), { base_url: address.trim() });
        await reload("managed_consent/");
        set_has_read(false);
        toast_done("Consent recorded");
      }}
    >
      <Field
        label="Base URL of the provider"
        hint="As in the model skill: Anthropic, or a server of your own."
        value={address}
        on_input={set_address}
      />
      <Check label="I have read what leaves this server" checked={has_read} on_change={set_has_read} />
    </Form>
  );
}

export function ManagedConsent() {
  const load = use_load(`managed_consent/${space.value?.id}`, (signal) =>
    api.get<ManagedConsentView>(path(), {}, signal),
  );
  return (
    <Section
      title="Claude Managed Agents"
      text="Sessions with this provider work on machines outside of this server. An owner must consent first."
    >
      <Data load={load} retry={() => void reload("managed_consent/")}>
        {(view) => (
          <>
            <h3>What leaves this server</h3>
            <ul>
              {view.leaves.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
            <h3>What the provider cannot keep</h3>
            <ul>
              {view.not_kept.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
            <h3>Consent</h3>
            <Given view={view} />
            <Give />
          </>
        )}
      </Data>
    </Section>
  );
}
