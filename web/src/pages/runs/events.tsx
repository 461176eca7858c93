// All events of a run with the time since it was created.

import type { RunEvent } from "../../api_types";
import { duration } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";

const first_line = (text: string) => text.split("\n", 1)[0]?.slice(0, 300) ?? "";

function what(event: RunEvent): string {
  if (event.usage)
    return `${event.usage.input + event.usage.cache_read} input tokens, ${event.usage.output} output tokens`;
  return first_line(event.kind === "tool_call" ? (event.input ?? "") : event.text);
}

const columns = (began: number): Column<RunEvent>[] => [
  { id: "seq", title: "Number", width: "80px", align: "right", sort: (event) => event.seq, cell: (event) => event.seq },
  {
    id: "kind",
    title: "Kind",
    width: "190px",
    sort: (event) => event.kind,
    cell: (event) => (
      <>
        {event.kind.replaceAll("_", " ")} <span class="faint">{event.step ?? event.tool ?? ""}</span>
      </>
    ),
  },
  { id: "what", title: "Details", cell: (event) => <Visible text={what(event)} /> },
  {
    id: "since",
    title: "Elapsed",
    width: "90px",
    align: "right",
    cell: (event) => duration(Math.max(0, to_milliseconds(event.time) - began)),
  },
  {
    id: "time",
    title: "When",
    width: "110px",
    align: "right",
    wide: true,
    cell: (event) => <Time time={event.time} />,
  },
];

export function EventList({ events, began }: { events: RunEvent[]; began: string }) {
  if (events.length === 0)
    return <Empty icon="clock" title="No events yet" text="The first event appears when the run is prepared." />;
  return (
    <Table
      label="Events"
      rows={events}
      columns={columns(to_milliseconds(began))}
      row_id={(event) => String(event.seq)}
      row_title={(event) => `Event ${event.seq}`}
      order="seq"
    />
  );
}
