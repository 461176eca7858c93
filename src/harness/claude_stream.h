// Claude Code's stream-json events → Hone's. Also what Qwen Code prints, and what a `command` may print.
// One thread at a time.
#pragma once

#include "harness/event.h"
#include "json/json.h"

#include <set>
#include <string>
#include <vector>

namespace hone::harness {

class ClaudeStream {
public:
    enum class Turn { open, succeeded, failed };
    // Translates one event; true when it ended the turn.
    Turn read(const json::Object& event, std::vector<Event>& events);
    const std::string& session() const { return m_session; }

private:
    void read_system(const json::Object& event, std::vector<Event>& events);
    void read_blocks(const json::Object& event, std::vector<Event>& events);
    Turn read_result(const json::Object& event, std::vector<Event>& events);

    std::string m_session;
    std::set<std::string> m_servers_down;
};

} // namespace hone::harness
