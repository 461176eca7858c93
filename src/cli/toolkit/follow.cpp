#include "cli/toolkit/follow.h"

#include "base/file.h"
#include "cli/remote/event_stream.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/transcript.h"

#include <array>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

namespace hone::cli {

namespace {

constexpr int interrupted = 130; // what shells report for Ctrl-C

// While it lives, Ctrl-C prints a last line and ends the program. A thread, since the main one waits in a read.
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
        const Call call{.path = path_of("/v1/runs", {m_watch.run, "events"})};
        TRY(follow_events(m_context, call, std::to_string(m_seq), [&](const auto& message) { return take(message); }));
        return m_rest;
    }

private:
    Result<Next> take(const net::ServerEvent& message) {
        if (message.event != "event") return Next::go_on;
        const json::Value event = TRY(json::parse(message.data));
        const int64_t seq = number_of(event, "seq");
        if (seq <= m_seq) return Next::go_on;
        m_seq = seq;
        m_context.console.print(m_context.json() ? safe_json(json::print(event)) + "\n" : m_transcript.draw(event));
        return note_state(event);
    }

    Next note_state(const json::Value& event) {
        const std::string kind = text_of(event, "kind"), state = text_of(event, "state");
        if (kind == "follow_up") m_answering = true;
        if (kind == "result") m_rest.turn_failed = event.as_object().contains("failed") && event.at("failed") == true;
        if (!state.empty()) m_rest.state = state;
        const bool at_rest = is_over(state) || (m_watch.until_turn && state == "waiting");
        return m_answering && m_seq >= m_watch.known && (at_rest || m_watch.over) ? Next::enough : Next::go_on;
    }

    const Context& m_context;
    const Watch& m_watch;
    Transcript m_transcript;
    Rest m_rest;
    int64_t m_seq;
    bool m_answering;
};

} // namespace

Result<Rest> follow_run(const Context& context, const Watch& watch) {
    const std::string run = safe_line(watch.run);
    const GoodBye good_bye(context.console, "\nThe session continues. Follow it again: hone session events " + run +
                                                " -f; stop it: hone session cancel " + run + "\n");
    return Follower(context, watch).run();
}

} // namespace hone::cli
