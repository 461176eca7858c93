// The providers of single sign-on of this installation: OpenID Connect, with roles by groups.

import { useState } from "preact/hooks";
import { api, segment, to_api_error } from "../../api";
import type { GroupMapping, Provider, ProviderCheck, Role, ServerInfo } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { spaces } from "../../login";
import { Confirm } from "../../parts/confirm";
import { CodeBlock } from "../../parts/copy";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { toast_done, toast_failed } from "../../parts/toast";
import { query, set_query } from "../../router";

const route = (name: string, rest = "") => `/v1/identity_providers/${segment(name)}${rest}`;
const changed = () => reload("identity_providers");
const words = (text: string) => text.split(/[\s,]+/).filter((word) => word !== "");
const roles: Role[] = ["viewer", "annotator", "member", "admin", "owner"];
const space_name = (id: string) => spaces.value.find((space) => space.id === id)?.name ?? id;

const columns: Column<Provider>[] = [
  { id: "title", title: "Provider", sort: (row) => row.title, cell: (row) => <span class="strong">{row.title}</span> },
  { id: "issuer", title: "Issuer", wide: true, cell: (row) => <span class="soft">{row.issuer}</span> },
  {
    id: "mappings",
    title: "Groups",
    width: "140px",
    wide: true,
    cell: (row) => (row.mappings.length === 0 ? "no roles" : plural(row.mappings.length, "mapping")),
  },
  {
    id: "state",
    title: "State",
    width: "110px",
    cell: (row) => (row.enabled ? <State tone="done" text="enabled" /> : <State tone="off" text="disabled" />),
  },
];

function Mappings({ rows, on_change }: { rows: GroupMapping[]; on_change: (rows: GroupMapping[]) => void }) {
  const replace = (index: number, part: Partial<GroupMapping>) =>
    on_change(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <fieldset>
      <legend>Roles by group</legend>
      {rows.map((row, index) => (
        <div class="field-row" key={index}>
          <Field label="Group" value={row.group} on_input={(group) => replace(index, { group })} required />
          <Choice
            label="Space"
            value={row.space}
            on_change={(space) => replace(index, { space })}
            options={spaces.value.map((space) => ({ value: space.id, title: space.name }))}
          />
          <Choice
            label="Role"
            value={row.role}
            on_change={(role) => replace(index, { role: role as Role })}
            options={roles.map((role) => ({ value: role, title: role }))}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove the mapping of ${row.group}`}
            onClick={() => on_change(rows.filter((_, at) => at !== index))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        onClick={() => on_change([...rows, { group: "*", space: spaces.value[0]?.id ?? "", role: "viewer" }])}
      >
        Add mapping
      </button>
      <p class="hint">
        Group * stands for everyone. With mappings, an account in none of the groups cannot sign in. Groups are read at
        each login.
      </p>
    </fieldset>
  );
}

function ProviderForm({ provider, on_close }: { provider: Provider | null; on_close: () => void }) {
  const [draft, change] = use_draft(() => ({
    name: provider?.name ?? "",
    title: provider?.title ?? "",
    issuer: provider?.issuer ?? "",
    client_id: provider?.client_id ?? "",
    client_secret: "",
    scopes: (provider?.scopes ?? ["openid", "email", "profile"]).join(" "),
    domains: (provider?.allowed_domains ?? []).join(" "),
    groups_claim: provider?.groups_claim ?? "groups",
    mappings: provider?.mappings ?? [],
    link_by_email: provider?.link_by_email ?? false,
  }));
  const ready = draft.name !== "" && draft.issuer.trim() !== "" && draft.client_id.trim() !== "";
  async function save(): Promise<void> {
    const body = {
      title: draft.title.trim() === "" ? draft.name : draft.title.trim(),
      issuer: draft.issuer.trim(),
      client_id: draft.client_id.trim(),
      scopes: words(draft.scopes),
      allowed_domains: words(draft.domains),
      groups_claim: draft.groups_claim.trim(),
      mappings: draft.mappings,
      link_by_email: draft.link_by_email,
      ...(draft.client_secret === "" ? {} : { client_secret: draft.client_secret }),
    };
    const saved = provider
      ? await api.patch<Provider>(route(provider.name), body)
      : await api.post<Provider>("/v1/identity_providers", { ...body, name: draft.name });
    await changed();
    toast_done(`${saved.title} saved`);
    set_query({ new: null, edit: null, open: saved.name });
  }
  return (
    <Dialog title={provider ? `Edit ${provider.title}` : "Add a provider"} on_close={on_close} wide>
      <Form title={provider ? "Save" : "Add provider"} disabled={!ready} on_cancel={on_close} submit={save}>
        <div class="field-row">
          <Field
            label="Name"
            value={draft.name}
            on_input={(name) => change({ name })}
            placeholder="company"
            hint="Part of the redirect URI."
            disabled={provider !== null}
            required
            first
          />
          <Field
            label="Button text"
            value={draft.title}
            on_input={(title) => change({ title })}
            placeholder="Company"
          />
        </div>
        <Field
          label="Issuer"
          value={draft.issuer}
          on_input={(issuer) => change({ issuer })}
          placeholder="https://id.example.com"
          hint="Exactly as the provider's metadata states it, with or without a slash at the end."
          required
        />
        <div class="field-row">
          <Field label="Client id" value={draft.client_id} on_input={(client_id) => change({ client_id })} required />
          <Field
            label="Client secret"
            type="password"
            value={draft.client_secret}
            on_input={(client_secret) => change({ client_secret })}
            placeholder={provider?.has_client_secret ? "unchanged" : ""}
            hint="Stored encrypted and never shown again."
          />
        </div>
        <div class="field-row">
          <Field label="Scopes" value={draft.scopes} on_input={(scopes) => change({ scopes })} />
          <Field
            label="Email domains"
            value={draft.domains}
            on_input={(domains) => change({ domains })}
            placeholder="all"
            hint="Only verified addresses of these domains can sign in."
          />
        </div>
        <Field label="Groups claim" value={draft.groups_claim} on_input={(groups_claim) => change({ groups_claim })} />
        <Mappings rows={draft.mappings} on_change={(mappings) => change({ mappings })} />
        <Check
          label="Link accounts by email"
          checked={draft.link_by_email}
          on_change={(link_by_email) => change({ link_by_email })}
          hint="A first sign-in takes over the account with the same, verified address. Only for providers that verify addresses."
        />
      </Form>
    </Dialog>
  );
}

function CheckButton({ provider }: { provider: Provider }) {
  const [busy, set_busy] = useState(false);
  const [result, set_result] = useState<{ ok: boolean; text: string } | null>(null);
  async function check(): Promise<void> {
    set_busy(true);
    try {
      const found = await api.post<ProviderCheck>(route(provider.name, "/check"), {});
      set_result({ ok: found.ok, text: found.ok ? `Reachable, ${plural(found.keys, "key")}.` : found.problem });
    } catch (error) {
      set_result({ ok: false, text: to_api_error(error).message });
    } finally {
      set_busy(false);
    }
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void check()}>
        {busy ? "Checking…" : "Check"}
      </button>
      {result && (
        <div class="page-result" role="status">
          <Note kind={result.ok ? "done" : "failed"} icon={result.ok ? "check" : "warning"}>
            {result.text}
          </Note>
        </div>
      )}
    </>
  );
}

function Detail({ provider }: { provider: Provider }) {
  const [deleting, set_deleting] = useState(false);
  const turn = () =>
    void api
      .patch<Provider>(route(provider.name), { enabled: !provider.enabled })
      .then(async () => {
        await changed();
        toast_done(provider.enabled ? "Provider disabled" : "Provider enabled");
      })
      .catch((error) => toast_failed("Could not change the provider", error));
  return (
    <SlideOver title={provider.title} on_close={() => set_query({ open: null })}>
      {provider.redirect_uri === "" ? (
        <Note kind="warning" icon="warning">
          Set public_url, the address of this server: the provider sends people back to it.
        </Note>
      ) : (
        <>
          <p>Redirect URI to register at the provider</p>
          <CodeBlock text={provider.redirect_uri} label="redirect URI" />
        </>
      )}
      <Facts
        rows={[
          ["Issuer", provider.issuer],
          ["Client id", provider.client_id],
          ["Client secret", provider.has_client_secret ? "stored" : "none"],
          ["Scopes", provider.scopes.join(" ")],
          ["Email domains", provider.allowed_domains.length === 0 ? "all" : provider.allowed_domains.join(", ")],
          ["Groups claim", provider.groups_claim],
          [
            "Roles",
            provider.mappings.length === 0
              ? "none"
              : provider.mappings.map((row) => `${row.group}: ${row.role} in ${space_name(row.space)}`).join("; "),
          ],
          ["Link by email", provider.link_by_email ? "yes" : "no"],
          ["Back-channel logout URI", provider.logout_uri || "set public_url"],
          ["Created by", provider.created_by],
        ]}
      />
      <div class="page-actions">
        <CheckButton provider={provider} />
        <button type="button" onClick={() => set_query({ edit: "1" })}>
          Edit
        </button>
        <button type="button" onClick={turn}>
          {provider.enabled ? "Disable" : "Enable"}
        </button>
        <button type="button" class="danger" onClick={() => set_deleting(true)}>
          Delete
        </button>
      </div>
      {deleting && (
        <Confirm
          title={`Delete ${provider.title}?`}
          consequence="Signing in through it no longer works. Its identities are deleted; accounts and current logins stay."
          action="Delete provider"
          run={async () => {
            await api.delete(route(provider.name));
            set_query({ open: null });
            await changed();
            toast_done(`${provider.title} deleted`);
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </SlideOver>
  );
}

// Who can still log in with a password: settings of the server, shown where people look for them.
function PasswordLogins() {
  const load = use_load("server", (signal) => api.get<ServerInfo>("/v1/server", {}, signal));
  const value = (name: string) => load.data?.settings.find((setting) => setting.name === name)?.value;
  const accounts = value("password_logins");
  if (!accounts) return null;
  return (
    <Section
      title="Passwords"
      text="Settings of the server: password_logins, second_factor_required and sign_on_lifetime."
    >
      <Facts
        rows={[
          ["Password", accounts === "all" ? "all accounts that have one" : `only ${accounts}`],
          ["Second factor", value("second_factor_required") === "true" ? "required with a password" : "optional"],
          ["Single sign-on", `a login lasts ${value("sign_on_lifetime")}`],
        ]}
      />
    </Section>
  );
}

export function SignOn() {
  const load = use_load("identity_providers", (signal) => api.list<Provider>("/v1/identity_providers", {}, signal));
  const open = load.data?.find((row) => row.name === query.value.get("open"));
  const editing = query.value.get("edit") === "1" ? open : undefined;
  const close_form = () => set_query({ new: null, edit: null });
  return (
    <div class="beside">
      <div class="page list-page">
        <PageHeader title="Single sign-on" text="OpenID Connect providers that people sign in with.">
          <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
            <Icon name="plus" /> Add provider
          </button>
        </PageHeader>
        <div>
          <Data load={load} retry={() => void changed()}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty
                  icon="link"
                  title="No providers yet"
                  text="Add your company's OpenID Connect provider, so that people sign in with their own account and get roles by their groups."
                  command="hone provider create company --issuer URL --client-id ID --client-secret-file FILE"
                />
              ) : (
                <Table
                  label="Providers"
                  fit
                  rows={rows}
                  columns={columns}
                  row_id={(row) => row.name}
                  row_title={(row) => row.title}
                  open_id={query.value.get("open")}
                  on_open={(row) => set_query({ open: row.name })}
                  order="title"
                />
              )
            }
          </Data>
          <PasswordLogins />
        </div>
      </div>
      {open && <Detail provider={open} key={open.name} />}
      {(query.value.get("new") === "1" || editing) && <ProviderForm provider={editing ?? null} on_close={close_form} />}
    </div>
  );
}
