// API keys of the space: create, rotate, revoke.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Key } from "../../api_types";
import { use_keys } from "../../keyboard";
import { shell_quote } from "../../lib/format/text";
import { with_query } from "../../lib/route";
import { reload, use_load } from "../../load";
import { can, can_install, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Id } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Form } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { current_address, query, set_query } from "../../router";
import { type CreatedKey, CreateKey, KeySecret } from "./key_form";

const tones: Record<Key["state"], Tone> = { active: "done", expired: "limit", revoked: "off" };

function scope_text(key: Key): string {
  const reach = key.scopes.includes("all") ? "all" : key.scopes.join(", ");
  return key.role ? `${key.role}: ${reach}` : reach;
}

const unused_days = 90;

// Where a key of the whole installation belongs.
const owner_columns: Column<Key>[] = [
  { id: "space_name", title: "Space", width: "120px", sort: (key) => key.space_name, cell: (key) => key.space_name },
  {
    id: "user_email",
    title: "User",
    wide: true,
    sort: (key) => key.user_email,
    cell: (key) => key.user_email || <span class="faint">service</span>,
  },
];

function columns(everything: boolean, actions: (key: Key) => MenuItem[]): Column<Key>[] {
  return [
    { id: "name", title: "Name", sort: (key) => key.name, cell: (key) => <b class="strong">{key.name}</b> },
    ...(everything ? owner_columns : []),
    {
      id: "prefix",
      title: "Key",
      width: "130px",
      wide: true,
      extra: everything,
      cell: (key) => <code>{key.prefix}…</code>,
    },
    {
      id: "kind",
      title: "Kind",
      width: "84px",
      wide: true,
      extra: everything,
      sort: (key) => key.kind,
      cell: (key) => key.kind,
    },
    {
      id: "scopes",
      title: "Permissions",
      wide: true,
      cell: (key) => (
        <span class="soft" title={scope_text(key)}>
          {scope_text(key)}
        </span>
      ),
    },
    {
      id: "state",
      title: "State",
      width: "96px",
      wide: everything,
      sort: (key) => key.state,
      cell: (key) => <State tone={tones[key.state]} text={key.state} />,
    },
    {
      id: "last_used_at",
      title: "Last used",
      width: "96px",
      align: "right",
      wide: !everything,
      sort: (key) => key.last_used_at,
      cell: (key) => <Time time={key.last_used_at} />,
    },
    {
      id: "expires_at",
      title: "Expires",
      width: "96px",
      align: "right",
      wide: everything,
      sort: (key) => key.expires_at,
      cell: (key) => <Time time={key.expires_at} />,
    },
    {
      id: "created_at",
      title: "Created",
      width: "110px",
      align: "right",
      extra: true,
      wide: true,
      sort: (key) => key.created_at,
      cell: (key) => <Time time={key.created_at} />,
    },
    { id: "id", title: "Id", width: "150px", extra: true, wide: true, cell: (key) => <Id id={key.id} /> },
    {
      id: "actions",
      title: "",
      width: "48px",
      align: "right",
      cell: (key) =>
        key.state === "active" && (
          <Menu
            label={`Actions for ${key.name}`}
            class="quiet icon-only"
            align="right"
            button={<Icon name="more" />}
            items={actions(key)}
          />
        ),
    },
  ];
}

const graces = [
  { value: "0", title: "immediately" },
  { value: "3600", title: "after 1 hour" },
  { value: "86400", title: "after 1 day" },
  { value: "604800", title: "after 7 days" },
];

function Rotate({
  api_key,
  on_close,
  on_done,
}: {
  api_key: Key;
  on_close: () => void;
  on_done: (key: CreatedKey) => void;
}) {
  const [grace, set_grace] = useState("3600");
  return (
    <Dialog title={`Rotate ${api_key.name}`} on_close={on_close}>
      <Form
        title="Rotate"
        busy_title="Rotating…"
        on_cancel={on_close}
        submit={async () => {
          const body = { grace_seconds: Number(grace) };
          on_done(await api.post<CreatedKey>(`/v1/keys/${segment(api_key.id)}/rotate`, body));
        }}
      >
        <p>
          Creates a new secret with the same permissions. Programs with the old secret stop working when it expires.
        </p>
        <Choice label="The old secret expires" value={grace} on_change={set_grace} options={graces} />
      </Form>
    </Dialog>
  );
}

type Open = { kind: "rotate" | "revoke"; keys: Key[] } | { kind: "secret"; created: CreatedKey } | null;

function command(): string {
  return `hone key create ci --url ${shell_quote(window.location.origin)}`;
}

export function Keys() {
  const all = query.value.get("revoked") === "1";
  const unused = query.value.get("unused") === "1";
  const everything = query.value.get("scope") === "installation";
  const where = everything ? { scope: "installation" } : { space: space.value?.id };
  const load_key = `keys/${everything ? "" : space.value?.id}/${all}/${unused}`;
  const load = use_load(load_key, (signal) =>
    api.list<Key>(
      "/v1/keys",
      { ...where, include_revoked: all || undefined, unused_days: unused ? unused_days : undefined },
      signal,
    ),
  );
  const [open, set_open] = useState<Open>(null);
  const open_dialog = () => set_query({ new: "1" });
  use_keys([{ keys: "c", title: "Create an API key", group: "This page", run: open_dialog }]);

  const close = () => set_open(null);
  const show_secret = (created: CreatedKey) => {
    set_open({ kind: "secret", created });
    void reload("keys/");
    void reload("projects/home/");
  };
  async function revoke(keys: Key[]): Promise<void> {
    for (const key of keys) await api.delete<Key>(`/v1/keys/${segment(key.id)}`);
    toast_done(keys.length === 1 ? `${keys[0]?.name} revoked` : `${keys.length} keys revoked`);
    await reload("keys/");
  }
  const actions = (key: Key): MenuItem[] => [
    { title: "Rotate…", icon: "rotate", run: () => set_open({ kind: "rotate", keys: [key] }) },
    { title: "Revoke…", icon: "stop", dangerous: true, run: () => set_open({ kind: "revoke", keys: [key] }) },
  ];
  const text = (query.value.get("q") ?? "").toLowerCase();
  const matches = (key: Key) =>
    `${key.name} ${key.prefix} ${key.kind} ${key.space_name} ${key.user_email}`.toLowerCase().includes(text);
  const to_revoke = open?.kind === "revoke" ? open.keys : [];
  return (
    <div class="page list-page">
      <PageHeader
        title="API keys"
        text={
          can("key_manage")
            ? "Personal keys act as their owner. Service keys have their own role."
            : "Your personal keys act as you. Ask an admin for service keys."
        }
      >
        <button type="button" class="primary" onClick={open_dialog}>
          <Icon name="plus" /> Create key
        </button>
      </PageHeader>
      <Data load={load} retry={() => void reload("keys/")}>
        {(keys) =>
          keys.length === 0 && !all && !unused && !everything ? (
            <Empty
              icon="key"
              title="No keys yet"
              text="Programs, exporters and the command line send a key with every request."
              command={command()}
            >
              <button type="button" class="primary" onClick={open_dialog}>
                Create an API key
              </button>
              <a href={with_query(current_address(), { revoked: "1" })}>Show revoked keys</a>
            </Empty>
          ) : (
            <Table
              label="API keys"
              rows={keys.filter(matches)}
              columns={columns(everything, actions)}
              row_id={(key) => key.id}
              row_title={(key) => key.name}
              order={unused || everything ? "last_used_at" : "name"}
              bar={
                <>
                  <SearchField label="Filter keys" />
                  <Check
                    label="Show revoked"
                    checked={all}
                    on_change={(checked) => set_query({ revoked: checked ? "1" : null })}
                  />
                  <Check
                    label={`Not used for ${unused_days} days`}
                    checked={unused}
                    on_change={(checked) => set_query({ unused: checked ? "1" : null })}
                  />
                  {can_install("user_manage") && (
                    <Check
                      label="Whole installation"
                      checked={everything}
                      on_change={(checked) => set_query({ scope: checked ? "installation" : null })}
                    />
                  )}
                </>
              }
              foot={
                keys.some(matches) ? null : (
                  <p class="table-note">
                    {everything ? "No key of the installation" : "No key of this space"} matches the filter.
                  </p>
                )
              }
              selection_actions={(chosen, clear) => (
                <button
                  type="button"
                  class="danger"
                  onClick={() => {
                    set_open({ kind: "revoke", keys: chosen.filter((key) => key.state === "active") });
                    clear();
                  }}
                >
                  Revoke
                </button>
              )}
            />
          )
        }
      </Data>
      {query.value.has("new") && (
        <CreateKey
          on_close={() => set_query({ new: null }, { replace: true })}
          on_done={(created) => {
            set_query({ new: null }, { replace: true });
            show_secret(created);
          }}
        />
      )}
      {open?.kind === "secret" && <KeySecret created={open.created} on_close={close} />}
      {open?.kind === "rotate" && open.keys[0] && (
        <Rotate api_key={open.keys[0]} on_close={close} on_done={show_secret} />
      )}
      {to_revoke.length > 0 && (
        <Confirm
          title={to_revoke.length === 1 ? `Revoke ${to_revoke[0]?.name}?` : `Revoke ${to_revoke.length} keys?`}
          consequence={`Every program that uses ${to_revoke.map((key) => key.name).join(", ")} loses access immediately. A revoked key cannot be restored.`}
          action="Revoke"
          run={() => revoke(to_revoke)}
          on_close={close}
        />
      )}
    </div>
  );
}
