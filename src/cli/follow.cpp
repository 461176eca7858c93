#include "cli/follow.h"

#include "base/file.h"
#include "cli/display.h"
#include "cli/transcript.h"
#include "cli/view.h"
#include "net/sse.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

namespace hone::cli {

namespace {

constexpr Duration silence = std::chrono::seconds(60); // the server says something every 15 s
constexpr Duration first_pause = std::chrono::milliseconds(500);
constexpr Duration longest_pause = std::chrono::seconds(10);
constexpr int interrupted = 130; // what shells report for Ctrl-C

// While it lives, Ctrl-C says a last sentence and ends the program. A thread, since the main one waits in a read.
class GoodBye {
public:
    GoodBye(Console& console, std::string words) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        pthread_sigmask(SIG_BLOCK, &set, &m_before);
        m_signals = Fd(::signalfd(-1, &set, SFD_CLOEXEC));
        m_end = Fd(::eventfd(0, EFD_CLOEXEC));
        if (!m_signals.is_open() || !m_end.is_open()) {
            pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
            return;
        }
        m_thread = std::thread([this, &console, words = std::move(words)] {
            std::array<pollfd, 2> both{pollfd{m_signals.get(), POLLIN, 0}, pollfd{m_end.get(), POLLIN, 0}};
            while (::poll(both.data(), both.size(), -1) < 0) {
            }
            if (both[1].revents != 0) return;
            console.note(words);
            ::_exit(interrupted);
        });
    }
    ~GoodBye() {
        if (!m_thread.joinable()) return;
        ::eventfd_write(m_end.get(), 1);
        m_thread.join();
        pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    GoodBye(const GoodBye&) = delete;
    GoodBye& operator=(const GoodBye&) = delete;

private:
    sigset_t m_before{};
    Fd m_signals;
    Fd m_end;
    std::thread m_thread;
};

class Follower {
public:
    Follower(const Context& context, const Watch& watch)
        : m_context(context),
          m_watch(watch),
          m_transcript(context.console, context.parsed.has("--full")),
          m_seq(watch.after),
          m_answering(!watch.answer) {}

    Result<Rest> run() {
        if (m_watch.over && m_watch.after >= m_watch.known) return m_rest;
        Duration pause = first_pause;
        for (;;) {
            m_events = 0;
            auto outcome = connect();
            if (m_done || m_context.console.is_output_gone()) return m_rest;
            if (m_context.console.output_error()) return *m_context.console.output_error();
            const bool may_come_back =
                outcome.ok() || outcome.error().code == Code::unavailable || outcome.error().code == Code::busy;
            // The first connection must work: a wrong address shall not be tried for ever.
            if (!outcome.ok() && (!may_come_back || !m_was_connected)) return outcome.error();
            if (!outcome.ok()) m_context.console.note("Connection lost; trying again.\n");
            pause = m_events > 0 || outcome.ok() ? first_pause : std::min(longest_pause, pause * 2);
            ::poll(nullptr, 0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(pause).count()));
        }
    }

private:
    Result<> connect() {
        net::EventParser parser;
        Call call{.path = path_of("/v1/runs", {m_watch.run, "events"})};
        call.headers.push_back({"Accept", "text/event-stream"});
        call.headers.push_back({"Last-Event-ID", std::to_string(m_seq)});
        return m_context.remote.stream(
            call, "text/event-stream",
            [&](std::string_view piece) -> Result<> {
                m_was_connected = true;
                return parser.feed(piece, [&](net::ServerEvent&& event) { return take(event); });
            },
            silence);
    }

    Result<> take(const net::ServerEvent& message) {
        ++m_events;
        if (message.event != "event" || m_done) return {};
        const json::Value event = TRY(json::parse(message.data));
        const int64_t seq = number_of(event, "seq");
        if (seq <= m_seq) return {};
        m_seq = seq;
        const auto& console = m_context.console;
        m_context.console.print(m_context.json() ? safe_json(json::print(event)) + "\n" : m_transcript.draw(event));
        if (console.is_output_gone()) return conflict("nobody reads the output");
        note_state(event);
        if (!m_done) return {};
        return conflict("the run is at rest"); // ends the stream
    }

    void note_state(const json::Value& event) {
        const std::string kind = text_of(event, "kind"), state = text_of(event, "state");
        if (kind == "follow_up") m_answering = true;
        if (kind == "result") m_rest.turn_failed = event.as_object().contains("failed") && event.at("failed") == true;
        if (!state.empty()) m_rest.state = state;
        const bool at_rest = is_over(state) || (m_watch.until_turn && state == "waiting");
        m_done = m_answering && m_seq >= m_watch.known && (at_rest || m_watch.over);
    }

    const Context& m_context;
    const Watch& m_watch;
    Transcript m_transcript;
    Rest m_rest;
    int64_t m_seq;
    size_t m_events = 0;
    bool m_answering;
    bool m_was_connected = false;
    bool m_done = false;
};

} // namespace

Result<Rest> follow_run(const Context& context, const Watch& watch) {
    const std::string run = safe_line(watch.run);
    const GoodBye good_bye(context.console, "\nThe session goes on. Come back: hone session events " + run +
                                                " -f; stop it: hone session cancel " + run + "\n");
    return Follower(context, watch).run();
}

} // namespace hone::cli
