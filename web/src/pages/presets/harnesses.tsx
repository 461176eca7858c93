// Harnesses: the agents that this server can run, their versions, and how to install the others.

import { api } from "../../api";
import type { HarnessView } from "../../api_types";
import { reload, use_load } from "../../load";
import { space } from "../../login";
import { CodeBlock } from "../../parts/copy";
import { PageHeader, Section } from "../../parts/page";
import { Data, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { run_page } from "../addresses";

function features_of(harness: HarnessView): string {
  const abilities = [
    harness.live_follow_up ? "accepts follow-ups during a turn" : "accepts follow-ups after a turn",
    harness.resumes ? "resumes in a new sandbox" : "starts from the beginning in a new sandbox",
  ];
  return abilities.join(", ");
}

const columns: Column<HarnessView>[] = [
  {
    id: "title",
    title: "Harness",
    width: "210px",
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
    width: "140px",
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
    title: "Newest known",
    width: "150px",
    sort: (harness) => harness.newest?.version ?? "",
    cell: (harness) =>
      harness.newest === null ? (
        <span class="faint">{harness.version === null ? "" : "not checked"}</span>
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
    width: "170px",
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
    width: "150px",
    wide: true,
    cell: (harness) => (harness.protocols.length > 0 ? harness.protocols.join(", ") : "no model needed"),
  },
  { id: "abilities", title: "Features", wide: true, cell: features_of },
];

export function Harnesses() {
  const load = use_load(`harnesses/${space.value?.id}`, (signal) =>
    api.get<HarnessView[]>("/v1/harnesses", { space: space.value?.id }, signal),
  );
  return (
    <div class="page">
      <PageHeader
        title="Harnesses"
        text="The agents that can run in a sandbox of this server. The operator of the server installs them once."
      />
      <Data load={load} retry={() => void reload("harnesses")}>
        {(harnesses) => {
          const old = harnesses.filter(
            (one) => one.newest !== null && one.version && one.newest.version !== one.version,
          );
          const absent = harnesses.filter((harness) => !harness.ready && harness.advice);
          return (
            <>
              <Table
                label="Harnesses"
                rows={harnesses}
                columns={columns}
                row_id={(harness) => harness.name}
                row_title={(harness) => harness.title}
                fit
              />
              <Section
                title="Upgrade"
                text="Run this on the server with its data directory; --check only lists newer versions. Sessions that run keep their version, and a preset can pin one."
              >
                <CodeBlock
                  label="Upgrade commands"
                  text={
                    old.length > 0
                      ? old.map((harness) => `hone harness upgrade ${harness.name} --data-dir DIR`).join("\n")
                      : "hone harness upgrade --check --data-dir DIR"
                  }
                />
              </Section>
              {absent.length > 0 && (
                <Section
                  title="Install more harnesses"
                  text="Run these commands on the server with its data directory. They install from npm, or offline from tarballs with --from."
                >
                  <CodeBlock
                    label="Install commands"
                    text={absent.map((harness) => `hone harness install ${harness.name} --data-dir DIR`).join("\n")}
                  />
                </Section>
              )}
            </>
          );
        }}
      </Data>
    </div>
  );
}
