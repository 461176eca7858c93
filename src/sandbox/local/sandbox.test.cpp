#include "base/file.h"
#include "base/testing.h"
#include "crypto/crypto.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/store.h"
#include "sandbox/image/tree.h"
#include "sandbox/image/volume.h"
#include "sandbox/local/event_tail.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"
#include "sandbox/provider/spec.h"
#include "sandbox/provider/spool.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/channel.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

struct Collector final : Auditor {
    std::vector<SandboxEvent> events;
    bool refuses = false;
    int64_t next = 0;
    Result<> record(const SandboxEvent& event, int64_t offset) override {
        if (refuses) return unavailable("no database");
        events.push_back(event);
        next = offset;
        return {};
    }
};

} // namespace

TEST_CASE("a spec is refused when a value is out of range or a path is not clean") {
    SandboxSpec spec = shell("true");
    CHECK(validate(spec).ok());
    spec.mounts.value = {{"/usr", "/opt/../etc", true}};
    CHECK_FALSE(validate(spec).ok());
    spec.mounts.value = {{"/usr", "/proc/x", true}};
    CHECK_FALSE(validate(spec).ok());
    spec.mounts.value.clear();
    spec.limits.value.pids = int64_t{0};
    CHECK_FALSE(validate(spec).ok());
    spec = shell("true");
    spec.env.value["1BAD"] = "x";
    CHECK_FALSE(validate(spec).ok());
    spec = shell("true");
    spec.root = std::string("../images");
    CHECK_FALSE(validate(spec).ok());
    spec = shell("true");
    spec.command.reset();
    CHECK_FALSE(validate(spec).ok());
}

TEST_CASE("a spec survives JSON, and unknown fields are refused") {
    SandboxSpec spec = shell("echo hi");
    spec.thread = "a thread";
    auto again = json::read<SandboxSpec>(json::write(spec));
    REQUIRE(again.ok());
    CHECK(again.value().command->argv == spec.command->argv);
    CHECK(again.value().thread == spec.thread);
    CHECK_FALSE(json::read<SandboxSpec>(R"({"privileged": true})").ok());
}

TEST_CASE("spool frames come back whole, and half a frame waits") {
    Folder folder;
    const Fd file(::open((folder.path + "/spool").c_str(), O_RDWR | O_CREAT, 0600));
    REQUIRE(append_frame(file.get(), Stream::out, from_ns(5), "hello").ok());
    REQUIRE(append_frame(file.get(), Stream::err, from_ns(6), "oh").ok());
    const std::string text = read_file(folder.path + "/spool").value();
    auto decoded = decode_frames(text);
    REQUIRE(decoded.ok());
    REQUIRE(decoded.value().frames.size() == 2);
    CHECK(decoded.value().frames[1].stream == Stream::err);
    CHECK(decoded.value().frames[1].bytes == "oh");
    decoded = decode_frames(std::string_view(text).substr(0, text.size() - 1));
    REQUIRE(decoded.ok());
    CHECK(decoded.value().frames.size() == 1);
    CHECK_FALSE(decode_frames("this is not a spool, not at all").ok());
}

TEST_CASE("a message longer than a packet arrives, with its descriptors") {
    auto pair = Channel::make_pair();
    REQUIRE(pair.ok());
    const std::string text(1 << 20, 'x');
    const int descriptor = 0;
    REQUIRE(pair.value().first.send(text, std::span(&descriptor, 1)).ok());
    auto message = pair.value().second.receive();
    REQUIRE(message.ok());
    CHECK(message.value().text == text);
    CHECK(message.value().descriptors.size() == 1);
    pair.value().first.close();
    CHECK(pair.value().second.receive().error().code == Code::unavailable);
}

TEST_CASE("a channel knows whether the other side ended before it had read everything") {
    for (const bool reads : {true, false}) {
        auto pair = Channel::make_pair();
        REQUIRE(pair.ok());
        Channel& here = pair.value().first;
        Channel& there = pair.value().second;
        REQUIRE(here.send("do this").ok());
        REQUIRE(there.send("wait").ok());
        CHECK_FALSE(here.is_unheard()); // it speaks
        CHECK(here.receive().value().text == "wait");
        if (reads) CHECK(there.receive().value().text == "do this");
        there.close();
        CHECK(here.is_unheard() == !reads);
        CHECK(here.receive().error().code == Code::unavailable);
    }
}

TEST_CASE("a deep, locked tree with links is removed and what links point to stays") {
    Folder folder;
    const std::string outside = folder.path + "/outside";
    REQUIRE(write_file(outside, "kept").ok());
    const std::string tree = folder.path + "/tree";
    REQUIRE(make_directories(tree).ok());
    const Fd start(::open(".", O_RDONLY | O_DIRECTORY));
    REQUIRE(::chdir(tree.c_str()) == 0);
    for (int i = 0; i < 3000; ++i) {
        REQUIRE(::mkdir("d", 0700) == 0);
        REQUIRE(::chdir("d") == 0);
    }
    REQUIRE(::symlink(outside.c_str(), "link") == 0);
    REQUIRE(::fchdir(start.get()) == 0);
    ::chmod((tree + "/d").c_str(), 0);
    CHECK(remove_tree(tree).ok());
    CHECK_FALSE(file_exists(tree));
    CHECK(read_file(outside).value() == "kept");
    CHECK(remove_tree(tree).ok());
}

TEST_CASE("an export takes regular files and nothing else") {
    Folder folder;
    REQUIRE(make_directories(folder.path + "/from/sub").ok());
    REQUIRE(write_file(folder.path + "/from/sub/file", "content").ok());
    REQUIRE(::symlink("/etc/passwd", (folder.path + "/from/link").c_str()) == 0);
    REQUIRE(::symlink("/etc", (folder.path + "/from/folder").c_str()) == 0);
    REQUIRE(::mkfifo((folder.path + "/from/pipe").c_str(), 0600) == 0);
    const Fd from(::open((folder.path + "/from").c_str(), O_RDONLY | O_DIRECTORY));
    auto report = export_tree(from.get(), folder.path + "/to", ExportLimits());
    REQUIRE(report.ok());
    CHECK(report.value().files == 1);
    CHECK(report.value().skipped == 3);
    CHECK(read_file(folder.path + "/to/sub/file").value() == "content");
    CHECK_FALSE(file_exists(folder.path + "/to/link"));
}

TEST_CASE("events are drained once, in order, and a half-written line waits") {
    Folder folder;
    const std::string path = folder.path + "/audit.jsonl";
    SandboxEvent event;
    event.sandbox = make_id<SandboxTag>(SystemClock());
    event.kind = EventKind::start;
    REQUIRE(append_event(path, event).ok());
    Collector collector;
    auto offset = drain_events(path, 0, collector);
    REQUIRE(offset.ok());
    CHECK(collector.events.size() == 1);
    CHECK(collector.next == offset.value());
    Collector broken;
    broken.refuses = true;
    CHECK(drain_events(path, 0, broken).error().code == Code::unavailable); // given again the next time
    const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND));
    REQUIRE(write_all(file.get(), "{\"time\":").ok());
    auto later = drain_events(path, offset.value(), collector);
    REQUIRE(later.ok());
    CHECK(later.value() == offset.value());
    CHECK(collector.events.size() == 1);
}

TEST_CASE("a large log of events is moved away, and no event is lost or given twice") {
    Folder folder;
    const std::string path = folder.path + "/audit.jsonl";
    SandboxEvent event;
    event.kind = EventKind::start;
    const auto append = [&] {
        event.sandbox = make_id<SandboxTag>(SystemClock());
        REQUIRE(append_event(path, event).ok());
    };
    Collector collector;
    EventTail tail(folder.path, 200);
    REQUIRE(tail.step(collector).ok()); // there is none yet
    append();
    REQUIRE(tail.step(collector).ok());
    CHECK_FALSE(file_exists(folder.path + "/audit.old.jsonl"));
    while (read_file(path).value().size() < 200) append();
    const size_t written = collector.events.size();
    {
        const Fd writer(::open(path.c_str(), O_WRONLY));
        REQUIRE(::flock(writer.get(), LOCK_SH) == 0);
        REQUIRE(tail.step(collector).ok());
        CHECK(file_exists(path)); // not under the hands of one who writes
    }
    CHECK(collector.events.size() > written);
    REQUIRE(tail.step(collector).ok());
    CHECK_FALSE(file_exists(path));
    const size_t before = collector.events.size();
    REQUIRE(tail.step(collector).ok());
    append();
    append();
    REQUIRE(tail.step(collector).ok());
    CHECK(collector.events.size() == before + 2);
    EventTail again(folder.path, 200); // another server
    REQUIRE(again.step(collector).ok());
    CHECK(collector.events.size() == before + 2);
}

TEST_CASE("a log that was moved just before a crash is not mistaken for the new one") {
    Folder folder;
    const std::string path = folder.path + "/audit.jsonl";
    SandboxEvent event;
    event.kind = EventKind::start;
    event.sandbox = make_id<SandboxTag>(SystemClock());
    REQUIRE(append_event(path, event).ok());
    Collector collector;
    {
        EventTail tail(folder.path, 1 << 20);
        REQUIRE(tail.step(collector).ok());
    }
    REQUIRE(::rename(path.c_str(), (folder.path + "/audit.old.jsonl").c_str()) == 0);
    for (int i = 0; i < 3; ++i) REQUIRE(append_event(path, event).ok()); // longer than what was read of the old one
    EventTail tail(folder.path, 1 << 20);
    REQUIRE(tail.step(collector).ok());
    CHECK(collector.events.size() == 4);
}

TEST_CASE("the stored offset is never ahead of the log, and a log that lost its end is read from its begin") {
    Folder folder;
    const std::string path = folder.path + "/audit.jsonl";
    const auto stored = [&] {
        const auto text = read_file(folder.path + "/audit.offset");
        return text.ok() ? std::stoll(text.value()) : 0;
    };
    class Refusing final : public Auditor {
    public:
        explicit Refusing(std::function<void(int64_t)> check) : m_check(std::move(check)) {}
        Result<> record(const SandboxEvent&, int64_t next) override {
            m_check(next);
            if (++events == refused) return unavailable("not this one");
            return {};
        }
        int events = 0;
        int refused = 0;

    private:
        std::function<void(int64_t)> m_check;
    };
    Refusing auditor([&](int64_t next) {
        CHECK(stored() < next); // not before it is recorded
        CHECK(next <= static_cast<int64_t>(read_file(path).value().size()));
    });
    SandboxEvent event;
    event.kind = EventKind::start;
    event.sandbox = make_id<SandboxTag>(SystemClock());
    event.time = from_ns(1'772'000'000'000'000'000); // so that the lines are equally long
    for (int i = 0; i < 4; ++i) REQUIRE(append_event(path, event).ok());
    const auto size = static_cast<int64_t>(read_file(path).value().size());
    EventTail tail(folder.path);
    auditor.refused = 3;
    CHECK_FALSE(tail.step(auditor).ok());
    CHECK(stored() == size / 2);
    auditor.refused = 0;
    const Fd half(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    REQUIRE(write_all(half.get(), "{\"time\":").ok()); // a line that is still being written
    REQUIRE(tail.step(auditor).ok());
    CHECK(stored() == size);
    CHECK(auditor.events == 5);
    REQUIRE(::truncate(path.c_str(), size / 4) == 0); // what a power failure can leave
    Collector collector;
    EventTail again(folder.path);
    REQUIRE(again.step(collector).ok());
    CHECK(collector.events.size() == 1);
    CHECK(stored() == size / 4);
}

TEST_CASE("an offset without a file's number is one of the log that is there") {
    Folder folder;
    SandboxEvent event;
    event.kind = EventKind::start;
    event.sandbox = make_id<SandboxTag>(SystemClock());
    const std::string path = folder.path + "/audit.jsonl";
    REQUIRE(append_event(path, event).ok());
    REQUIRE(write_file(folder.path + "/audit.offset", std::to_string(read_file(path).value().size()) + "\n").ok());
    REQUIRE(append_event(path, event).ok());
    Collector collector;
    EventTail tail(folder.path);
    REQUIRE(tail.step(collector).ok());
    CHECK(collector.events.size() == 1);
}

TEST_CASE("a sandbox runs commands, streams, freezes, is attached to again and leaves nothing") {
    Folder folder;
    auto provider = open_provider(folder);
    SandboxSpec spec;
    spec.keep = true;
    spec.detached = true;
    spec.network = NetworkMode::broker;
    auto started = start(*provider, spec);
    const SandboxId id = started->id();
    CHECK(started->listeners().value().size() == 2);

    Command echo;
    echo.argv = {"/bin/cat"};
    echo.open_stdin = true;
    const int64_t number = started->execute(echo).value();
    {
        const Fd input = std::move(started->input(number)).value();
        REQUIRE(write_all(input.get(), "through the pipe").ok());
    }
    // Another server: the first one's connections and its spawner are gone, the sandbox is not.
    started.reset();
    provider.reset();
    provider = open_provider(folder);
    auto again = provider->attach(id);
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    Sandbox& sandbox = *again.value();
    REQUIRE(sandbox.close_input(number).ok());
    CHECK(read_all(sandbox, number) == "through the pipe");
    CHECK(sandbox.wait(number).value().exit_code == 0);

    Command terminal;
    terminal.argv = {"/bin/sh", "-c", "tty; stty size"};
    terminal.pty = true;
    terminal.rows = int64_t{33};
    terminal.columns = int64_t{77};
    CHECK(read_all(sandbox, sandbox.execute(terminal).value()) == "/dev/pts/0\r\n33 77\r\n");

    if (provider->capabilities().freeze && ::geteuid() == 0) {
        CHECK(sandbox.freeze().ok());
        CHECK(sandbox.view().value().state == State::frozen);
        CHECK(sandbox.execute(echo).error().code == Code::conflict);
        CHECK(sandbox.thaw().ok());
    } else {
        skip_test("its part about freezing needs root and a cgroup");
    }
    Command missing;
    missing.argv = {"/no/such/program"};
    const int64_t failed = sandbox.execute(missing).value();
    CHECK(sandbox.wait(failed).value().error.has_value());

    CHECK(sandbox.destroy().ok());
    CHECK(provider->destroy(id).ok()); // a second time is fine
    CHECK(provider->list().value().empty());
    CHECK(Store::open(folder.path).value().sandboxes().empty());
}

TEST_CASE("a slow reader makes the command wait when the spec requires it") {
    Folder folder;
    const auto provider = open_provider(folder);
    SandboxSpec spec = shell("yes 0123456789 | head -c 3000000");
    spec.limits.value.output_window_bytes = int64_t{100'000};
    const auto sandbox = start(*provider, spec);
    // Not a byte was taken, so it cannot have ended.
    CHECK(sandbox->wait(0, 300).error().code == Code::busy);
    CHECK(read_all(*sandbox, 0).size() == 3'000'000);
    CHECK(sandbox->destroy().ok());
}

TEST_CASE("a direct stdout is a pipe to its reader, and is not stored") {
    Folder folder;
    const auto provider = open_provider(folder);
    SandboxSpec spec = shell("echo aside >&2; yes 0123456789 | head -c 3000000");
    spec.command->direct_stdout = true;
    const auto sandbox = start(*provider, spec);
    CHECK(sandbox->wait(0, 100).error().code == Code::busy); // nobody reads
    auto pipe = sandbox->stdout_pipe(0);
    REQUIRE_MESSAGE(pipe.ok(), pipe.error().message);
    CHECK(sandbox->stdout_pipe(0).error().code == Code::conflict);
    int64_t bytes = 0;
    char buffer[1 << 16];
    for (ssize_t count; (count = ::read(pipe.value().get(), buffer, sizeof buffer)) > 0;) bytes += count;
    CHECK(bytes == 3'000'000);
    CHECK(sandbox->wait(0).value().exit_code == 0);
    CHECK(sandbox->wait(0).value().output_bytes == 6);
    CHECK(read_all(*sandbox, 0).size() == 6);
    CHECK(sandbox->destroy().ok());
}

TEST_CASE("a layer is built once and a thread can be forked") {
    Folder folder;
    const auto provider = open_provider(folder);
    const Store store = Store::open(folder.path).value();
    Preparation preparation;
    preparation.space = "space_a";
    preparation.script = "echo prepared > /home/worker/mark";
    auto layer = prepare_layer(*provider, store, preparation);
    REQUIRE_MESSAGE(layer.ok(), layer.error().message);
    CHECK(layer.value().built);
    CHECK_FALSE(prepare_layer(*provider, store, preparation).value().built);

    SandboxSpec spec = shell("cp /home/worker/mark /workspace/mark");
    spec.layers.value = {layer.value().key};
    spec.thread = "one";
    spec.limits.value.disk_bytes = int64_t{16} << 20;
    const auto sandbox = start(*provider, spec);
    REQUIRE(sandbox->wait_stopped().ok());
    REQUIRE(sandbox->destroy().ok());
    const Volumes volumes(store, ::geteuid() == 0);
    CHECK(volumes.fork("one", "two").ok());
    CHECK(volumes.fork("one", "two").error().code == Code::conflict);
    auto exported = volumes.export_files("two", folder.path + "/out", ExportLimits());
    REQUIRE_MESSAGE(exported.ok(), exported.error().message);
    CHECK(read_file(folder.path + "/out/mark").value() == "prepared\n");
    CHECK(collect_layers(store, SystemClock().now() + std::chrono::hours(1), 0).value().removed == 1);
}
