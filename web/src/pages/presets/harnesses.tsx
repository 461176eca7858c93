// Harnesses: the agents that this server can run, their versions, and how to install the others.

import { api } from "../../api";
import type { HarnessView } from "../../api_types";
import { reload, use_load } from "../../load";
import { CodeBlock } from "../../parts/copy";
import { PageHeader, Section } from "../../parts/page";
import { Data, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";

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
    id: "protocols",
    title: "Model",
    width: "150px",
    wide: true,
    cell: (harness) => (harness.protocols.length > 0 ? harness.protocols.join(", ") : "no model needed"),
  },
  { id: "abilities", title: "Features", wide: true, cell: features_of },
];

export function Harnesses() {
  const load = use_load("harnesses", (signal) => api.get<HarnessView[]>("/v1/harnesses", {}, signal));
  return (
    <div class="page">
      <PageHeader
        title="Harnesses"
        text="The agents that can run in a sandbox of this server. The operator of the server installs them once."
      />
      <Data load={load} retry={() => void reload("harnesses")}>
        {(harnesses) => {
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
