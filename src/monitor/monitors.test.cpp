// Monitors on real databases over a series that the test draws, and once over real spans: what triggers is told once,
// also by two servers, also after a crash; mutes hold notices back, recovery is told.
#include "monitor/monitors.h"
#include "notice/testing.h"
#include "telemetry/store_fixture.h"

using namespace hone;
using namespace hone::monitor;
using namespace hone::notice::testing;
using namespace std::chrono_literals;

namespace {

// A line that the test bends: so many spans with this value in every window.
class DrawnSeries final : public SeriesSource {
public:
    Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) override {
        ++asked;
        if (broken) return unavailable("the engine is away");
        std::vector<telemetry::SeriesPoint> points;
        if (samples > 0) points.push_back({request.scope.from_ns, "", {value, static_cast<double>(samples)}});
        return points;
    }
    std::atomic<int> asked{0};
    double value = 0;
    int64_t samples = 100;
    bool broken = false;
};

class Heard final : public TransitionListener {
public:
    Result<> monitor_triggered(const Transition& transition) override {
        const std::lock_guard lock(m_mutex);
        ids.push_back(transition.id.text());
        if (fails) return unavailable("no");
        return {};
    }
    std::vector<std::string> ids;
    bool fails = false;

private:
    std::mutex m_mutex;
};

struct Room {
    explicit Room(World& made)
        : world((made.database.execute("DELETE FROM monitors").ok(), made)),
          office(made),
          monitors(made.database, made.clock, made.access, line, office.notices) {
        monitors.set_listener(heard);
        project = world.add_project(world.admin, world.space, "shop");
    }
    MonitorId add(double limit, int64_t for_seconds = 0) {
        NewMonitor wanted;
        wanted.settings.metric = telemetry::Metric::error_rate;
        wanted.project = "shop";
        wanted.name = "errors";
        wanted.settings.condition.threshold = limit;
        wanted.settings.frequency_seconds = 60;
        wanted.settings.for_seconds = for_seconds;
        return must(monitors.create(world.admin, world.space, wanted)).id;
    }
    // The next due moment with this value.
    MonitorState next(double value) {
        line.value = value;
        CHECK(must(monitors.step()) == 1);
        world.clock.advance(60s);
        return state();
    }
    MonitorState state() { return must(monitors.list(world.admin, world.space, {}, {})).data.at(0).state; }
    std::vector<std::string> told() {
        std::vector<std::string> kinds;
        for (const auto& notice : must(office.notices.list(world.admin, world.space, {}, {})).data)
            kinds.insert(kinds.begin(), std::string(name_of(notice.kind)));
        return kinds;
    }

    World& world;
    Office office;
    DrawnSeries line;
    Heard heard;
    Monitors monitors;
    access::Project project;
};

} // namespace

TEST_CASE("a monitor triggers and recovers with one notice each; its history and chart show it") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        const MonitorId id = room.add(0.1);
        CHECK(room.next(0.05) == MonitorState::healthy);
        CHECK(must(room.monitors.step()) == 1);
        CHECK(must(room.monitors.step()) == 0); // not due twice
        world.clock.advance(60s);
        CHECK(room.next(0.5) == MonitorState::triggered);
        CHECK(room.next(0.6) == MonitorState::triggered);
        CHECK(room.told() == std::vector<std::string>{"monitor_triggered"});
        CHECK(room.heard.ids.size() == 1);
        CHECK(room.next(0.01) == MonitorState::healthy);
        CHECK(room.told() == std::vector<std::string>{"monitor_triggered", "monitor_recovered"});
        CHECK(room.next(0.5) == MonitorState::triggered); // another time is another notice
        CHECK(room.heard.ids.size() == 2);
        CHECK(room.heard.ids[0] != room.heard.ids[1]);

        const auto history = must(room.monitors.history(world.admin, id, {})).data;
        std::vector<std::string> kinds;
        for (const auto& event : history) kinds.emplace_back(name_of(event.kind));
        CHECK(kinds == std::vector<std::string>{"triggered", "recovered", "triggered", "healthy", "created"});
        CHECK(history[0].value == 0.5);
        CHECK(history[0].bound == 0.1);
        CHECK(history[0].note == "error rate over 24 h is 50 %, above 10 %");
        const Chart chart = must(room.monitors.chart(world.admin, id, world.clock.now() - 1h, world.clock.now()));
        CHECK(chart.points.size() == 6);
        CHECK(chart.triggered == 2);
        const auto notices = must(room.office.notices.list(world.admin, world.space, {}, {})).data;
        CHECK(notices[0].link == "/projects/shop/monitors/" + id.text());
    });
}

TEST_CASE("no data is a separate state, and an unavailable engine is reported without a change of state") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        const MonitorId id = room.add(0.1);
        CHECK(room.next(0.5) == MonitorState::triggered);
        room.line.samples = 0;
        CHECK(room.next(0) == MonitorState::no_data);
        room.line.samples = 100;
        CHECK(room.next(0.5) == MonitorState::triggered); // the same trouble goes on: nobody is told again
        CHECK(room.told() == std::vector<std::string>{"monitor_triggered"});
        room.line.broken = true;
        CHECK(room.next(0) == MonitorState::triggered);
        CHECK(must(room.monitors.find(world.admin, id)).problem == "the engine is away");
        room.line.broken = false;
        CHECK(room.next(0.0) == MonitorState::healthy);
        CHECK(must(room.monitors.find(world.admin, id)).problem.empty());
        CHECK(room.told() == std::vector<std::string>{"monitor_triggered", "monitor_recovered"});
    });
}

TEST_CASE("a muted monitor changes its state without a notice; if it is still triggered when the mute ends, the notice "
          "is sent") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        const MonitorId id = room.add(0.1);
        MuteRequest wanted;
        wanted.seconds = 150;
        wanted.reason = "deploy";
        CHECK(must(room.monitors.mute(world.admin, id, wanted)).muted);
        CHECK(room.next(0.5) == MonitorState::triggered);
        CHECK(room.next(0.0) == MonitorState::healthy);
        CHECK(room.told().empty()); // neither that it was bad nor that it is good
        CHECK(room.next(0.5) == MonitorState::triggered);
        CHECK(room.told().empty());
        CHECK(room.next(0.5) == MonitorState::triggered); // the mute is over
        CHECK(room.told() == std::vector<std::string>{"monitor_triggered"});
        must(room.monitors.mute(world.admin, id, wanted));
        CHECK(!must(room.monitors.unmute(world.admin, id)).muted);
        CHECK(outcome(room.monitors.mute(world.admin, id, {world.clock.now() - 1s, {}, {}})) == "invalid");
    });
}

TEST_CASE("a transition that was not delivered is reported again with the same id, and there is one notice") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        room.add(0.1);
        room.heard.fails = true; // as if the server died between its change and telling
        CHECK(room.next(0.5) == MonitorState::triggered);
        room.heard.fails = false;
        must(room.monitors.step());
        must(room.monitors.step());
        CHECK(room.heard.ids.size() >= 2);
        for (const std::string& id : room.heard.ids) CHECK(id == room.heard.ids.front());
        const size_t before = room.heard.ids.size();
        world.clock.advance(60s);
        must(room.monitors.step());
        CHECK(room.heard.ids.size() == before);
        CHECK(room.told() == std::vector<std::string>{"monitor_triggered"});
    });
}

TEST_CASE("two servers on one database evaluate each scheduled time once") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        DrawnSeries other_line;
        other_line.value = 0.5;
        room.line.value = 0.5;
        Monitors other(world.database, world.clock, world.access, other_line, room.office.notices);
        other.set_listener(room.heard);
        for (int i = 0; i < 20; ++i) {
            NewMonitor wanted;
            wanted.settings.metric = telemetry::Metric::error_rate;
            wanted.project = "shop";
            wanted.name = "monitor " + std::to_string(i);
            wanted.settings.condition.threshold = 0.1;
            must(room.monitors.create(world.admin, world.space, wanted));
        }
        Result<int64_t> a = int64_t{0}, b = int64_t{0};
        std::thread one([&] { a = room.monitors.step(); });
        std::thread two([&] { b = other.step(); });
        one.join();
        two.join();
        CHECK(must(a) + must(b) == 20);
        CHECK(room.line.asked + other_line.asked == 20);
        CHECK(room.told().size() == 20);
        CHECK(world.count("monitor_values") == 20);
        CHECK(world.count("monitor_events WHERE kind = 'triggered'") == 20);
    });
}

TEST_CASE("permissions: readers see, members write, other users find nothing, restricted projects stay hidden") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        const MonitorId id = room.add(0.1);
        const auto vera = world.join(world.space, "vera@example.com", access::Role::viewer);
        const auto mark = world.join(world.space, "mark@example.com", access::Role::member);
        const auto other = world.add_space("other");
        const auto stranger = world.join(other, "sam@example.com", access::Role::admin);
        CHECK(outcome(room.monitors.find(vera, id)) == "ok");
        CHECK(outcome(room.monitors.evaluate(vera, id)) == "forbidden");
        CHECK(outcome(room.monitors.find(stranger, id)) == "not_found");
        MonitorChange change;
        change.enabled = false;
        CHECK(outcome(room.monitors.update(mark, id, change)) == "ok");
        CHECK(must(room.monitors.step()) == 0); // switched off
        CHECK(outcome(room.monitors.evaluate(mark, id)) == "ok");
        world.add_project(world.admin, world.space, "hidden", true);
        NewMonitor wanted;
        wanted.settings.metric = telemetry::Metric::error_rate;
        wanted.project = "hidden";
        wanted.name = "m";
        wanted.settings.condition.threshold = 1;
        const auto hidden = must(room.monitors.create(world.admin, world.space, wanted));
        CHECK(outcome(room.monitors.find(mark, hidden.id)) == "not_found");
        CHECK(must(room.monitors.list(mark, world.space, {}, {})).data.size() == 1);
        CHECK(outcome(room.monitors.create(world.admin, world.space, wanted)) == "conflict");
        CHECK(outcome(room.monitors.remove(vera, id)) == "forbidden");
        must(room.monitors.remove(mark, id));
        CHECK(outcome(room.monitors.find(mark, id)) == "not_found");
    });
}

TEST_CASE("old values are thinned to one an hour, then go") {
    access::testing::for_each_world([](World& world) {
        Room room(world);
        room.add(0.1);
        for (int i = 0; i < 120; ++i) room.next(0.05);
        CHECK(world.count("monitor_values") == 120);
        world.clock.advance(8 * 24h);
        must(room.monitors.sweep());
        const int64_t hourly = world.count("monitor_values");
        CHECK(hourly >= 2);
        CHECK(hourly <= 3);
        world.clock.advance(90 * 24h);
        must(room.monitors.sweep());
        CHECK(world.count("monitor_values") == 0);
    });
}

TEST_CASE("over real spans: values, groups, the window before and a replay are what was sent") {
    auto& fixture = telemetry::testing::fixture();
    class Store final : public SeriesSource {
    public:
        Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) override {
            return telemetry::testing::fixture().store().series(request);
        }
    } store;
    // Ten spans a minute for an hour; in the last ten minutes those of "refund" fail and are slow.
    std::vector<telemetry::testing::TestSpan> spans;
    const int64_t minute = 60'000'000'000;
    for (int64_t i = 0; i < 600; ++i) {
        telemetry::testing::TestSpan span;
        span.trace = span.id = static_cast<uint64_t>(i + 1);
        span.start_ns = telemetry::testing::base_ns + i / 10 * minute;
        const bool refund = i % 2 == 0;
        const bool late = i >= 500;
        span.name = refund ? "refund" : "order";
        span.status = refund && late ? 2 : 0;
        span.duration_ns = refund && late ? 900'000'000 : 100'000'000;
        spans.push_back(span);
    }
    fixture.send_json("monitored", telemetry::testing::request(spans));
    fixture.wait();
    Evaluator evaluator(store);
    const access::ProjectId project("project_monitored");
    const Time end = from_ns(telemetry::testing::base_ns + 60 * minute);
    MonitorSettings settings;
    settings.metric = telemetry::Metric::error_rate;
    settings.condition.threshold = 0.2;
    settings.window_seconds = 600;
    settings.frequency_seconds = 600;
    const Reading reading = must(evaluator.read(project, settings, end));
    CHECK(reading.samples == 100);
    CHECK(reading.value == doctest::Approx(0.5));
    CHECK(check_condition(settings, reading) == Verdict::bad);

    MonitorSettings grouped = settings;
    grouped.group_by = "name";
    grouped.metric = telemetry::Metric::latency_p50;
    grouped.condition.threshold = 500; // milliseconds
    const Reading worst = must(evaluator.read(project, grouped, end));
    CHECK(worst.group == "refund");
    CHECK(worst.value == doctest::Approx(900));

    MonitorSettings change = settings;
    change.condition.type = ConditionType::change;
    change.metric = telemetry::Metric::latency_mean;
    change.condition.threshold = 2;
    const Reading changed = must(evaluator.read(project, change, end));
    CHECK(changed.usual == doctest::Approx(100));
    CHECK(changed.value == doctest::Approx(500));
    CHECK(check_condition(change, changed) == Verdict::bad);

    const Chart chart = must(evaluator.replay(project, settings, end - 1h, end));
    CHECK(chart.points.size() == 7);
    CHECK(chart.triggered == 1);
    CHECK(chart.points.back().state == MonitorState::triggered);
    settings.filter.value = "name = \"order\"";
    CHECK(must(evaluator.replay(project, settings, end - 1h, end)).triggered == 0);
}
