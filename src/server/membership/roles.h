// What a server does among those that share a database: the setting `roles`. A value.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace hone::server {

struct Roles {
    bool api = false;       // the API and the web UI
    bool ingest = false;    // receives telemetry
    bool scheduler = false; // automations, Signal, monitors, notices
    bool worker = false;    // runs, experiments, evaluators, branches

    // "api,worker"
    static Result<Roles> parse(std::string_view text);
    std::string text() const;
};

} // namespace hone::server
