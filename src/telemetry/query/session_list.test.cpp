// Lists of chat sessions read from their times: the same as from their spans in all pages and time ranges, and no more
// than the page needs.
#include "base/testing.h"
#include "telemetry/store_fixture.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

constexpr int64_t list_minute_ns = 60'000'000'000;
using SessionStarts = std::map<std::string, std::vector<int64_t>>; // of its spans, by session
using ListedSessions = std::vector<std::pair<std::string, int64_t>>;

std::string run_in_store(Fixture& f, const std::string& sql) {
    auto found = f.telemetry->engine().query(ClickHouseQuery(sql));
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message + found.error().trail));
    return std::move(found).value();
}

// Lists read the times of sessions from now on.
void know_sessions(Fixture& f) {
    f.store();
    for (bool more = true; more;) {
        const auto step = f.telemetry->upgrade().step();
        REQUIRE_MESSAGE(step.ok(), (step.ok() ? "" : step.error().message + step.error().trail));
        more = step.value();
    }
    REQUIRE(f.telemetry->upgrade().knows_sessions());
}

ListedSessions all_pages(Fixture& f, const Scope& scope, size_t limit) {
    ListedSessions listed;
    std::string cursor;
    do {
        const auto page = f.store().list_sessions(scope, limit, cursor);
        REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message + page.error().trail));
        CHECK(page.value().sessions.size() <= limit);
        for (const SessionRow& row : page.value().sessions) listed.emplace_back(row.chat_session, row.start_ns);
        cursor = page.value().next_cursor;
    } while (!cursor.empty());
    return listed;
}

// Sessions with a span in the range, by the start of the whole session, newest first.
ListedSessions sessions_in(const SessionStarts& sessions, const Scope& scope) {
    ListedSessions found;
    for (const auto& [name, starts] : sessions)
        if (std::ranges::any_of(starts, [&](int64_t at) { return at >= scope.from_ns && at < scope.to_ns; }))
            found.emplace_back(name, *std::ranges::min_element(starts));
    std::ranges::sort(found, [](const auto& left, const auto& right) {
        return std::tie(left.second, left.first) > std::tie(right.second, right.first);
    });
    return found;
}

} // namespace

TEST_CASE("pages of sessions in any time range are those of their spans, while rows are merged and after a restart") {
    std::mt19937 luck(test_seed());
    const auto below = [&](int64_t limit) { return static_cast<int64_t>(luck() % static_cast<uint64_t>(limit)); };
    Fixture f;
    f.store();
    run_in_store(f, "SYSTEM STOP MERGES hone.session_times");
    SessionStarts sessions;
    uint64_t id = 1;
    for (int block = 0; block < 8; ++block) {
        std::vector<TestSpan> spans;
        for (int i = 0; i < 60; ++i, ++id) {
            const std::string name = "talk-" + std::to_string(below(150));
            // Some long, most short; many begin at the same time.
            const auto known = sessions.find(name);
            const bool continues = known != sessions.end() && below(4) > 0;
            const int64_t start = continues ? known->second.front() + (below(40) - 10) * list_minute_ns
                                            : base_ns - below(600) * list_minute_ns;
            sessions[name].push_back(start);
            spans.push_back({id, id, 0, start, 5, "turn", text_attribute("session.id", name), 0});
        }
        if (below(2) == 0) f.telemetry->loader().forget_sessions(); // more rows of the same sessions
        REQUIRE(f.send_json("ranges", request(spans)).status == 200);
        f.wait();
    }
    know_sessions(f);
    for (const std::string state : {"in many rows", "merged", "restarted"}) {
        CAPTURE(state);
        if (state == "merged") {
            run_in_store(f, "SYSTEM START MERGES hone.session_times");
            run_in_store(f, "OPTIMIZE TABLE hone.session_times FINAL");
        } else if (state == "restarted") {
            f.open();
            know_sessions(f);
        }
        Scope scope = scope_of("ranges");
        CHECK(all_pages(f, scope, 50) == sessions_in(sessions, scope));
        for (int range = 0; range < 12; ++range) {
            scope.from_ns = base_ns - below(640) * list_minute_ns;
            scope.to_ns = range % 3 == 0 ? INT64_MAX : scope.from_ns + (1 + below(200)) * list_minute_ns;
            const size_t limit = static_cast<size_t>(1 + below(range % 2 == 0 ? 9 : 60));
            CAPTURE(scope.from_ns);
            CAPTURE(scope.to_ns);
            CAPTURE(limit);
            CHECK(all_pages(f, scope, limit) == sessions_in(sessions, scope));
        }
    }
}

TEST_CASE("a page of sessions reads no more rows when the project has two hundred thousand of them") {
    Fixture f;
    f.store();
    const std::string begin = std::to_string(base_ns - 86'400'000'000'000), hour = "3600000000000";
    for (const std::string row : {"0", "1"}) // a session continues in the next hour
        run_in_store(f, "INSERT INTO hone.session_times SELECT 'project_many', lower(hex(sipHash64(number))), " +
                            begin + " + number * 400000000 + " + row + " * " + hour + " AS first, (intDiv(first, " +
                            hour + ") + 1) * " + hour + " - 1 FROM numbers(200000)");
    std::vector<TestSpan> spans;
    for (uint64_t id = 1; id <= 60; ++id)
        spans.push_back({id, id, 0, base_ns + static_cast<int64_t>(id) * list_minute_ns / 2, 5, "turn",
                         text_attribute("session.id", "new-" + std::to_string(id)), 0});
    REQUIRE(f.send_json("many", request(spans)).status == 200);
    f.wait();
    know_sessions(f);
    const auto rows_read = [&] {
        return std::stoll(
            run_in_store(f, "SELECT sum(value) FROM system.events WHERE event = 'SelectedRows' FORMAT TSVRaw"));
    };
    const auto before = rows_read();
    const auto page = f.store().list_sessions(scope_of("many"), 50, "");
    const auto read = rows_read() - before;
    REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message + page.error().trail));
    REQUIRE(page.value().sessions.size() == 50);
    CHECK(page.value().sessions.front().chat_session == "new-60");
    CHECK(page.value().sessions.back().chat_session == "new-11");
    CHECK(read > 0);
    CHECK(read < 150'000);
}

TEST_CASE("a page of sessions is full although the spans of some that it would have are gone") {
    Fixture f;
    know_sessions(f);
    std::vector<TestSpan> spans;
    for (uint64_t id = 1; id <= 60; ++id)
        spans.push_back({id, id, 0, base_ns + static_cast<int64_t>(id) * list_minute_ns, 5, "turn",
                         text_attribute("session.id", "talk-" + std::to_string(id)), 0});
    REQUIRE(f.send_json("talks", request(spans)).status == 200);
    f.wait();
    run_in_store(f, "ALTER TABLE hone.spans DELETE WHERE endsWith(chat_session, '1') OR chat_session IN ('talk-60', "
                    "'talk-59', 'talk-58') SETTINGS mutations_sync = 1");
    const auto page = f.store().list_sessions(scope_of("talks"), 20, "");
    REQUIRE(page.ok());
    CHECK(page.value().sessions.size() == 20);
    CHECK(page.value().sessions.front().chat_session == "talk-57");
    CHECK(all_pages(f, scope_of("talks"), 20).size() == 51);
}

TEST_CASE("times of sessions of an earlier version get their projections in the background") {
    Fixture f;
    f.store();
    const std::string parts = "SELECT count() = countIf(has(projections, 'by_first') AND has(projections, 'by_last')), "
                              "count() > 0 FROM system.parts WHERE database = 'hone' AND table = 'session_times' AND "
                              "active FORMAT TSV";
    for (const std::string name : {"by_first", "by_last"})
        run_in_store(f, "ALTER TABLE hone.session_times DROP PROJECTION " + name + " SETTINGS mutations_sync = 1");
    SessionStarts sessions;
    for (uint64_t id = 1; id <= 9; ++id) {
        const std::string name = "talk-" + std::to_string(id % 4);
        const int64_t start = base_ns - static_cast<int64_t>(id) * list_minute_ns;
        sessions[name].push_back(start);
        REQUIRE(f.send_json("older", request({{id, id, 0, start, 5, "turn", text_attribute("session.id", name), 0}}))
                    .status == 200);
        f.wait();
    }
    CHECK(run_in_store(f, parts) == "0\t1\n");
    f.open();
    know_sessions(f);
    const Scope all = scope_of("older");
    CHECK(all_pages(f, all, 2) == sessions_in(sessions, all));
    // A mutation that waits for those before it.
    run_in_store(f, "ALTER TABLE hone.session_times DELETE WHERE 0 SETTINGS mutations_sync = 1");
    CHECK(run_in_store(f, parts) == "1\t1\n");
    CHECK(all_pages(f, all, 2) == sessions_in(sessions, all));
}
