// Spans reach their watchers once they can be queried, on the real engine.
#include "telemetry/store_fixture.h"

#include <doctest/doctest.h>
#include <set>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;
using namespace std::chrono_literals;

namespace {

// Watches until it is destroyed, and collects what it gets. What it collects into outlives it: a call of the tail's
// thread may be under way.
class Seen {
public:
    Seen(std::string project, std::string filter = "", std::optional<int64_t> after = {})
        : m_tail(fixture().telemetry->tail()) {
        Watch watch;
        watch.project = "project_" + std::move(project);
        watch.filter = std::move(filter);
        watch.after_ns = after;
        watch.take = [got = m_got](TailBatch&& batch) {
            const Lock lock(got->mutex);
            for (const auto& row : batch.spans) got->names.push_back(row.name);
            got->dropped += batch.dropped;
            got->position = std::max(got->position, batch.position_ns);
            got->changed.notify_all();
            return true;
        };
        auto id = m_tail.watch(std::move(watch));
        REQUIRE(id.ok());
        m_id = id.value();
    }
    ~Seen() { leave(); }
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;

    void leave() { m_tail.unwatch(m_id); }
    bool wait_for(size_t count) {
        const auto until = std::chrono::steady_clock::now() + 60s;
        const Lock lock(m_got->mutex);
        while (m_got->names.size() < count)
            if (m_got->changed.wait_until(m_got->mutex, until) == std::cv_status::timeout) return false;
        return true;
    }
    std::vector<std::string> names() {
        const Lock lock(m_got->mutex);
        return m_got->names;
    }
    int64_t dropped() {
        const Lock lock(m_got->mutex);
        return m_got->dropped;
    }
    int64_t position() {
        const Lock lock(m_got->mutex);
        return m_got->position;
    }

private:
    struct Got {
        Mutex mutex;
        Condition changed;
        std::vector<std::string> names GUARDED_BY(mutex);
        int64_t dropped GUARDED_BY(mutex) = 0;
        int64_t position GUARDED_BY(mutex) = 0;
    };
    Tail& m_tail;
    std::shared_ptr<Got> m_got = std::make_shared<Got>();
    uint64_t m_id = 0;
};

void send_span(const std::string& project, std::vector<TestSpan> spans) {
    REQUIRE(fixture().send_json(project, request(spans)).status == 200);
    fixture().wait();
}

using TailNames = std::vector<std::string>;

} // namespace

TEST_CASE("a watcher sees the spans of its project that fit its filter, each once, when they can be queried") {
    fixture().store(); // the engine is up
    Seen all("tail"), failed("tail", "status = error"), other("quiet");
    send_span("tail", {{71, 1, 0, base_ns, 5, "one", "", 0}, {71, 2, 1, base_ns + 1, 5, "two", "", 2}});
    REQUIRE(all.wait_for(2));
    send_span("tail", {{72, 3, 0, base_ns, 5, "three", "", 0}});
    REQUIRE(all.wait_for(3));
    send_span("tail", {{72, 3, 0, base_ns, 5, "three", "", 0}}); // sent again: not stored, not shown
    send_span("tail", {{73, 4, 0, base_ns + 2, 5, "four", "", 2}});
    REQUIRE(all.wait_for(4));
    REQUIRE(failed.wait_for(2));
    CHECK(all.names() == TailNames{"one", "two", "three", "four"});
    CHECK(failed.names() == TailNames{"two", "four"});
    CHECK(other.names().empty());
    CHECK(all.dropped() == 0);
    all.leave();
    send_span("tail", {{74, 5, 0, base_ns, 5, "five", "", 2}});
    REQUIRE(failed.wait_for(3));
    CHECK(all.names().size() == 4);
}

TEST_CASE("who comes back gets what came in between") {
    Fixture& f = fixture();
    f.clock.jump(48h); // received times never go back: beyond those of tests that moved the clock
    Seen before("resume");
    send_span("resume", {{75, 1, 0, base_ns, 5, "seen", "", 0}});
    REQUIRE(before.wait_for(1));
    before.leave();
    f.clock.advance(10s);
    send_span("resume", {{75, 2, 0, base_ns + 1, 5, "between", "", 0}});
    Seen after("resume", "", before.position() + 5'000'000'000);
    REQUIRE(after.wait_for(1));
    send_span("resume", {{75, 3, 0, base_ns + 2, 5, "live", "", 0}});
    REQUIRE(after.wait_for(2));
    CHECK(after.names() == TailNames{"between", "live"});
    f.clock.jump(-48h);
}

TEST_CASE("a flood is counted where it does not fit") {
    Seen seen("flood");
    std::vector<TestSpan> many;
    for (uint64_t i = 0; i < 700; ++i) many.push_back({76, i + 1, 0, base_ns + static_cast<int64_t>(i), 5, "n", "", 0});
    send_span("flood", many);
    REQUIRE(seen.wait_for(Tail::most_in_batch));
    CHECK(seen.names().size() == Tail::most_in_batch);
    CHECK(seen.dropped() == 200);
}

TEST_CASE("there are only so many watchers, and a filter must be readable") {
    Tail& tail = fixture().telemetry->tail();
    const auto take = [](TailBatch&&) { return true; };
    CHECK(tail.watch({"project_crowd", "what = ", {}, take}).error().code == Code::invalid);
    std::vector<uint64_t> ids;
    while (tail.has_room()) ids.push_back(tail.watch({"project_crowd", "", {}, take}).value());
    CHECK(ids.size() <= Tail::most_watchers);
    CHECK(tail.watch({"project_crowd", "", {}, take}).error().code == Code::busy);
    tail.unwatch(ids.back());
    CHECK(tail.has_room());
    for (const uint64_t id : ids) tail.unwatch(id);
}
