// Follows a managed session until its turn ends: every event of its history is recorded exactly once, in order, over
// any number of lost connections and restarts; calls of custom tools get one result.
//
// The stream has no cursor and replays nothing, so the history is the truth: the stream is attached first, then the
// list is read from the last recorded time on. The list may be behind the stream. The first event of a new stream is
// therefore taken only once the list has it, with all that is before it there; the events after it are taken directly.
// An event that ends a turn is always taken from the list, which finds what a stream did not carry.
//
// Blocks; one thread at a time. Several followers of one session, also on several servers, record each event once.
#pragma once

#include "managed/api.h"
#include "managed/progress.h"

#include <set>

namespace hone::managed {

enum class Appended {
    recorded,
    duplicate, // it is there already
    behind,    // another follower has recorded others since: load again
};

// Where the events go: the transcript of a run. Each function is a transaction.
class Journal {
public:
    virtual ~Journal() = default;
    virtual Result<Progress> load() = 0;
    // Writes an event and the progress after it, when the event is not there and exactly `after.sequence - 1` events
    // are.
    virtual Result<Appended> append(const Event& event, const Progress& after) = 0;
};

struct ToolReply {
    std::string text;
    bool is_error = false;
};

// Runs the tools that Hone offers to the agent.
class Tools {
public:
    virtual ~Tools() = default;
    // The same call (by its id) comes again after a restart or a lost connection: then the stored reply is returned,
    // and nothing is done twice.
    virtual Result<ToolReply> run(const ToolCall& call) = 0;
};

class Follower {
public:
    Follower(Api& api, std::string session, Journal& journal, Tools& tools)
        : m_api(api),
          m_session(std::move(session)),
          m_journal(journal),
          m_tools(tools) {}

    // Returns when the agent has processed `messages` messages and is at rest, or when the session has ended. With
    // fewer messages in the result the provider has discarded some. conflict: cancelled. Other errors: the journal, a
    // tool, a credential that the API rejects; the session itself continues.
    Result<Progress> follow(int64_t messages, net::Cancel& cancel);

private:
    bool is_done() const;
    Result<> attach(net::Cancel& cancel);
    Result<> received(const Event* event, net::Cancel& cancel);
    // Reads the list until it has the event with this id (empty: to its end) and records what is new.
    Result<> catch_up(const std::string& until, net::Cancel& cancel);
    Result<bool> read_list(const std::string& until, net::Cancel& cancel);
    Result<> record(const Event& event);
    // After a 404: whether the session is deleted. `started`: when this follower began.
    Result<> check_lost(Duration started, net::Cancel& cancel);
    // What the API reports by a status instead of an event.
    Result<> record_end(EventKind kind, const std::string& type);
    Result<> serve_calls(net::Cancel& cancel);
    Result<> serve(const ToolCall& call, net::Cancel& cancel);
    // After a time without events: whether the session has ended without one, or has discarded a message.
    Result<> check_quiet(net::Cancel& cancel);
    // An error that ends the stream once there is nothing more to follow.
    Result<> stop_when_done();
    Error fatal(Error error);

    Api& m_api;
    const std::string m_session;
    Journal& m_journal;
    Tools& m_tools;
    Progress m_progress;
    int64_t m_messages = 0;
    std::set<std::string, std::less<>> m_seen;   // ids that are in the journal, as far as this follower has met them
    std::set<std::string, std::less<>> m_served; // calls whose result the API has accepted, or does not want
    bool m_joined = false;                       // the stream continues where the journal ends
    bool m_is_done = false;
    bool m_is_fatal = false; // the last error is not one of the connection
    Duration m_last_read{};  // when the list was read to its end
    Duration m_last_new{};   // when an event was recorded
};

} // namespace hone::managed
