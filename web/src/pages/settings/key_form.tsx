// Creating an API key, and showing its secret once.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Key, KeyKind, CreateKey as KeyRequest, Role } from "../../api_types";
import { shell_quote } from "../../lib/format/text";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { role_options } from "../../parts/role";
import { ShownOnce } from "../../parts/shown_once";
import { PermissionList } from "./permission_list";

/** The response that contains the secret. */
export type CreatedKey = Key & { key: string };

const lifetimes = [
  { value: "30", title: "30 days" },
  { value: "90", title: "90 days" },
  { value: "365", title: "1 year" },
  { value: "", title: "never" },
];

export function CreateKey({ on_close, on_done }: { on_close: () => void; on_done: (key: CreatedKey) => void }) {
  const [name, set_name] = useState("");
  const [kind, set_kind] = useState<KeyKind>("personal");
  const [role, set_role] = useState<Role>("member");
  // The least that most keys need; viewers cannot send.
  const [reach, set_reach] = useState(can("trace_write") ? "trace_write" : "read");
  const [scopes, set_scopes] = useState<string[]>([]);
  const [days, set_days] = useState("90");
  async function create(): Promise<void> {
    const body = {
      name: name.trim(),
      kind,
      scopes: reach === "chosen" ? scopes : [reach],
      ...(kind === "service" ? { role } : {}),
      ...(days === "" ? {} : { expires_in_days: Number(days) }),
    } satisfies KeyRequest;
    on_done(await api.post<CreatedKey>("/v1/keys", body, { space: space.value?.id }));
  }
  const incomplete = name.trim() === "" || (reach === "chosen" && scopes.length === 0);
  return (
    <Dialog title="Create an API key" on_close={on_close}>
      <Form title="Create key" busy_title="Creating…" disabled={incomplete} on_cancel={on_close} submit={create}>
        <Field
          label="Name"
          placeholder="ci, support-agent exporter, …"
          value={name}
          on_input={set_name}
          required
          first
        />
        {can("key_manage") && (
          <div class="field-row">
            <Choice
              label="Kind"
              value={kind}
              on_change={(value) => set_kind(value as KeyKind)}
              options={[
                { value: "personal", title: "personal: acts as you" },
                { value: "service", title: "service: has its own role" },
              ]}
            />
            {kind === "service" && (
              <Choice label="Role" value={role} on_change={(value) => set_role(value as Role)} options={role_options} />
            )}
          </div>
        )}
        <div class="field-row">
          <Choice
            label="Permissions"
            value={reach}
            on_change={set_reach}
            options={[
              ...(can("trace_write") ? [{ value: "trace_write", title: "send traces only" }] : []),
              { value: "read", title: "read only" },
              { value: "all", title: kind === "service" ? "all permissions of its role" : "all your permissions" },
              { value: "chosen", title: "chosen permissions" },
            ]}
          />
          <Choice label="Expires" value={days} on_change={set_days} options={lifetimes} />
        </div>
        {reach === "chosen" && <PermissionList chosen={scopes} on_change={set_scopes} />}
      </Form>
    </Dialog>
  );
}

export function KeySecret({ created, on_close }: { created: CreatedKey; on_close: () => void }) {
  const command = `curl -H ${shell_quote(`Authorization: Bearer ${created.key}`)} ${shell_quote(`${window.location.origin}/v1/projects`)}`;
  return (
    <ShownOnce
      title={`Key ${created.name}`}
      warning="Copy the secret now. Hone stores only a hash of it and cannot show it again."
      secret={created.key}
      command={command}
      on_close={on_close}
    />
  );
}
