// Spans reach their watchers once they can be asked for, on the real engine.
#include "telemetry/store_fixture.h"

#include <doctest/doctest.h>
#include <set>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;
using namespace std::chrono_literals;

namespace {

// Collects what a watcher gets.
class Seen {
public:
    Watch watch(std::string project, std::string filter = "", std::optional<int64_t> after = {}) {
        return {"project_" + std::move(project), std::move(filter), after, [this](TailBatch&& batch) {
                    const Lock lock(m_mutex);
                    for (const auto& row : batch.spans) m_names.push_back(row.name);
                    m_dropped += batch.dropped;
                    m_position = std::max(m_position, batch.position_ns);
                    m_changed.notify_all();
                    return true;
                }};
    }
    bool wait_for(size_t count) {
        const auto until = std::chrono::steady_clock::now() + 30s;
        const Lock lock(m_mutex);
        while (m_names.size() < count)
            if (m_changed.wait_until(m_mutex, until) == std::cv_status::timeout) return false;
        return true;
    }
    std::vector<std::string> names() {
        const Lock lock(m_mutex);
        return m_names;
    }
    int64_t dropped() {
        const Lock lock(m_mutex);
        return m_dropped;
    }
    int64_t position() {
        const Lock lock(m_mutex);
        return m_position;
    }

private:
    Mutex m_mutex;
    Condition m_changed;
    std::vector<std::string> m_names GUARDED_BY(m_mutex);
    int64_t m_dropped GUARDED_BY(m_mutex) = 0;
    int64_t m_position GUARDED_BY(m_mutex) = 0;
};

void send(const std::string& project, std::vector<TestSpan> spans) {
    REQUIRE(fixture().send_json(project, request(spans)).status == 200);
    fixture().wait();
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("a watcher sees the spans of its project that fit its filter, each once, when they can be asked for") {
    Tail& tail = fixture().telemetry->tail();
    Seen all, failed, other;
    const auto ids = {tail.watch(all.watch("tail")).value(), tail.watch(failed.watch("tail", "status = error")).value(),
                      tail.watch(other.watch("quiet")).value()};
    CHECK(tail.watch(all.watch("tail", "what = ")).error().code == Code::invalid);
    send("tail", {{71, 1, 0, base_ns, 5, "one", "", 0}, {71, 2, 1, base_ns + 1, 5, "two", "", 2}});
    REQUIRE(all.wait_for(2));
    send("tail", {{72, 3, 0, base_ns, 5, "three", "", 0}});
    REQUIRE(all.wait_for(3));
    send("tail", {{72, 3, 0, base_ns, 5, "three", "", 0}}); // sent again: not stored, not shown
    send("tail", {{73, 4, 0, base_ns + 2, 5, "four", "", 2}});
    REQUIRE(all.wait_for(4));
    REQUIRE(failed.wait_for(2));
    CHECK(all.names() == Names{"one", "two", "three", "four"});
    CHECK(failed.names() == Names{"two", "four"});
    CHECK(other.names().empty());
    CHECK(all.dropped() == 0);
    for (const auto id : ids) tail.unwatch(id);
    send("tail", {{74, 5, 0, base_ns, 5, "five", "", 0}});
    CHECK(all.names().size() == 4);
}

TEST_CASE("who comes back gets what came in between") {
    Fixture& f = fixture();
    Tail& tail = f.telemetry->tail();
    Seen before, after;
    const uint64_t id = tail.watch(before.watch("resume")).value();
    send("resume", {{75, 1, 0, base_ns, 5, "seen", "", 0}});
    REQUIRE(before.wait_for(1));
    tail.unwatch(id);
    f.clock.advance(10s);
    send("resume", {{75, 2, 0, base_ns + 1, 5, "between", "", 0}});
    const uint64_t again = tail.watch(after.watch("resume", "", before.position() + 5'000'000'000)).value();
    REQUIRE(after.wait_for(1));
    send("resume", {{75, 3, 0, base_ns + 2, 5, "live", "", 0}});
    REQUIRE(after.wait_for(2));
    CHECK(after.names() == Names{"between", "live"});
    tail.unwatch(again);
}

TEST_CASE("a flood is counted where it does not fit") {
    Tail& tail = fixture().telemetry->tail();
    Seen seen;
    const uint64_t id = tail.watch(seen.watch("flood")).value();
    std::vector<TestSpan> many;
    for (uint64_t i = 0; i < 700; ++i) many.push_back({76, i + 1, 0, base_ns + static_cast<int64_t>(i), 5, "n", "", 0});
    send("flood", many);
    REQUIRE(seen.wait_for(Tail::most_in_batch));
    CHECK(seen.names().size() == Tail::most_in_batch);
    CHECK(seen.dropped() == 200);
    tail.unwatch(id);
}

TEST_CASE("there are only so many watchers, and one who leaves makes room") {
    Tail& tail = fixture().telemetry->tail();
    Seen seen;
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < Tail::most_watchers; ++i) ids.push_back(tail.watch(seen.watch("crowd")).value());
    CHECK(tail.watch(seen.watch("crowd")).error().code == Code::busy);
    tail.unwatch(ids.back());
    ids.back() = tail.watch(seen.watch("crowd")).value();
    for (const uint64_t id : ids) tail.unwatch(id);
}
