// Harnesses: which agents this server can run, in which version, and what to do about the others.

import { api } from "../../api";
import type { HarnessView } from "../../api_types";
import { reload, use_load } from "../../load";
import { CodeBlock } from "../../parts/copy";
import { PageHeader, Section } from "../../parts/page";
import { Data, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";

function what_it_can(harness: HarnessView): string {
  const abilities = [
    harness.live_follow_up ? "hears you while it works" : "one task per process",
    harness.resumes ? "goes on in a new sandbox" : "starts anew in a new sandbox",
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
    title: "Here",
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
    cell: (harness) => (harness.protocols.length > 0 ? harness.protocols.join(", ") : "needs none"),
  },
  { id: "abilities", title: "In a session", wide: true, cell: what_it_can },
];

export function Harnesses() {
  const load = use_load("harnesses", (signal) => api.get<HarnessView[]>("/v1/harnesses", {}, signal));
  return (
    <div class="page">
      <PageHeader
        title="Harnesses"
        text="The agents that can work in a sandbox of this server. They are installed once, by whoever runs the server."
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
                  title="Install the others"
                  text="On the server's machine, with its data directory; from npm, or without a network from tarballs (the option “--from”)."
                >
                  <CodeBlock
                    label="Install the others"
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
