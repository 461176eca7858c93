// The tools that Hone offers to the agent of a managed session. They are those of the MCP server, called by this server
// itself with the key of the run: the same validation, review and secret scan as for workers in sandboxes, and the key
// never leaves. Each call has its effect at most once, also over restarts and several servers. One thread at a time.
#pragma once

#include "run/managed/session_store.h"

namespace hone::run {

// Calls tools with a run key; server/ implements it over the API's own address.
class ToolCaller {
public:
    virtual ~ToolCaller() = default;
    // Custom tools as the provider's API has them: name, description, input_schema.
    virtual Result<json::Array> list() = 0;
    // unavailable: it may have had its effect.
    virtual Result<managed::ToolReply> call(const std::string& name, const std::string& input) = 0;
};

class SessionTools final : public managed::Tools {
public:
    // `process`: unique to this server process. `patience`: how long another process may need for a call.
    SessionTools(SessionStore& store, RunId run, ToolCaller& caller, std::string process, const Clock& clock,
                 Duration patience, net::Cancel& cancel)
        : m_store(store),
          m_run(std::move(run)),
          m_caller(caller),
          m_process(std::move(process)),
          m_clock(clock),
          m_patience(patience),
          m_cancel(cancel) {}

    Result<managed::ToolReply> run(const managed::ToolCall& call) override;

private:
    SessionStore& m_store;
    const RunId m_run;
    ToolCaller& m_caller;
    const std::string m_process;
    const Clock& m_clock;
    const Duration m_patience;
    net::Cancel& m_cancel;
};

} // namespace hone::run
