// The notices of the space, newest first: what needs a person, and the rest as a digest. Same ones are folded.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { NoticeSettings, NoticeView } from "../../api_types";
import {
  digest_text,
  type Folded,
  fold_notices,
  notice_address,
  notice_kind_text,
  notice_kinds,
} from "../../lib/sentences/notice";
import { reload, use_load, use_pages } from "../../load";
import { can, space } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Form } from "../../parts/form";
import { mark_notices_read } from "../../parts/frame/bell";
import { Icon, type IconName } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data, Empty } from "../../parts/state";
import { Earlier } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { query, set_query } from "../../router";
import { destinations_page } from "../addresses";

const icons: Record<string, IconName> = {
  monitor_triggered: "gauge",
  monitor_recovered: "gauge",
  issue_new: "signal",
  run_finished: "agent",
  review_waiting: "mail",
  automation_paused: "timer",
  eval_task_paused: "scale",
  budget_near: "cost",
  budget_spent: "cost",
  evaluator_drifted: "scale",
  pull_request_opened: "merge",
  pull_request_failed: "merge",
  pull_request_merged: "merge",
  pull_request_changes_requested: "merge",
  pull_request_changed: "merge",
  break_glass_login: "key",
  spans_late: "warning",
  spans_caught_up: "check",
};

function NoticeRow({ row }: { row: Folded<NoticeView> }) {
  const { notice, count, unread } = row;
  const title = (
    <>
      {unread && <span class="off-screen">New: </span>}
      {notice.title}
    </>
  );
  return (
    <li class={unread ? "notice unread" : "notice"}>
      <span title={notice_kind_text(notice.kind)}>
        <Icon name={icons[notice.kind] ?? "info"} />
      </span>
      <div>
        <p class="notice-head">
          {notice.link === "" ? (
            <span class="strong">{title}</span>
          ) : (
            <a class="cell-link" href={notice_address(notice.link, space.value?.name ?? "")}>
              {title}
            </a>
          )}
          {count > 1 && <span class="tag">{count} times</span>}
          <Time time={notice.created_at} />
        </p>
        {notice.body !== "" && <p class="notice-body">{notice.body}</p>}
      </div>
    </li>
  );
}

const rows_of = (notices: NoticeView[]) => (
  <ol class="notices">
    {fold_notices(notices).map((row) => (
      <NoticeRow key={row.notice.id} row={row} />
    ))}
  </ol>
);

function NoticeList({ notices, kinds, kind }: { notices: NoticeView[]; kinds: string[]; kind: string }) {
  if (kind !== "") return rows_of(notices);
  const counted = notices.filter((notice) => kinds.includes(notice.kind));
  const others = notices.filter((notice) => !kinds.includes(notice.kind));
  return (
    <>
      {counted.length > 0 ? rows_of(counted) : <p class="soft">Nothing needs you.</p>}
      {others.length > 0 && (
        <details class="notice-rest" open={query.value.has("rest")}>
          <summary>
            Also happened: <span class="soft">{digest_text(others)}</span>
          </summary>
          {rows_of(others)}
        </details>
      )}
    </>
  );
}

function SettingsDialog({ settings, on_close }: { settings: NoticeSettings; on_close: () => void }) {
  const [kinds, set_kinds] = useState<string[]>(settings.kinds);
  return (
    <Dialog title="Your notices" on_close={on_close}>
      <Form
        title="Save"
        on_cancel={on_close}
        submit={async () => {
          await api.put("/v1/notices/settings", { kinds }, { space: space.value?.id });
          await reload("notices/");
          toast_done("Your notices are saved");
          on_close();
        }}
      >
        <p>The bell counts these kinds for you in this space. The others are folded below the list.</p>
        <div class="scope-list">
          {notice_kinds.map(([kind, title]) => (
            <Check
              key={kind}
              label={title}
              checked={kinds.includes(kind)}
              on_change={(on) => set_kinds(on ? [...kinds, kind] : kinds.filter((one) => one !== kind))}
            />
          ))}
        </div>
        {can("monitor_read") && (
          <p class="hint">
            Mail, chats and webhooks have kinds of their own: <a href={destinations_page()}>Destinations</a>
          </p>
        )}
      </Form>
    </Dialog>
  );
}

export function NoticesPage() {
  const kind = query.value.get("kind") ?? "";
  const here = space.value?.id;
  const load = use_pages<NoticeView>(`notices/list/${here}/${kind}`, (cursor, signal) =>
    api.page<NoticeView>("/v1/notices", { space: here, kind, limit: 50, cursor }, signal),
  );
  const settings = use_load(`notices/settings/${here}`, (signal) =>
    api.get<NoticeSettings>("/v1/notices/settings", { space: here }, signal),
  );
  const [choosing, set_choosing] = useState(false);
  const unread = load.data?.some((notice) => notice.unread) ?? false;
  return (
    <div class="page">
      <PageHeader title="Notices" text="Those that need a person come first. All others are folded below.">
        {unread && (
          <button
            type="button"
            onClick={() => void mark_notices_read().catch((error) => toast_failed("Could not mark as read", error))}
          >
            <Icon name="check" /> Mark all as read
          </button>
        )}
        <button type="button" onClick={() => set_choosing(true)}>
          <Icon name="settings" /> Choose your notices
        </button>
        {can("monitor_read") && (
          <a class="button" href={destinations_page()}>
            Destinations
          </a>
        )}
      </PageHeader>
      <div class="notice-filter">
        <Choice
          label="Show"
          value={kind}
          on_change={(value) => set_query({ kind: value || null }, { replace: true })}
          options={[{ value: "", title: "all notices" }, ...notice_kinds.map(([value, title]) => ({ value, title }))]}
        />
      </div>
      <Data load={load} retry={() => void reload("notices/")}>
        {(notices) =>
          notices.length === 0 ? (
            <Empty
              icon="bell"
              title="No notices"
              text="Triggered monitors, new issues, finished runs and budgets near their limit appear here. They are also sent to the destinations of the space."
            />
          ) : (
            <>
              <NoticeList notices={notices} kinds={settings.data?.kinds ?? []} kind={kind} />
              <Earlier more={load.more} title="Older notices" />
            </>
          )
        }
      </Data>
      {choosing && settings.data && <SettingsDialog settings={settings.data} on_close={() => set_choosing(false)} />}
    </div>
  );
}
