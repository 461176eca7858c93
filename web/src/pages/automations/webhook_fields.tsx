// The fields of a webhook trigger: who sends it, and how its requests are signed.

import type { HookSource, Trigger } from "../../api_types";
import { Choice, Field } from "../../parts/form";

export interface HookDraft {
  source: HookSource;
  signature_header: string;
  timestamp_header: string;
  hook_secret: string;
}

interface Source {
  title: string;
  /** Where the sender's settings take the address and the secret. */
  setup: string;
  /** The sender makes the secret. */
  brings_secret?: boolean;
}

export const hook_sources: Record<HookSource, Source> = {
  hone: {
    title: "a script: time, id and body signed",
    setup: "The request carries X-Hone-Timestamp, X-Hone-Delivery and X-Hone-Signature.",
  },
  github: {
    title: "GitHub",
    setup:
      "Settings, Webhooks, Add webhook: content type application/json, this address as payload URL, this secret, and the events to send.",
  },
  gitlab: {
    title: "GitLab",
    setup:
      "Settings, Webhooks: this address as URL, and this secret as secret token. To use a signing token instead, set it here as the secret.",
  },
  grafana: {
    title: "Grafana alerting",
    setup:
      "Contact point of type webhook (Grafana 12 or later): this address, and this secret as HMAC secret. Set X-Grafana-Alerting-Timestamp as timestamp header, so that requests expire.",
  },
  pagerduty: {
    title: "PagerDuty",
    setup: "Integrations, Generic Webhooks (v3): this address. Then set the signing secret that PagerDuty shows here.",
    brings_secret: true,
  },
  slack: {
    title: "Slack",
    setup:
      "A Slack app: set the signing secret of its basic information here and save, then this address as request URL of its event subscriptions or of a slash command.",
    brings_secret: true,
  },
  standard: {
    title: "Standard Webhooks",
    setup: "Services that send webhook-id, webhook-timestamp and webhook-signature.",
  },
  hmac: {
    title: "another sender with HMAC-SHA256",
    setup: "The signature is hexadecimal or base64, with or without sha256= in front.",
  },
};

export function hook_fields(draft: HookDraft): Partial<Trigger> {
  if (draft.source !== "hmac") return { source: draft.source };
  return {
    source: draft.source,
    signature_header: draft.signature_header.trim(),
    ...(draft.timestamp_header.trim() === "" ? {} : { timestamp_header: draft.timestamp_header.trim() }),
  };
}

export function WebhookFields({ draft, change }: { draft: HookDraft; change: (part: Partial<HookDraft>) => void }) {
  const source = hook_sources[draft.source];
  return (
    <>
      <Choice
        label="Sender"
        value={draft.source}
        on_change={(value) => change({ source: value as HookSource })}
        options={Object.entries(hook_sources).map(([value, each]) => ({ value, title: each.title }))}
        hint={source.setup}
      />
      {draft.source === "hmac" && (
        <div class="field-row">
          <Field
            label="Signature header"
            value={draft.signature_header}
            on_input={(signature_header) => change({ signature_header })}
            required
          />
          <Field
            label="Timestamp header"
            value={draft.timestamp_header}
            on_input={(timestamp_header) => change({ timestamp_header })}
            hint="Seconds, signed as timestamp.body. Empty: the same body fires once."
          />
        </div>
      )}
      <Field
        label="Secret of the sender"
        type="password"
        value={draft.hook_secret}
        on_input={(hook_secret) => change({ hook_secret })}
        placeholder={source.brings_secret ? "" : "empty: Hone makes one"}
        hint={
          source.brings_secret
            ? "Stored encrypted and never shown again. Without it Hone makes one that the sender does not know."
            : "Only if the sender makes the secret. Stored encrypted and never shown again."
        }
      />
      <p class="soft">
        The address is shown when you save. A repeated delivery fires once. The worker reads the body from a file; it is
        never part of the prompt.
      </p>
    </>
  );
}
