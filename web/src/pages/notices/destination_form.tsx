// Adding and editing a destination. Its address is write-only: left empty, it is unchanged.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Destination, DestinationType } from "../../api_types";
import { notice_kinds } from "../../lib/sentences/notice";
import { space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form } from "../../parts/form";
import { use_projects } from "../projects/data";

interface DestinationFormProps {
  destination: Destination | null;
  on_close: () => void;
  on_saved: (saved: Destination) => void;
}

const types: { value: DestinationType; title: string; placeholder: string }[] = [
  { value: "slack", title: "Slack, or a compatible webhook", placeholder: "https://hooks.slack.com/services/…" },
  { value: "teams", title: "Microsoft Teams", placeholder: "https://….logic.azure.com/workflows/…" },
  { value: "discord", title: "Discord", placeholder: "https://discord.com/api/webhooks/…" },
  { value: "pagerduty", title: "PagerDuty", placeholder: "https://events.pagerduty.com/v2/enqueue" },
  { value: "opsgenie", title: "Opsgenie", placeholder: "https://api.opsgenie.com/v2/alerts" },
  { value: "webhook", title: "webhook: signed JSON", placeholder: "https://hooks.example.com/hone" },
  { value: "email", title: "email: each notice", placeholder: "" },
  { value: "email_digest", title: "email: one a day with all notices", placeholder: "" },
];

const key_hints: Partial<Record<DestinationType, string>> = {
  pagerduty: "Integration key of a service with the Events API v2. Monitors open an incident and resolve it.",
  opsgenie: "Key of an API integration. Monitors open an alert and close it.",
};

const is_mail = (type: DestinationType) => type === "email" || type === "email_digest";

const addresses = (text: string) => text.split(/[\s,;]+/).filter((part) => part !== "");

interface PickProps {
  legend: string;
  hint: string;
  options: { value: string; title: string }[];
  chosen: string[];
  on_change: (chosen: string[]) => void;
}

function Pick({ legend, hint, options, chosen, on_change }: PickProps) {
  return (
    <fieldset class="pick">
      <legend>{legend}</legend>
      <p class="hint">{hint}</p>
      <div class="scope-list">
        {options.map((option) => (
          <Check
            key={option.value}
            label={option.title}
            checked={chosen.includes(option.value)}
            on_change={(on) =>
              on_change(on ? [...chosen, option.value] : chosen.filter((value) => value !== option.value))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

export function DestinationForm({ destination, on_close, on_saved }: DestinationFormProps) {
  const [name, set_name] = useState(destination?.name ?? "");
  const [type, set_type] = useState<DestinationType>(destination?.type ?? "slack");
  const [url, set_url] = useState("");
  const [key, set_key] = useState("");
  const [to, set_to] = useState(destination && is_mail(destination.type) ? destination.target : "");
  const [kinds, set_kinds] = useState<string[]>(destination?.kinds ?? []);
  const [projects, set_projects] = useState<string[]>(destination?.projects ?? []);
  const [template, set_template] = useState(destination?.template ?? "");
  const known = use_projects().data ?? [];
  const mail = is_mail(type);
  const key_hint = key_hints[type];
  const has_target = mail ? addresses(to).length > 0 : (key_hint ? key : url).trim() !== "";
  const ready = name.trim() !== "" && (has_target || (destination !== null && !mail));
  async function save(): Promise<void> {
    const target = mail
      ? { to: addresses(to) }
      : { ...(url.trim() === "" ? {} : { url: url.trim() }), ...(key.trim() === "" ? {} : { key: key.trim() }) };
    const body = { name: name.trim(), kinds, projects, template, ...target };
    const saved = destination
      ? await api.patch<Destination>(`/v1/destinations/${segment(destination.id)}`, body)
      : await api.post<Destination>("/v1/destinations", { ...body, type }, { space: space.value?.id });
    on_saved(saved);
  }
  return (
    <Dialog title={destination ? `Edit ${destination.name}` : "Add a destination"} on_close={on_close} wide>
      <Form title={destination ? "Save" : "Add destination"} disabled={!ready} on_cancel={on_close} submit={save}>
        <div class="field-row">
          <Field label="Name" value={name} on_input={set_name} placeholder="on-call channel" required first />
          {!destination && (
            <Choice
              label="Type"
              value={type}
              on_change={(value) => set_type(value as DestinationType)}
              options={types}
            />
          )}
        </div>
        {mail ? (
          <Field
            label="Addresses"
            rows={2}
            value={to}
            on_input={set_to}
            placeholder="oncall@example.com"
            hint={`At most 20. Requires a mail server in the installation's settings.${type === "email_digest" ? " Sent at 07:00 UTC; the same notices are counted, and a day without notices has no mail." : ""}`}
          />
        ) : (
          <>
            {key_hint && (
              <Field
                label="Key"
                type="password"
                value={key}
                on_input={set_key}
                placeholder={destination ? "unchanged" : ""}
                hint={`${key_hint} Stored encrypted and never shown again.`}
              />
            )}
            <Field
              label={key_hint ? "Address of another region" : "Webhook URL"}
              value={url}
              on_input={set_url}
              placeholder={
                destination
                  ? `unchanged: ${destination.target}`
                  : types.find((each) => each.value === type)?.placeholder
              }
              hint={
                key_hint
                  ? "Empty: the usual one. With a new address the key is needed again."
                  : "Stored encrypted and never shown again."
              }
            />
          </>
        )}
        <Pick
          legend="Events"
          hint="None selected: all events."
          options={notice_kinds.map(([value, title]) => ({ value, title }))}
          chosen={kinds}
          on_change={set_kinds}
        />
        {known.length > 0 && (
          <Pick
            legend="Projects"
            hint="None selected: all projects. Notices about the whole space are always sent."
            options={known.map((project) => ({ value: project.id, title: project.name }))}
            chosen={projects}
            on_change={set_projects}
          />
        )}
        <Field
          label="Message template"
          rows={2}
          value={template}
          on_input={set_template}
          placeholder="default text"
          hint={
            <>
              Variables: <code>{"{{title}} {{body}} {{url}} {{kind}} {{space}} {{project}} {{time}}"}</code>
            </>
          }
        />
      </Form>
    </Dialog>
  );
}
