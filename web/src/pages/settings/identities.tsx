// The identities at providers of single sign-on that log in to the user's account.

import { api, segment } from "../../api";
import type { Identity, LoginOptions } from "../../api_types";
import { reload, use_load } from "../../load";
import { Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";

async function unlink(identity: Identity): Promise<void> {
  try {
    await api.delete("/v1/me/identities", { issuer: identity.issuer, subject: identity.subject });
    toast_done(`${identity.provider} unlinked`);
  } catch (error) {
    toast_failed("Could not unlink the identity", error);
  }
  await reload("identities");
}

const columns: Column<Identity>[] = [
  { id: "provider", title: "Provider", cell: (row) => <span title={row.issuer}>{row.provider}</span> },
  { id: "email", title: "Email", wide: true, cell: (row) => row.email },
  {
    id: "last_login_at",
    title: "Last login",
    width: "110px",
    align: "right",
    cell: (row) => <Time time={row.last_login_at} />,
  },
  {
    id: "actions",
    title: "",
    width: "88px",
    align: "right",
    cell: (row) => (
      <button type="button" class="quiet" aria-label={`Unlink ${row.provider}`} onClick={() => void unlink(row)}>
        Unlink
      </button>
    ),
  },
];

export function Identities() {
  const load = use_load("identities", (signal) => api.get<Identity[]>("/v1/me/identities", {}, signal));
  const options = use_load("login_options", (signal) => api.get<LoginOptions>("/v1/login_options", {}, signal));
  const providers = options.data?.providers ?? [];
  if (providers.length === 0 && (load.data ?? []).length === 0) return null;
  return (
    <Section title="Single sign-on" text="Identities at providers that log in to this account.">
      <Data load={load} retry={() => void reload("identities")}>
        {(identities) =>
          identities.length > 0 && (
            <Table
              label="Identities"
              fit
              rows={identities}
              columns={columns}
              row_id={(row) => `${row.issuer} ${row.subject}`}
              row_title={(row) => row.provider}
              order="provider"
            />
          )
        }
      </Data>
      <div class="page-actions">
        {providers.map((provider) => (
          <a class="button" key={provider.name} href={`/v1/me/sign_on/${segment(provider.name)}/start`} target="_self">
            Add {provider.title}
          </a>
        ))}
      </div>
    </Section>
  );
}
