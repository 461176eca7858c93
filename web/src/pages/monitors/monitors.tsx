// The monitors of a project, triggered ones first: condition and last value of each.

import type { Monitor } from "../../api_types";
import type { Params } from "../../lib/route";
import { metric_info } from "../../lib/sentences/metric";
import { monitor_text } from "../../lib/sentences/monitor";
import { reload } from "../../load";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate, query } from "../../router";
import { monitor_page } from "../addresses";
import { use_project } from "../projects/data";
import { reading_text, state_tones, state_words, use_monitors } from "./data";

export function MonitorState({ monitor }: { monitor: Monitor }) {
  if (!monitor.enabled) return <State tone="off" text="off" />;
  return <State tone={state_tones[monitor.state]} text={state_words[monitor.state]} />;
}

/** Triggered ones first, then those without data. */
const urgency = (monitor: Monitor) => (!monitor.enabled ? 3 : { triggered: 0, no_data: 1, healthy: 2 }[monitor.state]);

const columns = (project: string): Column<Monitor>[] => [
  {
    id: "state",
    title: "State",
    width: "112px",
    sort: (row) => `${urgency(row)} ${row.name}`,
    cell: (row) => <MonitorState monitor={row} />,
  },
  {
    id: "name",
    title: "Monitor",
    width: "14%",
    sort: (row) => row.name,
    cell: (row) => (
      <a class="cell-link" href={monitor_page(project, row.id)}>
        {row.name}
        {row.muted && <span class="tag">muted</span>}
      </a>
    ),
  },
  {
    id: "watches",
    title: "Triggers when",
    wide: true,
    cell: (row) => (
      <span class="soft" title={monitor_text(row.settings)}>
        {monitor_text(row.settings)}
      </span>
    ),
  },
  {
    id: "value",
    title: "Now",
    width: "84px",
    align: "right",
    cell: (row) => <b title={row.last_reading?.note || undefined}>{reading_text(row)}</b>,
  },
  {
    id: "since",
    title: "Since",
    width: "96px",
    align: "right",
    wide: true,
    sort: (row) => row.state_since,
    cell: (row) => <Time time={row.state_since} />,
  },
  {
    id: "muted",
    title: "Notices",
    width: "80px",
    wide: true,
    extra: true,
    cell: (row) => (row.muted ? <State tone="off" text="muted" /> : <span class="faint">on</span>),
  },
  {
    id: "next",
    title: "Next",
    width: "96px",
    align: "right",
    wide: true,
    cell: (row) => <Time time={row.next_at} missing="–" />,
  },
];

export function Monitors({ params }: { params: Params }) {
  const project = use_project(params);
  const load = use_monitors(project.data);
  const name = params.project ?? "";
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = (row: Monitor) =>
    `${row.name} ${row.description} ${metric_info(row.settings.metric).title}`.toLowerCase().includes(text);
  return (
    <div class="page list-page">
      <PageHeader title="Monitors" text="Watch metrics. A triggered monitor sends notices and can start automations.">
        {can("monitor_write") && (
          <a class="button primary" href={monitor_page(name, "new")}>
            <Icon name="plus" /> Create monitor
          </a>
        )}
      </PageHeader>
      <Data load={project} retry={() => void reload("project/")}>
        {() => (
          <Data load={load} retry={() => void reload("monitors/")}>
            {(rows) =>
              rows.length === 0 ? (
                <Empty
                  icon="gauge"
                  title="No monitors yet"
                  text="A monitor evaluates a metric over a window, such as the error rate of the last 24 hours. It triggers when the value crosses a limit, is unusual, or changes compared to the previous window."
                  command="hone monitor create --help"
                />
              ) : (
                <Table
                  label="Monitors"
                  rows={rows.filter(fits)}
                  columns={columns(name)}
                  row_id={(row) => row.id}
                  row_title={(row) => row.name}
                  order="state"
                  on_open={(row) => navigate(monitor_page(name, row.id))}
                  bar={<SearchField label="Filter monitors" />}
                />
              )
            }
          </Data>
        )}
      </Data>
    </div>
  );
}
