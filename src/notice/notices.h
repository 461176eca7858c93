// Notices for people: stored first (the outbox), delivered by the Sender afterwards, shown as the list of notices in
// the UI. Any part that has a notice calls notify(). Thread-safe.
//   notices.notify({space, project, Kind::run_finished, "Run finished: nightly scan", "…", "/runs/run_01…", "run_01…"})
#pragma once

#include "access/page.h"
#include "access/projects.h"

#include <functional>

namespace hone::notice {

enum class Kind {
    monitor_triggered,
    monitor_recovered,
    issue_new,
    run_finished,
    review_waiting,
    automation_paused,
    budget_near,
    budget_spent,
    spans_late,
    spans_caught_up,
    pull_request_opened,
    pull_request_failed,
    pull_request_merged,
    pull_request_changes_requested,
    pull_request_changed,
    break_glass_login,
    eval_task_paused,
    evaluator_drifted,
};
constexpr auto enum_names(Kind) {
    return std::array{EnumName{Kind::monitor_triggered, "monitor_triggered"},
                      EnumName{Kind::monitor_recovered, "monitor_recovered"},
                      EnumName{Kind::issue_new, "issue_new"},
                      EnumName{Kind::run_finished, "run_finished"},
                      EnumName{Kind::review_waiting, "review_waiting"},
                      EnumName{Kind::automation_paused, "automation_paused"},
                      EnumName{Kind::budget_near, "budget_near"},
                      EnumName{Kind::budget_spent, "budget_spent"},
                      EnumName{Kind::spans_late, "spans_late"},
                      EnumName{Kind::spans_caught_up, "spans_caught_up"},
                      EnumName{Kind::pull_request_opened, "pull_request_opened"},
                      EnumName{Kind::pull_request_failed, "pull_request_failed"},
                      EnumName{Kind::pull_request_merged, "pull_request_merged"},
                      EnumName{Kind::pull_request_changes_requested, "pull_request_changes_requested"},
                      EnumName{Kind::pull_request_changed, "pull_request_changed"},
                      EnumName{Kind::break_glass_login, "break_glass_login"},
                      EnumName{Kind::eval_task_paused, "eval_task_paused"},
                      EnumName{Kind::evaluator_drifted, "evaluator_drifted"}};
}

// Counted as new unless a person chose otherwise: what needs a person. The others are in the list.
inline constexpr std::array needing_kinds{
    Kind::monitor_triggered, Kind::issue_new,           Kind::review_waiting,
    Kind::automation_paused, Kind::budget_near,         Kind::budget_spent,
    Kind::spans_late,        Kind::pull_request_failed, Kind::pull_request_changes_requested,
    Kind::break_glass_login, Kind::eval_task_paused,    Kind::evaluator_drifted};

struct NoticeTag {
    static constexpr std::string_view kind = "notice";
};
using NoticeId = Id<NoticeTag>;

// A notice to send. Texts are plain: the code that shows them escapes them. They are made harmless (control characters,
// bad UTF-8) and cut (title 200 bytes, body 4 KB) by notify().
struct Notice {
    access::SpaceId space;
    std::optional<access::ProjectId> project{}; // absent: concerns the whole space
    Kind kind = Kind::run_finished;
    std::string title{}; // one line
    std::string body{};  // may have several lines
    std::string link{};  // path in the UI: "/projects/shop/monitors/mon_01…"
    std::string key{};   // the same key in the same space is one notice; empty: always a new one
};

struct NoticeView {
    NoticeId id;
    access::SpaceId space_id;
    std::optional<access::ProjectId> project_id;
    Kind kind = Kind::run_finished;
    std::string title;
    std::string body;
    std::string link;
    Time created_at{};
    bool unread = false;
    static constexpr Pack fields{
        Field{"id", &NoticeView::id, ""},
        Field{"space_id", &NoticeView::space_id, ""},
        Field{"project_id", &NoticeView::project_id, "Null when it concerns the whole space."},
        Field{"kind", &NoticeView::kind, ""},
        Field{"title", &NoticeView::title, "One line of plain text."},
        Field{"body", &NoticeView::body, "Plain text, may have several lines."},
        Field{"link", &NoticeView::link, "Path of the page it is about; may be empty."},
        Field{"created_at", &NoticeView::created_at, ""},
        Field{"unread", &NoticeView::unread, "Not yet marked as read by the caller."},
    };
};

struct NoticeFilter {
    std::optional<access::ProjectId> project{};
    std::optional<Kind> kind{};
    bool unread_only = false;
};

// What the bell counts for one person in one space.
struct NoticeSettings {
    std::vector<Kind> kinds;
    bool is_default = true;
    static constexpr Pack fields{
        Field{"kinds", &NoticeSettings::kinds, "Kinds that are counted as new for the caller."},
        Field{"is_default", &NoticeSettings::is_default, "The caller has chosen nothing: what needs a person."},
    };
};

struct UnreadNotices {
    int64_t unread = 0;
    int64_t counted = 0;
    std::optional<Time> marked_at;
    static constexpr Pack fields{
        Field{"unread", &UnreadNotices::unread, "Number of notices that the caller can see and has not read."},
        Field{"counted", &UnreadNotices::counted, "Those of the kinds that the caller chose to have counted."},
        Field{"marked_at", &UnreadNotices::marked_at, "When the caller last marked notices as read; null: never."},
    };
};

class Notices {
public:
    Notices(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    // Writes the notice and a delivery for each destination that wants it. True: new; false: this key exists.
    Result<bool> notify(const Notice& notice);
    // The same within the transaction of what happened: both are there or neither is. Call wake() after the commit to
    // have it delivered immediately rather than within seconds.
    Result<bool> notify(sql::Transaction& transaction, const Notice& notice) const;
    void wake() const {
        if (m_wake) m_wake();
    }

    // Newest first; needs project_read in the space, and shows only notices of projects that the caller may read.
    Result<access::Page<NoticeView>> list(const access::Caller& caller, const access::SpaceId& space,
                                          const NoticeFilter& filter, const access::PageRequest& page) const;
    Result<int64_t> count_unread(const access::Caller& caller, const access::SpaceId& space) const;
    Result<UnreadNotices> unread(const access::Caller& caller, const access::SpaceId& space) const;
    Result<NoticeSettings> settings(const access::Caller& caller, const access::SpaceId& space) const;
    // The caller's own: a key has its own ones, so that a worker does not change those of its person. An empty list
    // counts nothing.
    Result<NoticeSettings> choose(const access::Caller& caller, const access::SpaceId& space,
                                  const std::vector<Kind>& kinds);
    // Everything up to and with this one; absent: everything there is. Returns how many are still unread. A personal
    // key marks those of its person; a worker marks none.
    Result<int64_t> mark_read(const access::Caller& caller, const access::SpaceId& space,
                              const std::optional<NoticeId>& up_to);

    // Notices that are older go, with their deliveries; called by a background duty.
    Result<int64_t> sweep(Duration keep = std::chrono::hours(24 * 90));

    // Called after each new notice, to wake the Sender. Set once at start, before notices come.
    void set_wake(std::function<void()> wake) { m_wake = std::move(wake); }

private:
    sql::Database& m_database;
    const Clock& m_clock;
    std::function<void()> m_wake;
};

} // namespace hone::notice
