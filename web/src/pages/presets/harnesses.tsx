// Harnesses: the agents that this server can run, their versions, and how to install the others.

import { api } from "../../api";
import type { HarnessView } from "../../api_types";
import { reload, use_load } from "../../load";
import { can_install, space } from "../../login";
import { CodeBlock } from "../../parts/copy";
import { PageHeader, Section } from "../../parts/page";
import { Data, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { run_page } from "../addresses";
import { Installation, InstallButton, use_installations } from "./install";
import { harness_command, use_data_directory } from "./install_command";

function features_of(harness: HarnessView): string {
  const abilities = [
    harness.live_follow_up ? "follow-ups during a turn" : "follow-ups after a turn",
    harness.resumes ? "resumes in a new sandbox" : "",
  ];
  return abilities.filter((text) => text !== "").join(", ");
}

const fixed_columns: Column<HarnessView>[] = [
  {
    id: "title",
    title: "Harness",
    width: "25%",
    sort: (harness) => harness.title,
    cell: (harness) => (
      <>
        <span class="strong">{harness.title}</span> <code>{harness.name}</code>
      </>
    ),
  },
  {
    id: "ready",
    title: "Status",
    width: "124px",
    sort: (harness) => Number(harness.ready),
    cell: (harness) =>
      harness.ready ? (
        <State tone="done" text={harness.version ?? "ready"} />
      ) : (
        <State tone="off" text="not installed" />
      ),
  },
  {
    id: "newest",
    title: "Newest",
    width: "96px",
    wide: true,
    sort: (harness) => harness.newest?.version ?? "",
    cell: (harness) =>
      harness.newest === null ? (
        <span class="faint">{harness.version === null ? "–" : "not checked"}</span>
      ) : (
        <span title={`checked ${harness.newest.checked_at}`}>
          {harness.newest.version === harness.version ? (
            "up to date"
          ) : (
            <State tone="limit" text={harness.newest.version} />
          )}
        </span>
      ),
  },
  {
    id: "last_run",
    title: "Last run",
    width: "196px",
    wide: true,
    cell: (harness) =>
      harness.last_run === null ? (
        <span class="faint">none</span>
      ) : (
        <a href={run_page(harness.last_run.id)} title={harness.last_run.reason || undefined}>
          <State tone={harness.last_run.state === "succeeded" ? "done" : "failed"} text={harness.last_run.state} />{" "}
          <Time time={harness.last_run.ended_at} />
        </a>
      ),
  },
  {
    id: "protocols",
    title: "Model",
    width: "140px",
    wide: true,
    cell: (harness) => (harness.protocols.length > 0 ? harness.protocols.join(", ") : "no model needed"),
  },
  {
    id: "abilities",
    title: "Features",
    wide: true,
    cell: (harness) => <span class="cell-lines">{features_of(harness)}</span>,
  },
];

/** The agent is an npm package. */
const is_package = (harness: HarnessView) => harness.version !== null || harness.advice !== null;

const action_column: Column<HarnessView> = {
  id: "action",
  title: "",
  width: "84px",
  align: "right",
  cell: (harness) => is_package(harness) && <InstallButton harness={harness} />,
};

/** What users without the right to install can pass on to an owner, and what a server without a network needs. */
function Commands({ harnesses }: { harnesses: HarnessView[] }) {
  const directory = use_data_directory();
  const absent = harnesses.filter((harness) => !harness.ready && is_package(harness));
  const lines = [
    ...absent.map((harness) => harness_command("install", harness.name, directory)),
    harness_command("upgrade", "--check", directory),
  ];
  return (
    <Section
      title="On the command line"
      text="On the server, with its data directory. Without a network, add “--from FOLDER” with a folder of npm tarballs. A new version is installed beside the others: sessions that run keep theirs, and a preset can pin one."
    >
      <CodeBlock label="Install commands" text={lines.join("\n")} />
    </Section>
  );
}

export function Harnesses() {
  const load = use_load(`harnesses/${space.value?.id}`, (signal) =>
    api.get<HarnessView[]>("/v1/harnesses", { space: space.value?.id }, signal),
  );
  const installations = use_installations();
  const columns = can_install("user_manage") ? [...fixed_columns, action_column] : fixed_columns;
  return (
    <div class="page">
      <PageHeader
        title="Harnesses"
        text="The agents that can run in a sandbox of this server. An owner of the installation installs them once, from npm; code of the packages runs only in sandboxes."
      />
      <Data load={load} retry={() => void reload("harnesses")}>
        {(harnesses) => (
          <>
            <Table
              label="Harnesses"
              rows={harnesses}
              columns={columns}
              row_id={(harness) => harness.name}
              row_title={(harness) => harness.title}
              fit
            />
            {installations.length > 0 && (
              <Section title="Installations">
                {installations.map((one) => (
                  <Installation
                    key={one.harness}
                    installation={one}
                    title={harnesses.find((harness) => harness.name === one.harness)?.title ?? one.harness}
                  />
                ))}
              </Section>
            )}
            <Commands harnesses={harnesses} />
          </>
        )}
      </Data>
    </div>
  );
}
