// The installation: version, storage, and the current settings.

import { api } from "../../api";
import type { LicenseView, ServerInfo } from "../../api_types";
import { byte_size, exact_count } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can_install } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Facts } from "../../parts/slide_over";
import { Data, Note } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { query } from "../../router";
import { SpanBacklog, use_span_backlog } from "../traces/span_backlog";

function WaitingSpans() {
  const backlog = use_span_backlog();
  if (!backlog) return <span class="faint">–</span>;
  if (backlog.spans === 0) return <>none</>;
  return (
    <>
      {exact_count(backlog.spans)} ({byte_size(backlog.bytes)}), the oldest for {backlog.oldest_wait_seconds} s
    </>
  );
}

// What is known about upgrades without a request to another server: the versions that served here, and a program that was replaced
// on the disk while the old one runs.
function Upgrades({ server }: { server: ServerInfo }) {
  const [newest] = server.versions;
  return (
    <Section
      title="Versions"
      text="Hone does not search for newer versions: they are announced where your packages come from. The command “hone version” compares the command line with this server."
    >
      {server.program_replaced && (
        <Note icon="warning">
          The program on the disk is another one than the one that runs: restart the server to complete the upgrade.
        </Note>
      )}
      {newest ? (
        <Facts
          rows={server.versions.map((change) => [
            change.version,
            <span key={change.since}>
              since <Time time={change.since} />
              {change.previous && `, after ${change.previous}`}
            </span>,
          ])}
        />
      ) : (
        <Note icon="lock">Only owners of the installation can see which versions served before.</Note>
      )}
    </Section>
  );
}

type SettingInfo = ServerInfo["settings"][number];

const columns: Column<SettingInfo>[] = [
  {
    id: "name",
    title: "Setting",
    width: "210px",
    sort: (setting) => setting.name,
    cell: (setting) => <code title={setting.name}>{setting.name}</code>,
  },
  {
    id: "value",
    title: "Value",
    width: "16%",
    cell: (setting) => <code title={setting.value}>{setting.value === "" ? "–" : setting.value}</code>,
  },
  {
    id: "source",
    title: "Set by",
    width: "104px",
    sort: (setting) => setting.source,
    cell: (setting) =>
      setting.source === "default" ? <span class="faint">default</span> : <span class="tag">{setting.source}</span>,
  },
  {
    id: "doc",
    title: "Description",
    wide: true,
    cell: (setting) => (
      <span class="soft" title={setting.doc}>
        {setting.doc}
      </span>
    ),
  },
];

function Licenses() {
  const load = use_load("licenses", (signal) => api.get<LicenseView[]>("/v1/licenses", {}, signal));
  return (
    <Section title="Licenses" text="Libraries that are part of Hone.">
      <Data load={load} retry={() => void reload("licenses")}>
        {(rows) => <Facts rows={rows.map((row) => [row.name, `${row.license}; ${row.purpose}`])} />}
      </Data>
    </Section>
  );
}

export function Server() {
  const load = use_load("server", (signal) => api.get<ServerInfo>("/v1/server", {}, signal));
  const text = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page">
      <PageHeader title="Server" text="This installation of Hone.">
        {can_install("backup_create") && (
          <a class="button" download href="/v1/backup">
            <Icon name="download" /> Download backup
          </a>
        )}
      </PageHeader>
      <SpanBacklog />
      <Data load={load} retry={() => void reload("server")}>
        {(server) => (
          <>
            <Facts
              rows={[
                ["Version", <code key="version">{server.version}</code>],
                ["Running since", <Time key="started" time={server.started_at} />],
                ["Database", `${server.database}, schema ${server.schema_version}`],
                [
                  "Data directory",
                  <span key="bytes" title={`${exact_count(server.data_dir_bytes)} bytes`}>
                    {byte_size(server.data_dir_bytes)}
                  </span>,
                ],
                ["Pending spans", <WaitingSpans key="waiting" />],
                [
                  "API",
                  <a key="api" href="/openapi.json" target="_blank" rel="noreferrer">
                    openapi.json
                  </a>,
                ],
              ]}
            />
            <Upgrades server={server} />
            <Section
              title="Settings"
              text="The current values. Set them by flag, environment variable (HONE_…) or hone.toml; a change needs a restart."
            >
              {server.settings.length === 0 ? (
                <Note icon="lock">Only owners of the installation can see the settings.</Note>
              ) : (
                <Table
                  label="Settings"
                  fit
                  rows={server.settings.filter((setting) =>
                    `${setting.name} ${setting.doc}`.toLowerCase().includes(text),
                  )}
                  columns={columns}
                  row_id={(setting) => setting.name}
                  row_title={(setting) => setting.name}
                  order="name"
                  bar={<SearchField label="Filter settings" />}
                />
              )}
            </Section>
            <Licenses />
          </>
        )}
      </Data>
    </div>
  );
}
