// A project's row of settings as scans and workers need it. Internal to signal/.
#pragma once

#include "signal/signal.h"

namespace hone::signal {

// What Signal calls itself as the manager of an automation.
constexpr std::string_view manager = "signal";

struct Signal::Row {
    access::ProjectId project;
    access::SpaceId space;
    bool enabled = false;
    SignalSettings settings;
    std::optional<std::string> consent_by{};
    std::optional<Time> consent_at{};
    std::string consent_note{};
    std::optional<Time> last_scan_at{};
    std::optional<Time> next_scan_at{};
    std::string project_name{};
    std::optional<automation::AutomationId> automation{}; // whose ledger it writes
    bool is_paused = false;                               // that automation
    std::string pause_reason{};
};

} // namespace hone::signal
