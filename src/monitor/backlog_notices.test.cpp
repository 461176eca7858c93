#include "monitor/backlog_notices.h"
#include "access/testing.h"

using namespace hone;
using access::testing::must;
using access::testing::World;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> kinds(World& world, notice::Notices& notices) {
    std::vector<std::string> all;
    for (const auto& each : must(notices.list(world.admin, world.space, {}, {})).data)
        all.insert(all.begin(), std::string(name_of(each.kind)));
    return all;
}

} // namespace

TEST_CASE("owners get one notice when spans are not stored, and one when they are stored again") {
    access::testing::for_each_world([](World& world) {
        must(world.database.execute("DELETE FROM notices"));
        notice::Notices notices(world.database, world.clock);
        telemetry::Backlog backlog;
        const monitor::BacklogSource source{"/data/telemetry", [&] { return backlog; }};
        const auto told_by = [&](monitor::BacklogNotices& news) {
            notice::Finder finder(world.clock, notices, {&news});
            must(finder.step());
            must(finder.step());
            return kinds(world, notices);
        };
        monitor::BacklogNotices news(world.access, source);
        CHECK(told_by(news).empty());
        backlog = {12'345, 1 << 20, 59s, 7, 3, "the disk is full", false};
        CHECK(told_by(news).empty());
        backlog.oldest_wait = 185s;
        backlog.is_late = true;
        CHECK(told_by(news) == std::vector<std::string>{"spans_late"});
        const auto told = must(notices.list(world.admin, world.space, {}, {})).data.at(0);
        CHECK(told.title == "Spans are accepted but cannot be stored");
        CHECK(told.body.starts_with("12,345 spans have waited 3 min to be stored: the disk is full. They are safe"));
        // A server that starts again finds the same span at the front, and does not repeat itself.
        monitor::BacklogNotices restarted(world.access, source);
        CHECK(told_by(restarted) == std::vector<std::string>{"spans_late"});
        // Another server of the same database has its own.
        monitor::BacklogNotices other(world.access, {"/elsewhere", source.read});
        CHECK(told_by(other) == std::vector<std::string>{"spans_late", "spans_late"});
        // Not over while it is still far behind.
        backlog = {100, 1 << 10, 45s, 9, 3, "", false};
        CHECK(told_by(restarted).size() == 2);
        backlog = {};
        CHECK(told_by(restarted) == std::vector<std::string>{"spans_late", "spans_late", "spans_caught_up"});
        // The next delay makes a notice of its own.
        backlog = {1, 100, 61s, 20, 3, "", true};
        CHECK(told_by(restarted).size() == 4);
        CHECK(must(notices.list(world.admin, world.space, {}, {})).data.at(0).title == "Spans are stored late");
    });
}
