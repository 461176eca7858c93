// One queue: label its items, see them all, and how much people agree.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Queue, QueueAgreement, QueueItem } from "../../api_types";
import { duration, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader, Section } from "../../parts/page";
import { Data, Empty, Note, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { navigate } from "../../router";
import { queues_page, trace_page } from "../addresses";
import { done_share, queue_route, queues_changed } from "./data";
import { FillButton, LabelItems } from "./label";
import { QueueForm } from "./queue_form";

const tabs = [
  { id: "label", title: "Label" },
  { id: "items", title: "Items" },
  { id: "agreement", title: "Agreement" },
];

const tones: Record<string, Tone> = { pending: "waiting", done: "done", skipped: "off" };

function columns(queue: Queue): Column<QueueItem>[] {
  return [
    {
      id: "target",
      title: "Target",
      width: "36%",
      cell: (item) =>
        item.trace_id === "" ? (
          <Visible text={item.target_id} />
        ) : (
          <a class="cell-link" href={trace_page(queue.project_id, item.trace_id)}>
            <code>{item.target_id.slice(0, 16)}</code>
          </a>
        ),
    },
    {
      id: "state",
      title: "State",
      width: "120px",
      cell: (item) => <State tone={tones[item.state] ?? "off"} text={item.state} />,
    },
    {
      id: "labelled_by",
      title: "Labelled by",
      width: "120px",
      align: "right",
      cell: (item) => `${item.labelled_by} of ${queue.reviewers_per_item}`,
    },
    {
      id: "mine",
      title: "By you",
      width: "110px",
      wide: true,
      cell: (item) => item.my_state || <span class="faint">no</span>,
    },
    { id: "added_by", title: "Added by", wide: true, cell: (item) => <span class="soft">{item.added_by}</span> },
    {
      id: "created_at",
      title: "Added",
      width: "104px",
      align: "right",
      cell: (item) => <Time time={item.created_at} />,
    },
  ];
}

function Items({ queue }: { queue: Queue }) {
  const key = `queue_items/${queue.id}`;
  const load = use_load(key, (signal) => api.list<QueueItem>(queue_route(queue.id, "items"), {}, signal));
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(items) =>
        items.length === 0 ? (
          <Empty
            icon="tag"
            title="No items yet"
            text="Add traces by their ids, or what matches the filter of the queue."
            command={`hone queue fill ${queue.id}`}
          >
            {can("queue_manage") && <FillButton queue={queue} done={queues_changed} />}
          </Empty>
        ) : (
          <Table
            label="Items"
            rows={items}
            columns={columns(queue)}
            row_id={(item) => item.id}
            row_title={(item) => item.target_id}
            foot={<p class="table-end">{plural(items.length, "item")}</p>}
          />
        )
      }
    </Data>
  );
}

function Agreement({ queue }: { queue: Queue }) {
  const key = `queue_agreement/${queue.id}`;
  const load = use_load(key, (signal) => api.get<QueueAgreement>(queue_route(queue.id, "agreement"), {}, signal));
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(found) => (
        <>
          <Section title="Agreement" text="Krippendorff's alpha: 1 is full agreement, 0 is chance.">
            {found.configs.length === 0 && <p class="soft">Texts have no agreement.</p>}
            <ul class="plain-list">
              {found.configs.map((one) => (
                <li key={one.name}>
                  <b>
                    <Visible text={one.name} />
                  </b>{" "}
                  {one.alpha === null ? (
                    <span class="soft">no item was labelled by two people</span>
                  ) : (
                    <>
                      α = {one.alpha.toFixed(3)}{" "}
                      <span class="soft">
                        {plural(one.items, "item")}, {plural(one.labels, "label")}
                      </span>
                    </>
                  )}
                </li>
              ))}
            </ul>
          </Section>
          <Section title="People">
            {found.people.length === 0 ? (
              <p class="soft">Nothing was labelled yet.</p>
            ) : (
              <table class="checks">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Labelled</th>
                    <th scope="col">Skipped</th>
                    <th scope="col">Time per item</th>
                  </tr>
                </thead>
                <tbody>
                  {found.people.map((one) => (
                    <tr key={one.user_id}>
                      <td>
                        <Visible text={one.name} />
                      </td>
                      <td>{one.done}</td>
                      <td>{one.skipped}</td>
                      <td>{one.done === 0 ? "–" : duration(one.ms_spent / one.done)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Section>
        </>
      )}
    </Data>
  );
}

function Actions({ queue }: { queue: Queue }) {
  const [dialog, set_dialog] = useState<"edit" | "delete" | null>(null);
  if (!can("queue_manage")) return null;
  return (
    <>
      <Menu
        label={`Actions of ${queue.name}`}
        class="icon-only"
        align="right"
        button={<Icon name="more" />}
        items={[
          { title: "Edit…", icon: "settings", run: () => set_dialog("edit") },
          { title: "Delete…", icon: "trash", dangerous: true, divided: true, run: () => set_dialog("delete") },
        ]}
      />
      {dialog === "edit" && <QueueForm queue={queue} on_close={() => set_dialog(null)} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${queue.name}?`}
          consequence="Its items and who labelled them are deleted. The evals are kept."
          action="Delete queue"
          typed_name={queue.name}
          run={async () => {
            await api.delete(queue_route(queue.id));
            await queues_changed();
            toast_done(`${queue.name} deleted`);
            navigate(queues_page());
          }}
          on_close={() => set_dialog(null)}
        />
      )}
    </>
  );
}

export function QueuePage({ params }: { params: Params }) {
  const id = params.queue ?? "";
  const key = `queue/${space.value?.id}/${id}`;
  const load = use_load(key, (signal) => api.get<Queue>(queue_route(id), { space: space.value?.id }, signal));
  return (
    <Data load={load} whole_page retry={() => void reload("queue/")}>
      {(queue) => (
        <div class="page list-page" key={queue.id}>
          <PageHeader
            title={queue.name}
            text={`${plural(queue.pending, "item")} pending, ${queue.done} done, ${queue.skipped} skipped · ${Math.round(done_share(queue) * 100)} %`}
          >
            <Actions queue={queue} />
          </PageHeader>
          {queue.fill_problem !== "" && (
            <Note kind="failed" icon="warning">
              The queue was not filled: <Visible text={queue.fill_problem} />
            </Note>
          )}
          <Tabs label="Parts of the queue" tabs={tabs} />
          {current_tab(tabs) === "label" && <LabelItems queue={queue} />}
          {current_tab(tabs) === "items" && <Items queue={queue} />}
          {current_tab(tabs) === "agreement" && <Agreement queue={queue} />}
        </div>
      )}
    </Data>
  );
}
