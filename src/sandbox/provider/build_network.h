// The way out of a sandbox that prepares something: an init script, the setup of a repository, a verification. The
// server implements it over the broker, so that only hosts of an allow list are reached and every request is in the
// audit log. One object serves one sandbox; one thread.
//   mounts → (the sandbox starts) → connect → (commands) → destruction
#pragma once

#include "base/file.h"
#include "sandbox/provider/spec.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hone::sandbox {

class BuildNetwork {
public:
    virtual ~BuildNetwork() = default;
    // What the sandbox must mount to use it.
    virtual std::vector<Mount> mounts() const = 0;
    // Shell lines that belong before a script: what clients read from the home.
    virtual std::string prelude() const = 0;
    // With the listeners of the started sandbox; the variables that its commands need.
    virtual Result<std::map<std::string, std::string>> connect(std::vector<Fd> listeners) = 0;
};

// Makes one for each sandbox; null where no network is wanted.
using MakeBuildNetwork = std::function<Result<std::unique_ptr<BuildNetwork>>()>;

} // namespace hone::sandbox
