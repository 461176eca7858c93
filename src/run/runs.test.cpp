#include "run/runs.h"
#include "access/testing.h"
#include "base/file.h"
#include "run/run_store.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <set>

using namespace hone;
using namespace hone::run;
using namespace hone::access::testing;
using access::Caller;
using access::Project;
using access::Role;
using harness::EventKind;

namespace {

class AnySkills final : public SettingsCheck {
public:
    Result<> check(const Caller&, const access::SpaceId&, const Settings& settings) override {
        for (const auto& skill : settings.skills.value)
            if (skill == "skl_gone") return invalid("skill skl_gone not found");
        return {};
    }
};

class Noted final : public RunListener {
public:
    void run_changed(const RunId& run) override { seen.insert(run.text()); }
    std::set<std::string> seen;
};

struct Shop {
    explicit Shop(World& given)
        : world(given),
          transcript(given.database, given.clock),
          presets(given.database, given.clock, given.access.audit, skills),
          runs(given.database, given.clock, given.access, presets, skills, transcript) {
        runs.set_listener(listener);
        project = world.add_project(world.admin, world.space, "shop");
    }
    Run start(const Caller& caller, const std::string& prompt = "look at the errors") {
        return must(runs.start(caller, world.space, {.project = "shop", .prompt = prompt, .settings = settings()}));
    }
    static Settings settings() {
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/cat"};
        return settings;
    }
    // Sets a state without the moves that lead to it.
    void force(const RunId& id, State state) {
        must(world.database.execute("UPDATE runs SET state = ?, ended_at = ? WHERE id = ?", name_of(state),
                                    is_over(state) ? std::optional(world.clock.now()) : std::nullopt, id));
    }

    World& world;
    AnySkills skills;
    Noted listener;
    Transcript transcript;
    Presets presets;
    Runs runs;
    Project project;
};

} // namespace

TEST_CASE("every state can be reached and left, and only by legal moves") {
    std::set<State> reached{State::queued};
    for (const Move& move : legal_moves()) {
        CHECK(may_move(move.from, move.to));
        CHECK(move.from != move.to);
        CHECK_FALSE(move.when.empty());
        reached.insert(move.to);
    }
    CHECK(reached.size() == enum_names(State{}).size());
    CHECK_FALSE(may_move(State::queued, State::running));
    CHECK_FALSE(may_move(State::succeeded, State::running));
    // The drawing in the documents is the table.
    const auto document = read_file(HONE_SOURCE_DIR "/docs/life-of-a-run.md");
    REQUIRE(document.ok());
    CHECK(document.value().find(draw_moves()) != std::string::npos);
}

TEST_CASE("one statement changes the state of a run") {
    std::vector<std::string> places;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HONE_SOURCE_DIR "/src")) {
        const std::string name = entry.path().string();
        if (!name.ends_with(".cpp") || name.ends_with(".test.cpp")) continue;
        const auto text = read_file(name);
        REQUIRE(text.ok());
        constexpr std::string_view update = "UPDATE runs SET";
        for (size_t at = text.value().find(update); at != std::string::npos; at = text.value().find(update, at + 1)) {
            const std::string columns = text.value().substr(at, text.value().find("WHERE", at) - at);
            if (columns.find(" state = ") != std::string::npos) places.push_back(entry.path().filename().string());
        }
    }
    CHECK(places == std::vector<std::string>{"state_change.cpp"});
}

TEST_CASE("settings: what is wrong is named") {
    Settings good = Shop::settings();
    CHECK(outcome(validate(good)) == "ok");
    const auto refused = [&](auto change) {
        Settings bad = good;
        change(bad);
        const auto result = validate(bad);
        REQUIRE_FALSE(result.ok());
        return result.error().message;
    };
    CHECK(refused([](Settings& s) { s.harness = "emacs"; }).find("claude-code") != std::string::npos);
    CHECK(refused([](Settings& s) {
              s.harness = "codex";
              s.command.value.clear();
          }).starts_with("harness codex needs a model: "));
    CHECK(refused([](Settings& s) { s.command.value.clear(); }).find("program") != std::string::npos);
    CHECK(refused([](Settings& s) { s.sandbox.value.memory_bytes = int64_t{1}; }).starts_with("sandbox.memory_bytes"));
    CHECK(refused([](Settings& s) { s.sandbox.value.env.value["1X"] = "y"; }).find("1X") != std::string::npos);
    CHECK(refused([](Settings& s) { s.sandbox.value.allow_hosts.value = {"http://x"}; }).find("not a host") !=
          std::string::npos);
    CHECK(refused([](Settings& s) { s.sandbox.value.allow_hosts.value = {"*.com"}; }).find("not a host") !=
          std::string::npos);
    CHECK(refused([](Settings& s) { s.repos.value = {{"https://x:y@host/r"}}; }).find("skill") != std::string::npos);
    CHECK(refused([](Settings& s) { s.repos.value = {{"ext::sh -c x"}}; }).find("https") != std::string::npos);
    CHECK(refused([](Settings& s) { s.system_prompt = std::string(100'001, 'x'); }).find("100000") !=
          std::string::npos);
}

TEST_CASE("a prompt that seems to hold a secret is refused with advice") {
    const std::string token = "ghp_" + std::string(36, 'a');
    const auto refused = check_prompt("prompt", "use " + token + " please");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("skill") != std::string::npos);
    CHECK(refused.error().message.find(token) == std::string::npos);
    CHECK(check_prompt("prompt", "ghp_short and sk-123 and my-sk-not-a-key").ok());
    CHECK_FALSE(check_prompt("prompt", "-----BEGIN OPENSSH PRIVATE KEY-----").ok());
    CHECK_FALSE(check_prompt("prompt", std::string("a\0b", 3)).ok());
    CHECK_FALSE(check_prompt("prompt", "\xff").ok());
}

TEST_CASE("text of a transcript cannot move the reader's eye or terminal") {
    CHECK(harmless("plain ü 漢\n\ttext") == "plain ü 漢\n\ttext");
    CHECK(harmless("\x1b[2J") == "\u241b[2J");
    CHECK(harmless("a\u202eb") == "a\\u{202e}b");
    CHECK(harmless("\xff\xfe") == "\ufffd\ufffd");
    CHECK(harmless(std::string("\0\x7f\r", 3)) == "\u2400\u2421\u240d");
    CHECK(harmless("\u0085") == "\\u{0085}");
    CHECK(harmless("\U000E0041") == "\\u{e0041}");
}

TEST_CASE("presets: versions, differences, names, who may") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Caller viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(shop.presets.create(viewer, world.space, "p", "", Shop::settings())) == "forbidden");
        const Preset made = must(shop.presets.create(world.admin, world.space, "p", "first", Shop::settings()));
        CHECK(made.version == 1);
        CHECK(outcome(shop.presets.create(world.admin, world.space, "p", "", Shop::settings())) == "conflict");
        // The same settings make no version, others do.
        CHECK(must(shop.presets.update(world.admin, world.space, "p", {}, "better words", Shop::settings())).version ==
              1);
        Settings more = Shop::settings();
        more.sandbox.value.cpus = 4.0;
        more.skills.value = {"skl_x"};
        CHECK(must(shop.presets.update(world.admin, world.space, "p", "q", {}, more)).version == 2);
        CHECK(outcome(shop.presets.find(viewer, world.space, "p")) == "not_found");
        CHECK(must(shop.presets.find(viewer, world.space, "q")).settings.sandbox.value.cpus == 4.0);
        const auto versions = must(shop.presets.versions(viewer, world.space, "q"));
        REQUIRE(versions.size() == 2);
        REQUIRE(versions[0].changed.size() == 2);
        CHECK(versions[0].changed[0].find("skills") != std::string::npos);
        CHECK(versions[0].changed[1].find("sandbox.cpus: 2") != std::string::npos);
        CHECK(must(shop.presets.using_skill("skl_x")).front().name == "q");
        CHECK(must(shop.presets.using_skill("skl_")).empty());
        more.skills.value = {"skl_gone"};
        CHECK(outcome(shop.presets.update(world.admin, world.space, "q", {}, {}, more)) == "invalid");
        const auto stranger_space = world.add_space("other");
        CHECK(outcome(shop.presets.find(world.admin, stranger_space, made.id.text())) == "not_found");
        must(shop.presets.remove(world.admin, world.space, "q"));
        CHECK(must(shop.presets.list(world.admin, world.space, {})).data.empty());
    });
}

TEST_CASE("a session is started, seen, talked to and cancelled by those who may") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        const Caller viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        const Run run = shop.start(member, "first line\nsecond");
        CHECK(run.state == State::queued);
        CHECK(run.title == "first line");
        CHECK(run.started_by == "member@example.com");
        CHECK(run.takes_follow_ups);
        CHECK(shop.listener.seen.count(run.id.text()) == 1);
        CHECK(outcome(shop.runs.start(viewer, world.space,
                                      {.project = "shop", .prompt = "x", .settings = Shop::settings()})) ==
              "forbidden");
        CHECK(outcome(shop.runs.find(viewer, run.id)) == "ok");
        CHECK(outcome(shop.runs.cancel(viewer, run.id)) == "forbidden");
        CHECK(outcome(shop.runs.send_message(viewer, run.id, "hello")) == "forbidden");
        CHECK(outcome(shop.runs.find(World::guest(), run.id)) == "unauthorized");
        // A stranger does not learn that it exists.
        const Caller stranger = world.join(world.add_space("other"), "stranger@example.com", Role::owner);
        CHECK(outcome(shop.runs.find(stranger, run.id)) == "not_found");
        CHECK(outcome(shop.runs.events(stranger, run.id, 0, 10)) == "not_found");
        CHECK(outcome(shop.runs.rerun(stranger, run.id, {})) == "not_found");

        must(shop.runs.send_message(member, run.id, "and then this"));
        const auto events = must(shop.runs.events(viewer, run.id, 0, 10));
        REQUIRE(events.size() == 2);
        CHECK(events[0].kind == EventKind::follow_up);
        CHECK(events[1].text == "and then this");
        CHECK(events[1].author == "member@example.com");
        CHECK(outcome(shop.runs.interrupt(member, run.id)) == "conflict");
        CHECK(must(shop.runs.cancel(member, run.id)).state == State::cancelled);
        CHECK(outcome(shop.runs.cancel(member, run.id)) == "conflict");
        // A follow-up wakes it; once its workspace has expired nothing does.
        CHECK(must(shop.runs.send_message(member, run.id, "go on")).state == State::queued);
        shop.force(run.id, State::succeeded);
        must(
            world.database.execute("UPDATE runs SET workspace_removed_at = ? WHERE id = ?", world.clock.now(), run.id));
        CHECK_FALSE(must(shop.runs.find(viewer, run.id)).takes_follow_ups);
        CHECK(outcome(shop.runs.send_message(member, run.id, "go on")) == "conflict");
        CHECK(outcome(shop.runs.fork(member, run.id, "go on")) == "conflict");
        CHECK(must(shop.runs.rerun(member, run.id, {})).from_run == run.id);
    });
}

TEST_CASE("a rerun is pinned to commits, versions and data, unless the latest ones are wanted") {
    for_each_world([](World& world) {
        Shop shop(world);
        Settings settings = Shop::settings();
        settings.harness = "codex"; // an agent; a program would get its input unchanged
        settings.model = std::string("gpt-5");
        settings.command.value.clear();
        settings.repos.value.push_back({.url = "https://git.example.com/shop", .ref = std::string("main")});
        const Run first = must(
            shop.runs.start(world.admin, world.space, {.project = "shop", .prompt = "look", .settings = settings}));
        const Time began = world.clock.now();
        Manifest manifest = must(shop.runs.manifest(world.admin, first.id));
        CHECK(manifest.data_to == began); // the data window ends with the start
        manifest.tier = std::string("ns");
        manifest.harness_version = std::string("1.2.3");
        manifest.skills = std::vector<std::string>{"skl_a@3"};
        manifest.repos = std::vector<ClonedRepo>{{"https://git.example.com/shop", "abc123"}};
        must(world.database.execute("UPDATE runs SET manifest = ? WHERE id = ?", json::write(manifest), first.id));
        shop.force(first.id, State::succeeded);
        world.clock.advance(std::chrono::hours(1));
        const Run again = must(shop.runs.rerun(world.admin, first.id, {}));
        const Manifest pinned = must(shop.runs.manifest(world.admin, again.id));
        REQUIRE(pinned.pins.has_value());
        CHECK(*pinned.pins->harness_version == "1.2.3");
        CHECK(*pinned.pins->skills == std::vector<std::string>{"skl_a@3"});
        CHECK(*pinned.settings.repos.value.front().ref == "abc123");
        CHECK(pinned.data_to == began);
        CHECK(pinned.prompt == "look");
        CHECK(must(shop.runs.events(world.admin, again.id, 0, 1)).front().text.find("Use only data until") !=
              std::string::npos);
        const Run latest = must(shop.runs.rerun(world.admin, first.id, {}, Runs::Versions::latest));
        const Manifest free = must(shop.runs.manifest(world.admin, latest.id));
        CHECK_FALSE(free.pins.has_value());
        CHECK(*free.settings.repos.value.front().ref == "main");
        CHECK(free.data_to == world.clock.now());
    });
}

TEST_CASE("a rerun of a program states the window of the data exactly if its first run did") {
    for_each_world([](World& world) {
        Shop shop(world);
        const auto text = [&](const Run& run) {
            return must(shop.runs.events(world.admin, run.id, 0, 1)).front().text;
        };
        const auto rerun = [&](std::optional<Time> from, std::optional<Time> to) {
            const Run first = must(shop.runs.start(
                world.admin, world.space,
                {.project = "shop", .prompt = "look", .settings = Shop::settings(), .data_from = from, .data_to = to}));
            shop.force(first.id, State::succeeded);
            return text(must(shop.runs.rerun(world.admin, first.id, {})));
        };
        REQUIRE(Shop::settings().harness == "command");
        const Time now = world.clock.now();
        CHECK(rerun({}, {}) == "look");
        CHECK(rerun({}, now).starts_with("look\n\nUse only data until 2026"));
        CHECK(rerun(now - std::chrono::hours(1), {}).starts_with("look\n\nUse only data from 2026"));
        // A run from before this was stored had a window if it had a beginning.
        const Run old = must(shop.runs.start(world.admin, world.space,
                                             {.project = "shop", .prompt = "look", .settings = Shop::settings()}));
        Manifest manifest = must(shop.runs.manifest(world.admin, old.id));
        manifest.has_window.reset();
        must(world.database.execute("UPDATE runs SET manifest = ? WHERE id = ?", json::write(manifest), old.id));
        shop.force(old.id, State::succeeded);
        CHECK(text(must(shop.runs.rerun(world.admin, old.id, {}))) == "look");
    });
}

TEST_CASE("runs are found by harness, person, title, cost and time") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Run cheap = shop.start(world.admin, "100% of refunds");
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        world.clock.advance(std::chrono::hours(1));
        const Run costly = shop.start(member, "why");
        must(world.database.execute("UPDATE runs SET cost_micro_usd = 5000000 WHERE id = ?", costly.id));
        const auto found = [&](const RunFilter& filter) {
            std::string ids;
            for (const Run& run : must(shop.runs.list(world.admin, world.space, filter, {})).data)
                ids += run.id == cheap.id ? "cheap " : "costly ";
            return ids;
        };
        CHECK(found({}) == "costly cheap ");
        CHECK(found({.before = costly.created_at}) == "cheap ");
        CHECK(found({.harness = "codex"}) == "");
        CHECK(found({.harness = "command"}) == "costly cheap ");
        CHECK(found({.person = "member@example.com"}) == "costly ");
        CHECK(found({.title = "OF ref"}) == "cheap ");
        CHECK(found({.title = "100%"}) == "cheap ");
        CHECK(found({.title = "%"}) == "cheap ");
        CHECK(found({.cost_from = 1}) == "costly ");
        CHECK(found({.cost_to = 1}) == "");
        must(shop.runs.update(world.admin, cheap.id, {.title = "renamed"}));
        CHECK(found({.title = "renam"}) == "cheap ");
        CHECK(outcome(shop.runs.update(world.admin, cheap.id, {.title = ""})) == "invalid");
    });
}

TEST_CASE("a run of a restricted project is seen by those who are bound to it") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        const Project hidden = world.add_project(world.admin, world.space, "hidden", true);
        must(world.access.projects.bind(world.admin, hidden.id, world.admin.user.text(), Role::owner));
        const Run run = must(shop.runs.start(world.admin, world.space,
                                             {.project = "hidden", .prompt = "x", .settings = Shop::settings()}));
        shop.start(world.admin);
        CHECK(outcome(shop.runs.find(member, run.id)) == "not_found");
        CHECK(must(shop.runs.list(member, world.space, {}, {})).data.size() == 1);
        CHECK(must(shop.runs.list(world.admin, world.space, {}, {})).data.size() == 2);
        CHECK(outcome(shop.runs.list(member, world.space, {.project = "hidden"}, {})) == "not_found");
        must(world.access.projects.bind(world.admin, hidden.id, member.user.text(), Role::viewer));
        CHECK(must(shop.runs.list(member, world.space, {}, {})).data.size() == 2);
        CHECK(outcome(shop.runs.send_message(member, run.id, "hello")) == "forbidden");
        CHECK(outcome(shop.runs.fork(member, run.id, "hello")) == "forbidden");
    });
}

TEST_CASE("a follow-up needs the right to read the project, and ends the use of keys of the starter alone") {
    for_each_world([](World& world) {
        Shop shop(world);
        RunStore store(world.database, world.clock, shop.transcript);
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        const Run run = shop.start(world.admin);
        const auto key = must(world.access.keys.create(world.admin, world.space,
                                                       {.name = "talker", .scopes = {"run_start", "run_read"}}));
        const Caller talker = world.with_key(*key.key);
        CHECK(outcome(shop.runs.find(talker, run.id)) == "ok");
        CHECK(outcome(shop.runs.send_message(talker, run.id, "read it to me")) != "ok");
        must(shop.runs.send_message(world.admin, run.id, "go on"));
        CHECK_FALSE(must(store.is_shared(run.id)));
        shop.force(run.id, State::succeeded);
        CHECK(outcome(shop.runs.fork(talker, run.id, "read it to me")) != "ok");
        CHECK_FALSE(must(store.is_shared(must(shop.runs.fork(world.admin, run.id, "other way")).id)));
        CHECK(must(store.is_shared(must(shop.runs.fork(member, run.id, "other way")).id)));

        must(shop.runs.send_message(member, run.id, "read it to me"));
        CHECK(must(store.is_shared(run.id)));
        must(shop.runs.send_message(world.admin, run.id, "go on")); // the other's message is still there
        CHECK(must(store.is_shared(run.id)));
        shop.force(run.id, State::succeeded);
        CHECK(must(store.is_shared(must(shop.runs.fork(world.admin, run.id, "third way")).id)));
    });
}

TEST_CASE("runs are listed newest first, in pages, by state and project") {
    for_each_world([](World& world) {
        Shop shop(world);
        std::vector<std::string> ids;
        for (int i = 0; i < 5; ++i) ids.push_back(shop.start(world.admin, "prompt " + std::to_string(i)).id.text());
        auto page = must(shop.runs.list(world.admin, world.space, {}, {.limit = 2, .cursor = {}}));
        CHECK(page.data[0].id.text() == ids[4]);
        page = must(shop.runs.list(world.admin, world.space, {}, {.limit = 10, .cursor = page.next_cursor}));
        CHECK(page.data.size() == 3);
        CHECK(page.data[2].id.text() == ids[0]);
        shop.force(RunId(ids[1]), State::failed);
        CHECK(must(shop.runs.list(world.admin, world.space, {.states = {State::failed}}, {})).data.size() == 1);
        CHECK(must(shop.runs.list(world.admin, world.space, {.project = "shop", .origin = Origin::automation}, {}))
                  .data.empty());
    });
}

TEST_CASE("a place goes to the highest priority, then to the oldest, and each space has places of its own") {
    for_each_world([](World& world) {
        Shop shop(world);
        RunStore store(world.database, world.clock, shop.transcript);
        const auto start = [&](const access::SpaceId& space, int64_t priority) {
            world.clock.advance(std::chrono::seconds(1));
            StartRun wanted{.project = "shop", .prompt = "look", .settings = Shop::settings()};
            wanted.priority = priority;
            return must(shop.runs.start(world.admin, space, wanted)).id;
        };
        const auto claim = [&] { return must(store.claim("server", {.all = 4, .per_space = 2})); };
        const RunId old = start(world.space, 0), late = start(world.space, 0);
        const RunId urgent = start(world.space, 5), whenever = start(world.space, -5);
        const access::SpaceId other = world.add_space("other");
        world.add_project(world.admin, other, "shop");
        const RunId theirs = start(other, -10);
        CHECK(claim() == urgent);
        CHECK(claim() == old);
        CHECK(claim() == theirs); // the first space has no place left
        CHECK_FALSE(claim().has_value());
        must(store.explain_waiting({.all = 4, .per_space = 2}));
        must(store.explain_waiting({.all = 4, .per_space = 2})); // once is enough
        const auto seen = must(shop.runs.events(world.admin, late, 0, 100));
        CHECK(seen.back().text == "It waits for a place: 2 runs of this space work, and no more may.");
        CHECK(seen.size() == 2);
        CHECK(must(shop.runs.find(world.admin, whenever)).reason.starts_with("waits for a place"));
        // A session that waits for a follow-up needs no place.
        must(world.database.execute("UPDATE runs SET state = 'waiting' WHERE id = ?", urgent));
        CHECK(claim() == late);
        CHECK(must(shop.runs.find(world.admin, late)).reason.empty());
        CHECK_FALSE(claim().has_value());
        shop.force(old, State::succeeded);
        CHECK(claim() == whenever);
        CHECK(must(store.unfinished("server")).size() == 4);
        const RunId fourth = start(other, 0), fifth = start(other, 0);
        CHECK(claim() == fourth);
        CHECK_FALSE(claim().has_value());
        // The server as a whole has no place left for another space either.
        const access::SpaceId third = world.add_space("third");
        world.add_project(world.admin, third, "shop");
        start(third, 10);
        CHECK_FALSE(claim().has_value());
        CHECK_FALSE(
            shop.runs
                .start(world.admin, third,
                       {.project = "shop", .prompt = "x", .settings = Shop::settings(), .priority = int64_t{11}})
                .ok());
        CHECK(fifth != fourth);
    });
}

TEST_CASE("long texts are shown in part and kept whole up to a cap") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Run run = shop.start(world.admin);
        RunEvent output;
        output.kind = EventKind::tool_result;
        output.text = std::string(100'000, 'x');
        RunEvent huge;
        huge.kind = EventKind::message;
        huge.text = std::string(10 << 20, 'y');
        must(shop.transcript.append(run.id, {output, huge}));
        const auto events = must(shop.runs.events(world.admin, run.id, 1, 10));
        REQUIRE(events.size() == 2);
        CHECK(events[0].seq == 2);
        CHECK(events[0].text.size() == shown_text);
        CHECK(*events[0].truncated);
        CHECK(must(shop.runs.event(world.admin, run.id, 2)).text.size() == 100'000);
        CHECK_FALSE(*must(shop.runs.event(world.admin, run.id, 2)).truncated);
        CHECK(must(shop.runs.event(world.admin, run.id, 3)).text.size() == full_text);
        CHECK(*must(shop.runs.event(world.admin, run.id, 3)).truncated);
        CHECK(outcome(shop.runs.event(world.admin, run.id, 99)) == "not_found");
        CHECK(must(shop.runs.find(world.admin, run.id)).last_event == 3);
    });
}

TEST_CASE("a fork continues from the end of its session") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Run run = shop.start(world.admin);
        CHECK(outcome(shop.runs.fork(world.admin, run.id, "other way")) == "conflict"); // not over yet
        shop.force(run.id, State::succeeded);
        const Run forked = must(shop.runs.fork(world.admin, run.id, "other way"));
        CHECK(forked.from_run == run.id);
        CHECK(forked.title == "other way");
        CHECK(world.count("runs WHERE fork_of IS NOT NULL") == 1);
    });
}

TEST_CASE("a fork after an earlier turn reads the turns as text, in a new workspace") {
    for_each_world([](World& world) {
        Shop shop(world);
        RunStore store(world.database, world.clock, shop.transcript);
        const Run run = shop.start(world.admin);
        CHECK(outcome(shop.runs.fork(world.admin, run.id, "other way", 1)) == "invalid"); // it had no turn yet
        must(world.database.execute("UPDATE runs SET turns = 2, state = 'running' WHERE id = ?", run.id));
        RunEvent said;
        said.kind = harness::EventKind::message;
        said.turn = 1;
        said.text = "It was a timeout.";
        must(shop.transcript.append(run.id, {said}));
        said.turn = 2;
        said.text = "And a late one.";
        must(shop.transcript.append(run.id, {said}));
        for (const int64_t turn : {0, 3, -1})
            CHECK(outcome(shop.runs.fork(world.admin, run.id, "other way", turn)) == "invalid");
        CHECK(outcome(shop.runs.fork(world.admin, run.id, "other way", 2)) == "conflict"); // the turn runs

        const Run forked = must(shop.runs.fork(world.admin, run.id, "other way", 1)); // while turn 2 runs
        CHECK(forked.from_run == run.id);
        CHECK(world.count("runs WHERE fork_of IS NOT NULL") == 0);
        const Manifest manifest = must(shop.runs.manifest(world.admin, forked.id));
        CHECK(manifest.prompt == "other way");
        REQUIRE(manifest.fork_point.has_value());
        CHECK(manifest.fork_point->run == run.id);
        CHECK(manifest.fork_point->turn == 1);
        const auto words = must(world.database.query("SELECT words FROM run_inputs WHERE run_id = ?", forked.id));
        REQUIRE(words.size() == 1);
        CHECK(words[0].text(0).find("worker: It was a timeout.") != std::string::npos);
        CHECK(words[0].text(0).find("late one") == std::string::npos);
        CHECK(words[0].text(0).ends_with("</earlier_turns>\n\nother way"));
        const auto events = must(shop.runs.events(world.admin, forked.id, 0, 10));
        REQUIRE(events.size() == 2);
        CHECK(events[0].step == "fork");
        CHECK(events[1].text == "other way");

        // A rerun of the fork has the same turns; without the first session there are none to read.
        const Run again = must(shop.runs.rerun(world.admin, forked.id, std::nullopt));
        CHECK(world.count("run_inputs WHERE run_id = '" + again.id.text() + "' AND words LIKE '%a timeout.%'") == 1);
        shop.force(run.id, State::succeeded);
        must(
            world.database.execute("UPDATE runs SET workspace_removed_at = ? WHERE id = ?", world.clock.now(), run.id));
        CHECK(outcome(shop.runs.fork(world.admin, run.id, "other way")) == "conflict"); // its workspace expired
        CHECK(outcome(shop.runs.fork(world.admin, run.id, "other way", 2)) == "ok");    // which is not needed here
        must(shop.runs.remove(world.admin, run.id));
        CHECK(outcome(shop.runs.rerun(world.admin, forked.id, std::nullopt)) == "not_found");
    });
}

TEST_CASE("a worker takes an interrupt once, a cancel every time, and learns that its run was deleted") {
    for_each_world([](World& world) {
        Shop shop(world);
        RunStore store(world.database, world.clock, shop.transcript);
        const Run run = shop.start(world.admin);
        CHECK(must(store.claim("server", {})) == run.id);
        CHECK(must(store.take_command(run.id)) == RunCommand::none);
        CHECK(outcome(shop.runs.interrupt(world.admin, run.id)) == "conflict"); // no turn is running
        must(store.harness_started(run.id, 1, State::preparing, {}));
        must(shop.runs.interrupt(world.admin, run.id));
        CHECK(must(store.take_command(run.id)) == RunCommand::interrupt);
        CHECK(must(store.take_command(run.id)) == RunCommand::none);
        CHECK_FALSE(must(store.read(run.id)).ending.has_value());
        must(store.begin_ending(run.id, State::failed, "out of memory"));
        CHECK(must(store.take_command(run.id)) == RunCommand::none);
        const auto ending = must(store.read(run.id)).ending;
        REQUIRE(ending.has_value());
        CHECK(ending->state == State::failed);
        CHECK(ending->reason == "out of memory");
        must(shop.runs.cancel(world.admin, run.id));
        must(store.begin_ending(run.id, State::failed, "later")); // a cancel stays
        CHECK(must(store.take_command(run.id)) == RunCommand::cancel);
        CHECK(must(store.take_command(run.id)) == RunCommand::cancel);
        CHECK(must(store.read(run.id)).ending->state == State::cancelled);
        CHECK(must(store.take_command(RunId("run_gone"))) == RunCommand::cancel);
    });
}

TEST_CASE("a run moves once, keeps when it ended, and a move from another state changes nothing") {
    for_each_world([](World& world) {
        Shop shop(world);
        RunStore store(world.database, world.clock, shop.transcript);
        const Run run = shop.start(world.admin);
        CHECK(outcome(store.move(run.id, State::preparing, State::failed, "x", "x")) == "conflict");
        CHECK(outcome(store.harness_started(run.id, 1, State::preparing, {})) == "conflict");
        CHECK(must(shop.runs.find(world.admin, run.id)).state == State::queued);
        world.clock.advance(std::chrono::seconds(100)); // in the queue
        CHECK(must(store.claim("server", {})) == run.id);
        world.clock.advance(std::chrono::seconds(2));
        must(store.harness_started(run.id, 1, State::preparing, {}));
        world.clock.advance(std::chrono::seconds(3));
        must(store.harness_started(run.id, 2, State::running, {})); // its next process
        CHECK(must(store.read(run.id)).sandbox_command == 2);
        CHECK(must(shop.runs.find(world.admin, run.id)).working_since.has_value());
        must(store.move(run.id, State::running, State::waiting, "", "Waiting."));
        CHECK(must(store.read(run.id)).waiting_since == world.clock.now());
        world.clock.advance(std::chrono::seconds(600)); // idle
        must(store.move(run.id, State::waiting, State::succeeded, "done", "Done."));
        const Run ended = must(shop.runs.find(world.admin, run.id));
        CHECK(ended.ended_at == world.clock.now());
        // Neither the queue nor idle time counts as work.
        CHECK(ended.worked_ns == 5'000'000'000);
        CHECK_FALSE(ended.working_since.has_value());
        CHECK(ended.reason == "done");
        CHECK_FALSE(must(store.read(run.id)).waiting_since.has_value());
        const Run again = must(shop.runs.send_message(world.admin, run.id, "go on"));
        CHECK(again.state == State::queued);
        CHECK(again.reason.empty());
        CHECK_FALSE(again.ended_at.has_value());
        // The inputs are sent again to the next sandbox, unless its harness resumes.
        CHECK(store.has_unsent_input(run.id));
    });
}

TEST_CASE("a run has the provider of its settings, a rerun another one if wanted, and lists filter by it") {
    for_each_world([](World& world) {
        Shop shop(world);
        const Run here = shop.start(world.admin);
        CHECK(here.provider == RunProvider::local);
        const Run pod =
            must(shop.runs.rerun(world.admin, here.id, {}, Runs::Versions::latest, RunProvider::kubernetes));
        CHECK(pod.provider == RunProvider::kubernetes);
        CHECK(*must(shop.runs.manifest(world.admin, pod.id)).settings.provider == RunProvider::kubernetes);
        RunFilter filter;
        filter.provider = RunProvider::kubernetes;
        const auto found = must(shop.runs.list(world.admin, world.space, filter, {}));
        REQUIRE(found.data.size() == 1);
        CHECK(found.data[0].id == pod.id);
        // What a provider lacks is refused where it is asked for.
        Settings managed;
        managed.provider = RunProvider::claude_managed;
        managed.harness = "claude-managed";
        managed.model = std::string("m");
        const StartRun wanted{.project = "shop", .prompt = "go", .settings = managed};
        const Run session = must(shop.runs.start(world.admin, world.space, wanted));
        shop.force(session.id, State::succeeded);
        CHECK(outcome(shop.runs.fork(world.admin, session.id, "go")) == "invalid");
        CHECK(outcome(shop.runs.start_for({"auto_1", "nightly"}, world.admin, world.space, wanted)) == "invalid");
    });
}
