// Queues of the space: what people label, and how far they are.

import type { Queue } from "../../api_types";
import { plural } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import { navigate, query, set_query } from "../../router";
import { queue_page } from "../addresses";
import { done_share, list_queues } from "./data";
import { QueueForm } from "./queue_form";

const columns: Column<Queue>[] = [
  {
    id: "name",
    title: "Queue",
    width: "32%",
    sort: (queue) => queue.name,
    cell: (queue) => (
      <a class="cell-link" href={queue_page(queue.id)}>
        <Visible text={queue.name} />
      </a>
    ),
  },
  {
    id: "progress",
    title: "Progress",
    width: "22%",
    wide: true,
    sort: done_share,
    cell: (queue) => (
      <span class="queue-progress">
        <progress value={done_share(queue)} aria-label={`Progress of ${queue.name}`} />{" "}
        <span class="soft">{Math.round(done_share(queue) * 100)} %</span>
      </span>
    ),
  },
  {
    id: "pending",
    title: "Pending",
    width: "88px",
    align: "right",
    sort: (queue) => queue.pending,
    cell: (q) => q.pending,
  },
  {
    id: "done",
    title: "Done",
    width: "80px",
    align: "right",
    sort: (queue) => queue.done,
    cell: (q) => q.done,
  },
  {
    id: "reviewers",
    title: "Reviewers",
    width: "96px",
    align: "right",
    cell: (queue) => queue.reviewers_per_item,
  },
  {
    id: "fill",
    title: "Fills itself",
    width: "104px",
    wide: true,
    cell: (queue) =>
      queue.fill_problem !== "" ? (
        <State tone="failed" text="problem" />
      ) : queue.fill_enabled ? (
        <State tone="done" text="on" />
      ) : (
        <span class="faint">off</span>
      ),
  },
  {
    id: "updated_at",
    title: "Changed",
    wide: true,
    width: "104px",
    align: "right",
    sort: (queue) => queue.updated_at,
    cell: (queue) => <Time time={queue.updated_at} />,
  },
];

export function Queues() {
  const load = use_load(`queues/${space.value?.id}`, list_queues);
  const creating = query.value.get("new") !== null && can("queue_manage");
  return (
    <div class="page list-page">
      <PageHeader
        title="Queues"
        text="Traces that people label, one after the other. Labels become human evals, and calibrate evaluators."
      >
        {can("queue_manage") && (
          <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
            <Icon name="plus" /> Create queue
          </button>
        )}
      </PageHeader>
      <Data load={load} retry={() => void reload("queues/")}>
        {(queues) =>
          queues.length === 0 ? (
            <Empty
              icon="tag"
              title="No queues yet"
              text="A queue collects spans, traces or chat sessions of a project, by hand or by a filter, for people to label."
              command="hone queue create tickets --project shop --config correct"
            />
          ) : (
            <Table
              label="Queues"
              rows={queues}
              columns={columns}
              row_id={(queue) => queue.id}
              row_title={(queue) => queue.name}
              order="-updated_at"
              on_open={(queue) => navigate(queue_page(queue.id))}
              foot={<p class="table-end">{plural(queues.length, "queue")}</p>}
            />
          )
        }
      </Data>
      {creating && <QueueForm queue={null} on_close={() => set_query({ new: null })} />}
    </div>
  );
}
