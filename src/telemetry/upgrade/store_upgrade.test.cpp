// What a store lacks is made day by day, beside queries, and continues after a restart; lists are the same before and
// after.
#include "telemetry/upgrade/store_upgrade.h"

#include "telemetry/retention/retention.h"
#include "telemetry/span/session_times.h"
#include "telemetry/store_fixture.h"

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

constexpr int64_t day_of_test = 86'400'000'000'000;

TestSpan session_span(uint64_t trace, uint64_t id, int64_t start_ns, const std::string& session) {
    return {trace, id, 0, start_ns, 5, "turn", text_attribute("session.id", session), 0};
}

std::string ask_store(Fixture& f, const std::string& sql) {
    auto found = f.telemetry->engine().query(ClickHouseQuery(sql + " FORMAT TSV"));
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
    return std::move(found).value();
}

// All pages: names, and what a row shows.
std::vector<std::string> sessions_of(Fixture& f, const Scope& scope, size_t limit = 2) {
    std::vector<std::string> seen;
    std::string cursor;
    do {
        auto page = f.store().list_sessions(scope, limit, cursor);
        REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message + page.error().trail));
        CHECK(page.value().sessions.size() <= limit);
        for (const SessionRow& row : page.value().sessions)
            seen.push_back(row.chat_session + " " + std::to_string(row.start_ns - base_ns) + " " +
                           std::to_string(row.end_ns - base_ns) + " " + std::to_string(row.traces) + " " +
                           std::to_string(row.spans));
        cursor = page.value().next_cursor;
    } while (!cursor.empty());
    return seen;
}

size_t all_steps(Fixture& f) {
    f.store();
    for (size_t steps = 0;; ++steps) {
        const auto more = f.telemetry->upgrade().step();
        REQUIRE_MESSAGE(more.ok(), (more.ok() ? "" : more.error().message + more.error().trail));
        if (!more.value()) return steps;
    }
}

void send_spans(Fixture& f, const std::string& project, const std::vector<TestSpan>& spans) {
    REQUIRE(f.send_json(project, request(spans)).status == 200);
    f.wait();
}

} // namespace

TEST_CASE("chat sessions are listed from their times as from their spans") {
    Fixture f;
    const int64_t hour = 3'600'000'000'000;
    std::vector<TestSpan> spans;
    uint64_t id = 1;
    for (uint64_t session = 0; session < 7; ++session)
        for (uint64_t turn = 0; turn < 3; ++turn, ++id)
            spans.push_back(session_span(id, id, base_ns + static_cast<int64_t>(session * 10 + turn * 100),
                                         "talk-" + std::to_string(session)));
    spans.push_back(session_span(500, 500, base_ns - 30 * hour, "long talk")); // also in the range below
    spans.push_back(session_span(501, 501, base_ns + 7, "long talk"));
    spans.push_back(session_span(502, 502, base_ns - 30 * hour, "around")); // before and after the range below
    spans.push_back(session_span(503, 503, base_ns + hour / 2, "around"));
    send_spans(f, "talks", spans);
    send_spans(f, "others", {session_span(1, 1, base_ns, "of others"), {2, 2}});
    REQUIRE(!f.telemetry->upgrade().knows_sessions());
    const Scope all = scope_of("talks");
    const auto from_spans = sessions_of(f, all);
    CHECK(from_spans.size() == 9);
    all_steps(f);
    REQUIRE(f.telemetry->upgrade().knows_sessions());
    CHECK(sessions_of(f, all) == from_spans);
    CHECK(sessions_of(f, all, 100) == from_spans);
    CHECK(sessions_of(f, scope_of("others")).size() == 1);
    CHECK(sessions_of(f, scope_of("talks", "session = \"talk-3\"")).size() == 1);

    Scope range = all;
    range.from_ns = base_ns;
    range.to_ns = base_ns + 1000;
    const auto in_range = sessions_of(f, range);
    REQUIRE(in_range.size() == 8);
    CHECK(in_range.front().starts_with("talk-6 60 "));
    CHECK(in_range.back().starts_with("long talk " + std::to_string(-30 * hour))); // by its start, before the range
    CHECK(sessions_of(f, range, 1).size() == 8);
    range.to_ns = base_ns + 1;
    const auto in_moment = sessions_of(f, range);
    REQUIRE(in_moment.size() == 1);
    CHECK(in_moment.front().starts_with("talk-0 0 "));

    // A session that continues is written again when the hour is over, or when it began earlier than known.
    f.clock.advance(51h);
    send_spans(f, "talks",
               {session_span(600, 600, base_ns + 50 * hour, "talk-0"), session_span(601, 601, base_ns - 7, "talk-1")});
    CHECK(
        ask_store(
            f, "SELECT min(first_ns), max(last_ns) >= " + std::to_string(base_ns + 50 * hour) +
                   " FROM hone.session_times WHERE project = 'project_talks' AND chat_session IN ('talk-0', 'talk-1') "
                   "GROUP BY chat_session ORDER BY chat_session") ==
        std::to_string(base_ns) + "\t1\n" + std::to_string(base_ns - 7) + "\t0\n");
    range.from_ns = base_ns + 49 * hour;
    range.to_ns = INT64_MAX;
    CHECK(sessions_of(f, range).size() == 1);
}

TEST_CASE("times of sessions that an earlier version did not write are made day by day, also after a restart") {
    Fixture f;
    std::vector<TestSpan> spans;
    for (uint64_t day = 0; day < 4; ++day)
        spans.push_back(session_span(day + 1, day + 1, base_ns - static_cast<int64_t>(day) * day_of_test,
                                     "day-" + std::to_string(day)));
    send_spans(f, "days", spans);
    ask_store(f, "SELECT 1");
    for (const char* table : {"session_times", "upgraded_days"})
        REQUIRE(f.telemetry->engine().query(ClickHouseQuery(std::string("TRUNCATE TABLE hone.") + table)).ok());
    f.open();
    const Scope all = scope_of("days");
    const auto listed = sessions_of(f, all);
    REQUIRE(listed.size() == 4);
    for (int step = 0; step < 2; ++step) {
        const auto more = f.telemetry->upgrade().step();
        REQUIRE_MESSAGE(more.ok(), (more.ok() ? "" : more.error().message));
        CHECK(more.value());
        CHECK(sessions_of(f, all) == listed);
    }
    CHECK(!f.telemetry->upgrade().knows_sessions());
    CHECK(ask_store(f, "SELECT count() FROM hone.session_times") == "2\n"); // today and the day before
    CHECK(ask_store(f, "SELECT step, count() FROM hone.upgraded_days GROUP BY step") ==
          "sessions\t1\n"); // today is not over
    f.open();
    CHECK(sessions_of(f, all) == listed);
    CHECK(all_steps(f) == 4); // today again, the two days before, and there are no indexes to build
    CHECK(f.telemetry->upgrade().knows_sessions());
    CHECK(f.telemetry->upgrade().days_left() == 0);
    CHECK(sessions_of(f, all) == listed);
    CHECK(!f.telemetry->upgrade().is_due());

    // A server of an earlier version beside this one wrote spans without times: they are there when the day is over.
    REQUIRE(f.telemetry->engine()
                .query(ClickHouseQuery("ALTER TABLE hone.session_times DELETE WHERE chat_session = 'day-0' SETTINGS "
                                       "mutations_sync = 1"))
                .ok());
    CHECK(sessions_of(f, all).size() == 3);
    f.clock.advance(24h);
    REQUIRE(f.telemetry->upgrade().is_due());
    CHECK(all_steps(f) == 1);
    CHECK(sessions_of(f, all) == listed);
    CHECK(ask_store(f, "SELECT count() FROM hone.upgraded_days FINAL WHERE step = 'sessions'") == "4\n");
}

TEST_CASE("after a start lists know where the newest spans are") {
    Fixture f;
    std::vector<TestSpan> spans;
    for (uint64_t i = 1; i <= 200; ++i) spans.push_back({i, i, 0, base_ns + static_cast<int64_t>(i) * 1'000'000'000});
    send_spans(f, "started", spans);
    f.open();
    f.store();
    const Scope all = scope_of("started");
    CHECK(f.store().recent_starts(all, INT64_MAX, 51, false).empty());
    all_steps(f);
    const auto known = f.store().recent_starts(all, INT64_MAX, 51, false);
    REQUIRE(!known.empty());
    CHECK(known.front() == (base_ns / 1'000'000'000 + 150) * 1'000'000'000);
    auto page = f.store().list_spans({all, {}, {}, {}, 50, false, ""});
    REQUIRE(page.ok());
    CHECK(page.value().spans.size() == 50);
    CHECK(page.value().spans.front().start_ns == spans.back().start_ns);
    // What is loaded now is not counted twice: the store had it when it was read.
    f.telemetry->upgrade().step().value();
    send_spans(f, "started", {{999, 999, 0, base_ns + 500'000'000'000}});
    CHECK(f.store().recent_starts(all, INT64_MAX, 51, false).front() ==
          (base_ns / 1'000'000'000 + 151) * 1'000'000'000);
}

TEST_CASE("the times of traces and sessions go with their last span") {
    Fixture f;
    const auto times = [&](const std::string& table, const std::string& id) {
        return ask_store(f, "SELECT DISTINCT toString(" + id + ") FROM hone." + table +
                                " WHERE project = 'project_names' ORDER BY 1");
    };
    const int64_t old = base_ns - 40 * day_of_test;
    send_spans(f, "names",
               {session_span(1, 1, old, "gone"), session_span(2, 2, old, "kept"), session_span(3, 3, old, "continues"),
                session_span(4, 4, base_ns, "continues"), session_span(5, 5, base_ns, "person@example.com"),
                session_span(6, 6, base_ns + 1, "person@example.com")});
    all_steps(f);
    Retention retention(f.telemetry->engine(), f.clock, [&] { f.telemetry->loader().forget_sessions(); });
    RetentionPolicy policy;
    policy.kept_traces["project_names"] = {hex_number(2, 32)};
    const auto applied = retention.apply(policy);
    REQUIRE_MESSAGE(applied.ok(), (applied.ok() ? "" : applied.error().message + applied.error().trail));
    CHECK(applied.value().deleted_spans == 2);
    CHECK(times("session_times", "chat_session") == "continues\nkept\nperson@example.com\n");
    std::string traces;
    for (const uint64_t trace : {2, 4, 5, 6}) traces += hex_number(trace, 32) + "\n";
    CHECK(times("trace_times", "trace_id") == traces);
    CHECK(sessions_of(f, scope_of("names")).size() == 3);

    REQUIRE(retention.delete_traces("project_names", {hex_number(5, 32)}).ok());
    CHECK(times("session_times", "chat_session") == "continues\nkept\nperson@example.com\n"); // it has another trace
    REQUIRE(retention.delete_session("project_names", "person@example.com", {hex_number(6, 32)}).ok());
    CHECK(times("session_times", "chat_session") == "continues\nkept\n");
    CHECK(sessions_of(f, scope_of("names")).size() == 2);
    send_spans(f, "names", {session_span(7, 7, base_ns + 2, "person@example.com")});
    CHECK(sessions_of(f, scope_of("names")).size() == 3);
    REQUIRE(retention.delete_project("project_names").ok());
    CHECK(times("session_times", "chat_session").empty());
}

TEST_CASE("rows of session times are written once until a session continues") {
    SessionTimes times;
    const int64_t hour = 3'600'000'000'000;
    times.add("project", "", 5);
    CHECK(times.rows().empty());
    times.add("project", "talk", 2 * hour + 5);
    times.add("project", "talk", 2 * hour + 1);
    const std::string rows = times.rows();
    BinaryReader reader(rows);
    CHECK(reader.text() == "project");
    CHECK(reader.text() == "talk");
    CHECK(reader.number<int64_t>() == 2 * hour + 1);
    CHECK(reader.number<int64_t>() == 3 * hour - 1);
    CHECK(reader.at_end());
    CHECK(times.rows() == rows); // an insert that failed is repeated
    times.written();
    times.add("project", "talk", 3 * hour - 1);
    CHECK(times.rows().empty());
    times.add("project", "talk", 3 * hour);
    CHECK(!times.rows().empty());
    times.written();
    times.add("project", "talk", 2 * hour);
    CHECK(!times.rows().empty());
    times.forget();
    times.add("project", "talk", 2 * hour + 1);
    CHECK(times.rows() == rows);
    times.add("other", "late", INT64_MAX); // a time beyond what hours can name
    CHECK(!times.rows().empty());
}
