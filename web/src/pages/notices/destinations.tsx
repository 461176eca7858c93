// The destinations of a space's notices: chats, on-call services, webhooks and email, each with a test.

import { useState } from "preact/hooks";
import { api, segment, to_api_error } from "../../api";
import type { Attempt, Delivery, Destination } from "../../api_types";
import { duration, plural } from "../../lib/format/number";
import { notice_kind_text } from "../../lib/sentences/notice";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { ShownOnce } from "../../parts/shown_once";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { query, set_query } from "../../router";
import { project_name, use_projects } from "../projects/data";
import { DestinationForm } from "./destination_form";

const route = (id: string, rest = "") => `/v1/destinations/${segment(id)}${rest}`;
const changed = () => reload("destination");

function DestinationState({ of }: { of: Destination }) {
  if (!of.enabled) return <State tone="off" text="off" />;
  const broken = of.last_failed_at !== null && (of.last_sent_at === null || of.last_failed_at > of.last_sent_at);
  if (broken)
    return (
      <span title={of.last_problem}>
        <State tone="failed" text="failing" />
      </span>
    );
  if (of.last_sent_at === null) return <State tone="waiting" text="not used yet" />;
  return <State tone="done" text="working" />;
}

const columns: Column<Destination>[] = [
  { id: "name", title: "Name", sort: (row) => row.name, cell: (row) => <span class="strong">{row.name}</span> },
  { id: "type", title: "Type", width: "92px", sort: (row) => row.type, cell: (row) => row.type },
  { id: "target", title: "Target", wide: true, cell: (row) => <span class="soft">{row.target}</span> },
  {
    id: "kinds",
    title: "Events",
    width: "120px",
    wide: true,
    cell: (row) => (row.kinds.length === 0 ? "everything" : plural(row.kinds.length, "kind")),
  },
  { id: "state", title: "State", width: "124px", cell: (row) => <DestinationState of={row} /> },
  {
    id: "sent",
    title: "Last sent",
    width: "96px",
    align: "right",
    wide: true,
    sort: (row) => row.last_sent_at ?? "",
    cell: (row) => <Time time={row.last_sent_at} />,
  },
];

/** Sends a test notice and shows the response. */
function TestButton({ destination }: { destination: Destination }) {
  const [busy, set_busy] = useState(false);
  const [result, set_result] = useState<Attempt | null>(null);
  async function test(): Promise<void> {
    set_busy(true);
    set_result(null);
    try {
      set_result(await api.post<Attempt>(route(destination.id, "/test"), {}));
      await changed();
    } catch (error) {
      set_result({ ok: false, status: null, problem: to_api_error(error).message, took_ms: 0 });
    } finally {
      set_busy(false);
    }
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void test()}>
        {busy ? "Sending…" : "Send test"}
      </button>
      {result && (
        <div class="page-result" role="status">
          <Note kind={result.ok ? "done" : "failed"} icon={result.ok ? "check" : "warning"}>
            {result.ok ? `Delivered in ${duration(result.took_ms)}` : "Not delivered"}
            {result.status !== null && `, status ${result.status}`}
            {result.problem === "" ? "." : `: ${result.problem}`}
          </Note>
        </div>
      )}
    </>
  );
}

const delivery_tones = { pending: "waiting", sent: "done", given_up: "failed" } as const;
const delivery_words = { pending: "pending", sent: "sent", given_up: "not delivered" };

function Deliveries({ destination }: { destination: Destination }) {
  const load = use_load(`destination_deliveries/${destination.id}`, (signal) =>
    api.get<Delivery[]>(route(destination.id, "/deliveries"), { limit: 20 }, signal),
  );
  return (
    <Data load={load} retry={() => void changed()}>
      {(deliveries) => (
        <>
          <h3>Deliveries</h3>
          {deliveries.length === 0 && <p class="faint">None yet.</p>}
          <ol class="history">
            {deliveries.map((delivery) => (
              <li key={delivery.id}>
                <Time time={delivery.created_at} />
                <span>
                  <State tone={delivery_tones[delivery.state]} text={delivery_words[delivery.state]} /> {delivery.title}
                  {delivery.problem !== "" && (
                    <span class="soft">
                      {" "}
                      {delivery.problem} ({plural(delivery.attempts, "attempt")}
                      {delivery.next_at && (
                        <>
                          , again <Time time={delivery.next_at} />
                        </>
                      )}
                      )
                    </span>
                  )}
                </span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Data>
  );
}

/** The signing secret of a webhook, shown once. */
function SigningSecret({ destination, on_close }: { destination: Destination; on_close: () => void }) {
  return (
    <ShownOnce
      title={`Signing secret of ${destination.name}`}
      warning="Copy it now: it is stored encrypted and cannot be shown again. Each request has an HMAC-SHA256 signature of its time and body, made with this secret."
      secret={destination.signing_secret ?? ""}
      on_close={on_close}
    />
  );
}

interface DetailProps {
  destination: Destination;
  show_secret: (destination: Destination) => void;
}

function Detail({ destination, show_secret }: DetailProps) {
  const [deleting, set_deleting] = useState(false);
  const projects = use_projects().data;
  const may_write = can("monitor_write");
  const patch = (body: object, done: string) => () =>
    void api
      .patch<Destination>(route(destination.id), body)
      .then(async (saved) => {
        await changed();
        if (saved.signing_secret) show_secret(saved);
        else toast_done(done);
      })
      .catch((error) => toast_failed("Could not change the destination", error));
  return (
    <SlideOver title={destination.name} on_close={() => set_query({ open: null })}>
      <Facts
        rows={[
          ["State", <DestinationState key="state" of={destination} />],
          ["Target", `${destination.type}, ${destination.target}`],
          [
            "Events",
            destination.kinds.length === 0 ? "everything" : destination.kinds.map(notice_kind_text).join("; "),
          ],
          [
            "Projects",
            destination.projects.length === 0
              ? "all"
              : destination.projects.map((id) => project_name(projects, id) || id).join(", "),
          ],
          ["Created by", destination.created_by],
        ]}
      />
      {destination.last_problem !== "" && <Note kind="failed">{destination.last_problem}</Note>}
      {may_write && (
        <div class="page-actions">
          <TestButton destination={destination} />
          <button type="button" onClick={() => set_query({ edit: "1" })}>
            Edit
          </button>
          <button
            type="button"
            onClick={patch(
              { enabled: !destination.enabled },
              destination.enabled ? "Destination turned off" : "Destination turned on",
            )}
          >
            {destination.enabled ? "Turn off" : "Turn on"}
          </button>
          {destination.type === "webhook" && (
            <button type="button" onClick={patch({ new_signing_secret: true }, "")}>
              New signing secret
            </button>
          )}
          <button type="button" class="danger" onClick={() => set_deleting(true)}>
            Delete
          </button>
        </div>
      )}
      <Deliveries destination={destination} />
      {deleting && (
        <Confirm
          title={`Delete ${destination.name}?`}
          consequence="No more notices are sent there. Pending notices are dropped."
          action="Delete destination"
          run={async () => {
            await api.delete(route(destination.id));
            set_query({ open: null });
            await changed();
            toast_done(`${destination.name} deleted`);
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </SlideOver>
  );
}

export function Destinations() {
  const [secret, set_secret] = useState<Destination | null>(null);
  const key = `destinations/${space.value?.id}`;
  const load = use_load(key, (signal) => api.list<Destination>("/v1/destinations", { space: space.value?.id }, signal));
  const open = load.data?.find((row) => row.id === query.value.get("open"));
  const editing = query.value.get("edit") === "1" ? open : undefined;
  const close_form = () => set_query({ new: null, edit: null });
  return (
    <div class="beside">
      <div class="page list-page">
        <PageHeader
          title="Destinations"
          text="Send notices to Slack, Teams, Discord, PagerDuty, Opsgenie, webhooks and email."
        >
          {can("monitor_write") && (
            <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
              <Icon name="plus" /> Add destination
            </button>
          )}
        </PageHeader>
        <Data load={load} retry={() => void reload(key)}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty
                icon="bell"
                title="No destinations yet"
                text="Add a chat channel, an on-call service, a webhook or email addresses to get notices about triggered monitors, new issues and pending reviews. Without a destination, notices appear only here under the bell."
                command={can("monitor_write") ? "hone destination create on-call --type slack --hook URL" : undefined}
              />
            ) : (
              <Table
                label="Destinations"
                rows={rows}
                columns={columns}
                row_id={(row) => row.id}
                row_title={(row) => row.name}
                order="name"
                on_open={(row) => set_query({ open: row.id })}
                open_id={query.value.get("open")}
              />
            )
          }
        </Data>
      </div>
      {open && <Detail key={open.id} destination={open} show_secret={set_secret} />}
      {(query.value.get("new") === "1" || editing) && (
        <DestinationForm
          destination={editing ?? null}
          on_close={close_form}
          on_saved={(saved) => {
            void changed();
            close_form();
            set_query({ open: saved.id });
            if (saved.signing_secret) set_secret(saved);
            else toast_done(`${saved.name} saved`);
          }}
        />
      )}
      {secret && <SigningSecret destination={secret} on_close={() => set_secret(null)} />}
    </div>
  );
}
