// The notices of the space, newest first.

import { api } from "../../api";
import type { NoticeView } from "../../api_types";
import { notice_address, notice_kind_text, notice_kinds } from "../../lib/sentences/notice";
import { reload, use_pages } from "../../load";
import { can, space } from "../../login";
import { Choice } from "../../parts/form";
import { mark_notices_read } from "../../parts/frame/bell";
import { Icon, type IconName } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data, Empty } from "../../parts/state";
import { Earlier } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_failed } from "../../parts/toast";
import { query, set_query } from "../../router";
import { destinations_page } from "../addresses";

const icons: Record<string, IconName> = {
  monitor_triggered: "warning",
  monitor_recovered: "check",
  issue_new: "signal",
  run_finished: "agent",
  review_waiting: "mail",
  automation_paused: "history",
  eval_task_paused: "check",
  budget_near: "clock",
  budget_spent: "stop",
  spans_late: "warning",
  spans_caught_up: "check",
};

function NoticeRow({ notice }: { notice: NoticeView }) {
  const title = (
    <>
      {notice.unread && <span class="off-screen">New: </span>}
      {notice.title}
    </>
  );
  return (
    <li class={notice.unread ? "notice unread" : "notice"}>
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
          <Time time={notice.created_at} />
        </p>
        {notice.body !== "" && <p class="notice-body">{notice.body}</p>}
      </div>
    </li>
  );
}

export function NoticesPage() {
  const kind = query.value.get("kind") ?? "";
  const key = `notices/list/${space.value?.id}/${kind}`;
  const load = use_pages<NoticeView>(key, (cursor, signal) =>
    api.page<NoticeView>("/v1/notices", { space: space.value?.id, kind, limit: 50, cursor }, signal),
  );
  const unread = load.data?.some((notice) => notice.unread) ?? false;
  return (
    <div class="page narrow">
      <PageHeader title="Notices" text="Events of monitors, Signal, runs and budgets.">
        {unread && (
          <button
            type="button"
            onClick={() => void mark_notices_read().catch((error) => toast_failed("Could not mark as read", error))}
          >
            <Icon name="check" /> Mark all as read
          </button>
        )}
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
              <ol class="notices">
                {notices.map((notice) => (
                  <NoticeRow key={notice.id} notice={notice} />
                ))}
              </ol>
              <Earlier more={load.more} title="Older notices" />
            </>
          )
        }
      </Data>
    </div>
  );
}
