// A git bundle (gitformat-bundle): branches in one file, for agents that cannot push. It becomes a push, and is
// checked as one. Pure, any thread.
#pragma once

#include "base/result.h"
#include "forge/push/push_commands.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::forge {

struct BundleRef {
    std::string name; // refs/heads/fix, or HEAD
    std::string object;
    friend bool operator==(const BundleRef&, const BundleRef&) = default;
};

struct BundleHead {
    std::vector<BundleRef> refs;
    std::vector<std::string> needed; // commits that the receiver must have
    size_t used = 0;                 // bytes up to the pack
};

// Versions 2 and 3 with SHA-1, of a whole repository: no filter. Errors: invalid, too_large.
Result<BundleHead> read_bundle_head(std::string_view bytes);

// The branches of the bundle below `prefix` ("refs/heads/hone/run_…/"); a branch that is there already keeps its name.
// A bundle with nothing but HEAD has the branch `work`. Errors: invalid (tags and other refs).
Result<std::vector<BundleRef>> branches_of(const BundleHead& head, std::string_view prefix);

// The response of git to a push with report-status and side-band-64k.
struct PushReport {
    std::string unpacked;                                     // "ok", or why not
    std::vector<std::string> taken;                           // refs
    std::vector<std::pair<std::string, std::string>> refused; // refs with the reason
    std::string messages;                                     // of git and of the listener, for people
};
PushReport read_push_report(std::string_view bytes);

} // namespace hone::forge
