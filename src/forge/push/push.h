// Called when a worker's push has arrived in its run's quarantine: on the connection's thread, before the worker gets
// the response that the push was accepted; must not block for long.
#pragma once

#include "access/access.h"

#include <string>

namespace hone::forge {

struct Push {
    access::SpaceId space;
    std::string run;         // run_…
    std::string repo;        // repo_…
    std::string repo_name;   // as the worker knows it
    std::string branch;      // "hone/run_…/fix", without refs/heads/
    std::string base_commit; // where the branch left what was cloned; empty: it shares no history
    std::string head_commit;
};

class PushListener {
public:
    virtual ~PushListener() = default;
    // An error is shown to the worker as a message; the push stays.
    virtual Result<> pushed(const Push& push) = 0;
};

} // namespace hone::forge
