// How a run reaches anything outside its sandbox: its identity (run key, seed of its authority), its place at the
// gateway (model calls, the API) and at the broker (everything else). On the worker's thread, unless stated.
#pragma once

#include "run/worker/live_run.h"

namespace hone::run {

// What the run is to others; made while its sandbox starts.
struct RunIdentity {
    access::Key key;
    std::shared_ptr<const crypto::SecretBytes> seed;
};

// Addresses of the run's repositories.
std::vector<std::string> repository_urls(const Settings& settings);
// May run beside the worker's thread while that thread changes none of `run`'s record.
Result<RunIdentity> make_run_identity(const LiveRun& run);
// Connects the listeners of the sandbox with the gateway and the broker, and sets the environment of its commands.
Result<> connect_run(LiveRun& run, const RunIdentity& identity);

// Where a file of authorities goes beside those below /hone. Mounted empty, filled once the broker knows the run.
constexpr std::string_view system_trust_file = "/etc/ssl/certs/ca-certificates.crt";
// Overwrites in place, so that a mount of the file shows the new content.
Result<> fill_file(const std::string& path, std::string_view content);

} // namespace hone::run
