#include "kubernetes/link/link.h"

#include "base/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::kubernetes;

namespace {

using Kind = LinkEvent::Kind;

Link server_link(int64_t epoch = 1, const std::string& session = "session-1") {
    return Link({LinkSide::server, "sbx_1", epoch, session, ""});
}
Link pod_link(const std::string& boot = "boot-1") {
    return Link({LinkSide::pod, "sbx_1", 0, "", boot});
}

void connect(Link& server, Link& pod) {
    server.connected();
    pod.connected();
}

// Everything that both want to send reaches the other.
void exchange(Link& server, Link& pod) {
    for (;;) {
        const std::string there = server.take_output(1 << 20);
        if (!there.empty()) REQUIRE(pod.feed(there).ok());
        const std::string back = pod.take_output(1 << 20);
        if (!back.empty()) REQUIRE(server.feed(back).ok());
        if (there.empty() && back.empty()) return;
    }
}

// "opened 2, readable 2"
std::string events_of(Link& link) {
    constexpr const char* names[] = {"greeted", "opened", "readable", "writable", "ended", "reset"};
    std::string text;
    for (const LinkEvent& event : link.take_events())
        text += (text.empty() ? "" : ", ") + std::string(names[static_cast<int>(event.kind)]) + " " +
                std::to_string(event.stream);
    return text;
}

bool is_fed(Link& link, std::string_view bytes) {
    const auto fed = link.feed(bytes);
    if (!fed.ok()) MESSAGE(fed.error().message);
    return fed.ok();
}

StreamOpen open_of(StreamKind kind) {
    StreamOpen open;
    open.kind = kind;
    return open;
}

std::string numbered(size_t count) {
    std::string text;
    while (text.size() < count) text += std::to_string(text.size()) + " ";
    text.resize(count);
    return text;
}

std::string frame_of(LinkFrameKind kind, uint32_t stream, std::initializer_list<uint64_t> numbers,
                     std::string_view rest = "") {
    std::string payload, frame;
    for (const uint64_t number : numbers) append_u64(payload, number);
    payload += rest;
    append_link_frame(frame, kind, stream, payload);
    return frame;
}

} // namespace

TEST_CASE("a stream that both sides have ended keeps its last bytes when one of them is done with it") {
    Link server = server_link(), pod = pod_link();
    connect(server, pod);
    const uint32_t connection = pod.open(open_of(StreamKind::connection)).value();
    CHECK(pod.write(connection, "request") == 7);
    pod.end(connection); // as a client that sends no more, and reads the response
    exchange(server, pod);
    CHECK(server.read(connection, 100) == "request");
    CHECK(server.write(connection, "response") == 8);
    server.end(connection);
    server.reset(connection, "the other side is done with it"); // nothing of the response was sent yet
    (void)events_of(pod);
    exchange(server, pod);
    CHECK(pod.read(connection, 100) == "response");
    CHECK(events_of(pod) == "readable 1, ended 1");
    exchange(server, pod);
    CHECK(server.streams() == 0);
    CHECK(pod.streams() == 0);
}

TEST_CASE("both ends of a link open streams, send, end and forget them") {
    Link server = server_link(), pod = pod_link();
    connect(server, pod);
    exchange(server, pod);
    CHECK(events_of(server) == "greeted 0");
    CHECK(events_of(pod) == "greeted 0");
    CHECK(server.peer().boot == "boot-1");
    CHECK(pod.peer().session == "session-1");

    StreamOpen wanted = open_of(StreamKind::output);
    wanted.command = 3;
    wanted.offset = 4096;
    const uint32_t output = server.open(wanted).value();
    StreamOpen dialled = open_of(StreamKind::connection);
    dialled.port = 3128;
    const uint32_t connection = pod.open(dialled).value();
    CHECK(output == 2);
    CHECK(connection == 1);
    CHECK(server.write(calls_stream, "call") == 4);
    CHECK(pod.write(connection, "GET / HTTP/1.1\r\n\r\n") == 18);
    pod.end(connection);
    exchange(server, pod);
    const auto opened = pod.take_events();
    REQUIRE(opened.size() == 2);
    CHECK(opened[0].kind == Kind::opened);
    CHECK(opened[0].open.command == 3);
    CHECK(opened[0].open.offset == 4096);
    CHECK(pod.read(calls_stream, 100) == "call");
    CHECK(events_of(server) == "opened 1, readable 1");
    CHECK(server.read(connection, 4) == "GET ");
    CHECK(server.read(connection, 1000) == "/ HTTP/1.1\r\n\r\n");
    CHECK(events_of(server) == "ended 1");
    CHECK(server.write(connection, "HTTP/1.1 200 OK\r\n\r\n") == 19);
    server.end(connection);
    pod.write(output, "out");
    pod.end(output);
    server.end(output);
    exchange(server, pod);
    CHECK(events_of(server) == "readable 2");
    CHECK(server.read(output, 100) == "out");
    CHECK(events_of(server) == "ended 2");
    CHECK(pod.read(connection, 100) == "HTTP/1.1 200 OK\r\n\r\n");
    CHECK(events_of(pod) == "readable 1, ended 2, ended 1");
    exchange(server, pod);
    CHECK(server.streams() == 0);
    CHECK(pod.streams() == 0);
}

TEST_CASE("a stream that is not read holds 256 KiB, and others go past it") {
    Link server = server_link(), pod = pod_link();
    connect(server, pod);
    const uint32_t slow = server.open(open_of(StreamKind::input)).value();
    const uint32_t fast = server.open(open_of(StreamKind::input)).value();
    const std::string text = numbered(1 << 20);
    size_t written = server.write(slow, text);
    CHECK(written == stream_window_bytes);
    exchange(server, pod);
    // The other side has as much as it lets come, and this one keeps as much again.
    written += server.write(slow, std::string_view(text).substr(written));
    CHECK(written == 2 * stream_window_bytes);
    exchange(server, pod);
    CHECK(server.write(slow, std::string_view(text).substr(written)) == 0);
    CHECK(server.write(fast, "quick") == 5);
    exchange(server, pod);
    CHECK(pod.read(fast, 100) == "quick");
    (void)events_of(server);
    std::string read;
    while (read.size() < text.size()) {
        read += pod.read(slow, 100'000);
        exchange(server, pod);
        written += server.write(slow, std::string_view(text).substr(written));
        exchange(server, pod);
    }
    CHECK((read == text));
    CHECK(events_of(server).starts_with("writable 2"));
}

TEST_CASE("after a lost channel reliable streams continue byte by byte, connections are reset") {
    Link server = server_link(), pod = pod_link();
    connect(server, pod);
    exchange(server, pod);
    const uint32_t input = server.open(open_of(StreamKind::input)).value();
    const uint32_t connection = server.open(open_of(StreamKind::connection)).value();
    server.write(input, "first ");
    server.write(connection, "x");
    exchange(server, pod);
    (void)events_of(server);
    (void)events_of(pod);
    server.write(input, "second ");
    const std::string lost = server.take_output(1 << 20);
    CHECK(!lost.empty());
    server.disconnected();
    CHECK(events_of(server) == "reset 4");
    server.write(input, "third");
    server.end(input);
    const uint32_t later = server.open(open_of(StreamKind::output)).value();
    connect(server, pod);
    CHECK(events_of(pod) == "reset 4");
    exchange(server, pod);
    CHECK(pod.read(input, 100) == "first second third");
    CHECK(events_of(pod) == "greeted 0, opened 6, ended 2"); // readable 2 was reported before
    CHECK(pod.write(later, "output") == 6);
    exchange(server, pod);
    CHECK(server.read(later, 100) == "output");
}

TEST_CASE("streams arrive exactly once, whatever is cut and whenever") {
    std::mt19937 random(test_seed());
    const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
    int cuts = 0;
    for (int round = 0; round < 30; ++round) {
        Link server = server_link(), pod = pod_link();
        struct Direction {
            Link *from, *to;
            uint32_t stream;
            std::string text, read;
            size_t written = 0;
        };
        std::vector<Direction> directions;
        for (int i = 0; i < 4; ++i) {
            Link& opener = i % 2 == 0 ? server : pod;
            const uint32_t stream = opener.open(open_of(StreamKind::input)).value();
            directions.push_back({&server, &pod, stream, numbered(below(600'000)), {}});
            directions.push_back({&pod, &server, stream, numbered(below(600'000)), {}});
        }
        directions.push_back({&server, &pod, calls_stream, numbered(1000), {}});
        std::string to_pod, to_server; // on the way
        connect(server, pod);
        const auto is_done = [&] {
            return std::all_of(directions.begin(), directions.end(),
                               [](const Direction& each) { return each.read.size() == each.text.size(); });
        };
        bool is_right = true;
        for (int step = 0; step < 100'000 && is_right && !(is_done() && server.streams() + pod.streams() == 0);
             ++step) {
            for (Direction& each : directions) {
                if (below(3) == 0)
                    each.written +=
                        each.from->write(each.stream, std::string_view(each.text).substr(each.written, below(70'000)));
                if (each.written == each.text.size()) each.from->end(each.stream);
                if (below(2) == 0) each.read += each.to->read(each.stream, below(100'000));
            }
            to_pod += server.take_output(below(200'000));
            to_server += pod.take_output(below(200'000));
            const size_t there = std::min(to_pod.size(), below(150'000)),
                         back = std::min(to_server.size(), below(150'000));
            is_right = is_right && is_fed(pod, std::string_view(to_pod).substr(0, there));
            to_pod.erase(0, there);
            is_right = is_right && is_fed(server, std::string_view(to_server).substr(0, back));
            to_server.erase(0, back);
            for (Link* link : {&server, &pod})
                for (const LinkEvent& event : link->take_events())
                    if (event.kind == Kind::reset) {
                        MESSAGE("reset ", event.stream, " ", event.text);
                        is_right = false;
                    }
            if (below(40) == 0) { // one end notices first, what is on the way is lost
                ++cuts;
                to_pod.clear();
                to_server.clear();
                connect(server, pod);
            }
        }
        CAPTURE(round);
        CHECK(is_right);
        for (const Direction& each : directions) CHECK((each.read == each.text));
        CHECK(server.streams() == 0);
        CHECK(pod.streams() == 0);
    }
    CHECK(cuts > 10);
}

TEST_CASE("another server takes a sandbox over with a higher epoch; an older one is rejected") {
    Link first = server_link(1, "first"), second = server_link(2, "second"), pod = pod_link();
    connect(first, pod);
    const uint32_t stream = first.open(open_of(StreamKind::input)).value();
    first.write(stream, "abc");
    exchange(first, pod);
    (void)events_of(pod);
    connect(second, pod);
    exchange(second, pod);
    CHECK(events_of(pod) == "reset 0, reset 2, greeted 0");
    CHECK(second.open(open_of(StreamKind::output)).value() == 2);
    exchange(second, pod);
    CHECK(events_of(pod) == "opened 2");
    // The older one comes back: its channel is rejected before it replaces the one that works.
    first.connected();
    const std::string hello = first.take_output(1000);
    CHECK(pod.would_accept(hello.substr(0, hello.size() - 1)).value() == false);
    CHECK(pod.would_accept(hello).error().message == "a newer server has this sandbox");
    second.write(calls_stream, "still here");
    exchange(second, pod);
    CHECK(pod.read(calls_stream, 100) == "still here");
    second.connected();
    CHECK(pod.would_accept(second.take_output(1000)).value());
    connect(first, pod);
    CHECK(pod.feed(first.take_output(1000)).error().message == "a newer server has this sandbox");
}

TEST_CASE("a sandbox that was started again has none of the streams") {
    Link server = server_link(), pod = pod_link("boot-1"), next = pod_link("boot-2");
    connect(server, pod);
    const uint32_t stream = server.open(open_of(StreamKind::input)).value();
    server.write(calls_stream, "call");
    pod.write(calls_stream, "reply");
    exchange(server, pod);
    CHECK(server.read(calls_stream, 100) == "reply");
    (void)events_of(server);
    connect(server, next);
    exchange(server, next);
    CHECK(events_of(server) == "reset 0, reset 2, greeted 0");
    CHECK(server.write(stream, "x") == 0);
    server.write(calls_stream, "again");
    exchange(server, next);
    CHECK(next.read(calls_stream, 100) == "again");
}

TEST_CASE("a peer that breaks a rule of the frames is rejected with the reason") {
    const auto error_after = [](const std::string& bytes) {
        Link server = server_link(), pod = pod_link();
        connect(server, pod);
        const uint32_t stream = server.open(open_of(StreamKind::input)).value();
        server.write(stream, "abc");
        exchange(server, pod);
        const auto fed = server.feed(bytes);
        return fed.ok() ? std::string("accepted") : fed.error().message;
    };
    using enum LinkFrameKind;
    CHECK(error_after(frame_of(data, 2, {5}, "x")) == "a gap in stream 2");
    CHECK(error_after(frame_of(data, 2, {UINT64_MAX}, "x")) == "a gap in stream 2");
    CHECK(error_after(frame_of(data, 4, {0}, "x")) == "a frame for a stream that was never opened");
    CHECK(error_after(frame_of(data, 1, {0}, "x")) == "a frame for a stream that was never opened");
    CHECK(error_after(frame_of(window, 2, {4, 100})) == "stream 2 acknowledges what was not sent");
    CHECK(error_after(frame_of(window, 2, {3, UINT64_MAX})) == "accepted");
    CHECK(error_after(frame_of(end, 2, {1})) == "the end of stream 2 at a wrong offset");
    CHECK(error_after(frame_of(end, 0, {0})) == "the end of the calls");
    CHECK(error_after(frame_of(reset, 0, {})) == "a reset of the calls");
    CHECK(error_after(frame_of(end, 2, {0}) + frame_of(data, 2, {0}, "x")) == "bytes after the end of stream 2");
    CHECK(error_after(frame_of(hello, 0, {}, "{}")) == "a second hello");
    CHECK(error_after(frame_of(open, 2, {}, R"({"kind":"file"})")) == "a stream with a wrong number");
    CHECK(error_after(frame_of(open, 1, {}, R"({"kind":"shell"})")).starts_with("an open that cannot be read"));
    CHECK(error_after(frame_of(open, 3, {}, R"({"kind":"file"})") + frame_of(open, 1, {}, R"({"kind":"file"})")) ==
          "a stream was opened twice");
    CHECK(error_after(frame_of(ping, 0, {}, "x")) == "a frame of kind 7 with 1 bytes");
    CHECK(error_after(std::string("\x63\0\0\0\0\0\0\0\0", 9)) == "a frame of kind 99 with 0 bytes");
    CHECK(error_after(std::string("\x03\x02\0\0\0\x01\0\x01\0", 9)) == "a frame of kind 3 with 65537 bytes");
    std::string flood, opens;
    for (uint64_t at = 0; at <= stream_window_bytes; at += 1 << 15)
        flood += frame_of(data, 2, {at}, std::string(1 << 15, 'x'));
    CHECK(error_after(flood) == "stream 2 exceeds its window");
    for (uint32_t i = 0; i <= most_streams; ++i) opens += frame_of(open, 2 * i + 1, {}, R"({"kind":"connection"})");
    CHECK(error_after(opens) == "too many streams");
}

TEST_CASE("a hello for something else is rejected") {
    const auto error_after = [](LinkHello hello) {
        Link server = server_link();
        server.connected();
        std::string bytes;
        append_link_frame(bytes, LinkFrameKind::hello, 0, json::write(hello));
        const auto fed = server.feed(bytes);
        return fed.ok() ? std::string("accepted") : fed.error().message;
    };
    LinkHello right;
    right.sandbox = "sbx_1";
    right.epoch = 1;
    right.session = "session-1";
    right.boot = "boot";
    CHECK(error_after(right) == "accepted");
    LinkHello wrong = right;
    wrong.version = 2;
    CHECK(error_after(wrong) == "the other side uses version 2 of the frames, not 1");
    wrong = right;
    wrong.sandbox = "sbx_2";
    CHECK(error_after(wrong) == "the channel leads to another sandbox");
    wrong = right;
    wrong.session = "session-2";
    CHECK(error_after(wrong) == "the sandbox serves another server");
    wrong = right;
    wrong.streams = {{0, 7, 0}};
    CHECK(error_after(wrong) == "a hello with a wrong offset");
    wrong.streams = {{2, 0, 0}};
    CHECK(error_after(wrong) == "a stream that was never opened");
    wrong.streams = {{0, 0, 0}, {0, 0, 0}};
    CHECK(error_after(wrong) == "a hello that lists a stream twice");
    wrong.streams = {{-1, 0, 0}};
    CHECK(error_after(wrong) == "a hello with a wrong number");
}

TEST_CASE("a ping is returned once, however many came") {
    Link server = server_link(), pod = pod_link();
    connect(server, pod);
    exchange(server, pod);
    std::string pings, pong;
    for (int i = 0; i < 1000; ++i) append_link_frame(pings, LinkFrameKind::ping, 0, "");
    append_link_frame(pong, LinkFrameKind::pong, 0, "");
    REQUIRE(server.feed(pings).ok());
    CHECK(server.take_output(1 << 20) == pong);
    CHECK(server.take_output(1 << 20).empty());
}
