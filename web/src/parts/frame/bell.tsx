// The bell: recent notices, the number of unread ones, and links to their pages.

import { api } from "../../api";
import type { NoticeSettings, NoticeView, UnreadNotices } from "../../api_types";
import { relative_time } from "../../lib/format/time";
import { fold_notices, notice_address } from "../../lib/sentences/notice";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { navigate } from "../../router";
import { Icon } from "../icon";
import { Menu } from "../menu";
import { toast_failed } from "../toast";

const shown = 8;
const page_size = 30;
const most_counted = 99;
const refresh = 30_000;

/** Marks all notices as read and reloads the list and the bell. */
export async function mark_notices_read(): Promise<void> {
  await api.post("/v1/notices/read", {}, { space: space.value?.id });
  await reload("notices/");
}

/** At the first login nothing is new: what happened before is marked as read. */
async function load_bell(id: string, signal: AbortSignal) {
  const here = { space: id };
  const [notices, unread, settings] = await Promise.all([
    api.get<NoticeView[]>("/v1/notices", { ...here, limit: page_size }, signal),
    api.get<UnreadNotices>("/v1/notices/unread", here, signal),
    api.get<NoticeSettings>("/v1/notices/settings", here, signal),
  ]);
  if (unread.marked_at === null) {
    await api.post("/v1/notices/read", {}, here);
    return { notices: notices.map((notice) => ({ ...notice, unread: false })), counted: 0, kinds: settings.kinds };
  }
  return { notices, counted: unread.counted, kinds: settings.kinds };
}

export function Bell() {
  const current = space.value;
  const key = current && can("project_read") ? `notices/${current.id}` : null;
  const load = use_load(key, (signal) => load_bell(current?.id ?? "", signal));
  use_refresh(key, refresh);
  if (!current || !load.data) return null;
  const page = `/s/${encodeURIComponent(current.name)}/notices`;
  // Nothing waits for a user who can only read.
  const can_act = can("run_start") || can("issue_write") || can("artifact_review");
  const unread = can_act ? load.data.counted : 0;
  const { kinds, notices } = load.data;
  const rows = fold_notices(notices.filter((notice) => kinds.includes(notice.kind))).slice(0, shown);
  const count = unread > most_counted ? `${most_counted}+` : String(unread);
  return (
    <Menu
      label={unread > 0 ? `Notices: ${count} new` : "Notices"}
      align="right"
      class="quiet icon-only bell"
      button={
        <>
          <Icon name="bell" />
          {unread > 0 && <span class="bell-count">{count}</span>}
        </>
      }
      items={[
        ...rows.map(({ notice, count: times, unread: is_new }) => ({
          title: times > 1 ? `${notice.title} (${times} times)` : notice.title,
          icon: is_new && can_act ? ("dot" as const) : undefined,
          hint: relative_time(notice.created_at, Date.now()),
          run: () => navigate(notice.link === "" ? page : notice_address(notice.link, current.name)),
        })),
        { title: "All notices", icon: "bell" as const, divided: rows.length > 0, run: () => navigate(page) },
        ...(unread > 0
          ? [
              {
                title: "Mark all as read",
                icon: "check" as const,
                run: () => void mark_notices_read().catch((error) => toast_failed("Could not mark as read", error)),
              },
            ]
          : []),
      ]}
    />
  );
}
