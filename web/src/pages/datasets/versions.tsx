// The versions of a dataset, what changed between two of them, and restoring an old one.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { DatasetVersionView, ExampleDifference } from "../../api_types";
import { exact_count, plural } from "../../lib/format/number";
import { reload, use_pages } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { Section } from "../../parts/page";
import { Data, Empty, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { dataset_page } from "../addresses";
import { dataset_route, datasets_changed, plain_id } from "./data";
import type { DatasetParts } from "./dataset";
import { TextDiff } from "./text_diff";

const sources: Record<string, string> = {
  upload: "client",
  import: "file",
  spans: "spans",
  ui: "page",
  restore: "restored",
};

function change_text(version: DatasetVersionView): string {
  const parts = [
    version.created > 0 && `+${exact_count(version.created)}`,
    version.patched > 0 && `${exact_count(version.patched)} changed`,
    version.deleted > 0 && `−${exact_count(version.deleted)}`,
  ].filter((part) => part !== false);
  return parts.join(", ") || "–";
}

function columns_of(act: (version: DatasetVersionView) => preact.ComponentChildren): Column<DatasetVersionView>[] {
  return [
    {
      id: "number",
      title: "Version",
      width: "80px",
      cell: (version) => (
        <a class="cell-link" href={`?version=${version.number}`}>
          {version.number}
        </a>
      ),
    },
    { id: "changes", title: "Examples", cell: change_text },
    {
      id: "count",
      title: "Total",
      width: "90px",
      align: "right",
      cell: (version) => exact_count(version.example_count),
    },
    {
      id: "source",
      title: "From",
      width: "96px",
      wide: true,
      cell: (version) => sources[version.source] ?? version.source,
    },
    {
      id: "by",
      title: "By",
      width: "180px",
      wide: true,
      cell: (version) => <span class="soft">{version.created_by}</span>,
    },
    {
      id: "created_at",
      title: "When",
      width: "96px",
      align: "right",
      cell: (version) => <Time time={version.created_at} />,
    },
    { id: "more", title: "", width: "44px", cell: act },
  ];
}

const change_tones: Record<string, Tone> = { added: "done", removed: "failed", changed: "running" };
const printed = (value: unknown) => (value === null || value === undefined ? "" : JSON.stringify(value, null, 2));

function Difference({ parts, from, to }: { parts: DatasetParts; from: number; to: number }) {
  const key = `dataset_diff/${parts.dataset.id}/${from}/${to}`;
  const load = use_pages<ExampleDifference>(key, (cursor, signal) =>
    api.page<ExampleDifference>(dataset_route(parts.dataset.id, "diff"), { from, to, cursor, limit: 50 }, signal),
  );
  return (
    <Section title={`From version ${from} to ${to}`}>
      <Data load={load} retry={() => void reload(key)}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">Both versions have the same examples.</p>
          ) : (
            <>
              <ul class="differences">
                {rows.map((row) => (
                  <li key={row.id}>
                    <p class="difference-head">
                      <State tone={change_tones[row.change] ?? "off"} text={row.change} />
                      <code>{row.external_id ?? row.id}</code>
                    </p>
                    <TextDiff before={printed(row.before)} after={printed(row.after)} />
                  </li>
                ))}
              </ul>
              {load.more && (
                <button type="button" onClick={load.more}>
                  Load more
                </button>
              )}
            </>
          )
        }
      </Data>
    </Section>
  );
}

export function Versions({ parts }: { parts: DatasetParts }) {
  const { dataset, versions } = parts;
  const [restoring, set_restoring] = useState<DatasetVersionView | null>(null);
  const from = Number(query.value.get("from") ?? Number.NaN);
  const to = Number(query.value.get("to") ?? Number.NaN);
  const columns = columns_of((version) => (
    <Menu
      label={`Actions of version ${version.number}`}
      class="quiet icon-only"
      align="right"
      button={<Icon name="more" />}
      items={[
        {
          title: "Show its examples",
          icon: "dataset",
          run: () => navigate(`${dataset_page(plain_id(dataset.id))}?version=${version.number}`),
        },
        ...(version.number > 1
          ? [
              {
                title: "Changes since the one before",
                icon: "compare" as const,
                run: () => set_query({ from: String(version.number - 1), to: String(version.number) }),
              },
            ]
          : []),
        ...(version.number < dataset.version
          ? [
              {
                title: "Changes until the newest",
                icon: "compare" as const,
                run: () => set_query({ from: String(version.number), to: String(dataset.version) }),
              },
            ]
          : []),
        ...(version.number < dataset.version && can("dataset_write")
          ? [{ title: "Restore…", icon: "history" as const, divided: true, run: () => set_restoring(version) }]
          : []),
      ]}
    />
  ));
  return (
    <div class="scroll-area">
      {versions.length === 0 ? (
        <Empty icon="history" title="No versions yet" text="The first import makes version 1." />
      ) : (
        <Table
          label="Versions"
          fit
          secondary
          rows={versions}
          columns={columns}
          row_id={(version) => String(version.number)}
          row_title={(version) => `version ${version.number}`}
          on_open={(version) =>
            version.number > 1 && set_query({ from: String(version.number - 1), to: String(version.number) })
          }
          open_id={Number.isFinite(to) ? String(to) : null}
        />
      )}
      {Number.isFinite(from) && Number.isFinite(to) && <Difference parts={parts} from={from} to={to} />}
      {restoring && (
        <Confirm
          title={`Restore version ${restoring.number}?`}
          consequence={`A new version is made with its ${plural(restoring.example_count, "example")}. Versions ${restoring.number + 1} to ${dataset.version} stay in the list.`}
          action="Restore"
          run={async () => {
            await api.post(dataset_route(dataset.id, "restore"), { version_id: String(restoring.number) });
            await datasets_changed();
            toast_done(`Version ${restoring.number} restored`);
          }}
          on_close={() => set_restoring(null)}
        />
      )}
    </div>
  );
}
