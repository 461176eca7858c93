// Managed sessions in the database: which session belongs to a run, which of its events are in the transcript, the
// replies of custom tools. Each function is a transaction. Thread-safe; also over several servers.
#pragma once

#include "managed/follower.h"
#include "run/run_store.h"
#include "telemetry/span/prices.h"

namespace hone::run {

struct ManagedSession {
    RunId run;
    access::SpaceId space;
    std::string skill_id;
    std::string base_url;
    std::string session_id;
    std::string vault_id;
    Time began_at{};
    Time active_since{};
    std::optional<Time> stopped_at;
};

// Cost as the provider reports it with the time in which the session ran; before its first report by the price table.
// Nothing: neither is known.
std::optional<int64_t> cost_micro_usd(const managed::Progress& progress, const std::string& model,
                                      const telemetry::Prices& prices, Time at);
// What an event is in the transcript; nothing for those that only the provider needs.
std::optional<RunEvent> transcript_event(const managed::Event& event, const std::string& last_message);

class SessionStore {
public:
    SessionStore(sql::Database& database, const Clock& clock, Transcript& transcript)
        : m_database(database),
          m_clock(clock),
          m_transcript(transcript) {}

    // The session of a run; made without an id when there is none, or when the one before was stopped.
    Result<ManagedSession> begin(const RunId& run, const access::SpaceId& space, const std::string& skill_id,
                                 const std::string& base_url);
    Result<std::optional<ManagedSession>> find(const RunId& run) const;
    Result<> set_vault(const RunId& run, const std::string& vault);
    Result<> set_session(const RunId& run, const std::string& session);
    // It is about to be stopped: the run takes no follow-ups.
    Result<> set_stopping(const RunId& run);
    // Nothing of it is at the provider any more, or it is archived there.
    Result<> set_stopped(const RunId& run);
    Result<> remove(const RunId& run);
    // Those whose run was deleted, or has ended without a stop: what a killed server left. `others`: live servers,
    // which stop their own.
    Result<std::vector<ManagedSession>> left_over(std::span<const std::string> others) const;

    // Inputs in their order; those that were sent have an offset.
    Result<std::vector<RunInput>> inputs(const RunId& run) const;

    Result<managed::Progress> progress(const RunId& run) const;
    // As managed::Journal::append; `made` is written to the transcript in the same transaction, with tokens and cost.
    Result<managed::Appended> append(const RunId& run, const managed::Event& event, const managed::Progress& after,
                                     const std::optional<RunEvent>& made, std::optional<int64_t> cost);

    // The stored reply. Nothing, and `begun` is true: this process may run the call now.
    struct Reply {
        std::optional<managed::ToolReply> reply;
        bool begun = false;
    };
    Result<Reply> begin_call(const RunId& run, const std::string& call, const std::string& process);
    Result<bool> has_call(const RunId& run, const std::string& call) const;
    Result<> set_reply(const RunId& run, const std::string& call, const managed::ToolReply& reply);

private:
    sql::Database& m_database;
    const Clock& m_clock;
    Transcript& m_transcript;
};

} // namespace hone::run
