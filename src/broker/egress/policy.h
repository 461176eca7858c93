// What a run may reach and with which secret, and why. Made from the run's skills, its preset and the space's policy;
// immutable, so that a live run changes its policy by swapping the whole thing. Pure, any thread.
#pragma once

#include "base/fields.h"
#include "broker/wire/http_head.h"
#include "skill/grant.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

enum class EgressMode {
    none,      // only the gateway
    allowlist, // what a rule allows
    open,      // every public address, minus what a rule denies
};
constexpr auto enum_names(EgressMode) {
    return std::array{EnumName{EgressMode::none, "none"}, EnumName{EgressMode::allowlist, "allowlist"},
                      EnumName{EgressMode::open, "open"}};
}

// A rule that comes from a preset or from the space's policy. Denials win over everything.
struct PolicyRule {
    skill::HostRule host; // port 0: every port
    bool deny = false;
    std::string source; // "preset", "space policy": for explanations
};

// A host that holds repositories which are registered in Hone. Workers read there; writing is Hone's, after review. No
// skill, preset or mode opens more than issues, their comments and labels.
struct ForgeHost {
    std::string host;
    std::vector<std::string> repositories; // paths: "/team/shop.git"
    std::vector<uint16_t> ports{};         // of its repositories' addresses
    std::vector<std::string> own{};        // those of `repositories` that the run itself names
};
// The hosts of these repositories' addresses, with the hosts of their APIs where those have a name of their own.
// `run_urls`: those of the run; they are forges too.
std::vector<ForgeHost> forge_hosts(const std::vector<std::string>& repository_urls,
                                   const std::vector<std::string>& run_urls = {});

// A request, as the policy sees it.
struct Target {
    std::string method;
    HostPort host;
    bool tls = true;
    std::string path = "/"; // without query
    bool websocket = false;
    std::string query = {}; // without the question mark
    bool at_forge = false;  // a server that is a forge under another name (egress/forge.h)
};

struct Verdict {
    bool allowed = false;
    std::string rule;                // what decided: "skill: api.github.com:443 GET,POST /repos", "mode none"
    std::string reason;              // one sentence
    bool brokered = false;           // a credential is bound to this host and port: own credentials are stripped there
    bool terminate = false;          // TLS must be intercepted to read method and path, or to add a credential
    std::vector<size_t> credentials; // of the grant: may be put into this very request
};

class Policy {
public:
    // Refuses rules that make no sense (bad host patterns, relative prefixes, a wildcard over a whole top level).
    static Result<std::shared_ptr<const Policy>>
    compile(EgressMode mode, skill::Grant grant, std::vector<PolicyRule> rules, std::vector<ForgeHost> forges = {});

    // Whether a tunnel to this place may be opened at all.
    Verdict decide_connect(const HostPort& target) const;
    Verdict decide(const Target& target) const;
    // Whether a rule that allows the place spells out its name; "*.example.com" names nothing.
    bool names(const HostPort& target) const;

    EgressMode mode() const { return m_mode; }
    const skill::Grant& grant() const { return m_grant; }
    const std::vector<PolicyRule>& rules() const { return m_rules; }
    const std::vector<ForgeHost>& forges() const { return m_forges; }

private:
    Policy(EgressMode mode, skill::Grant grant, std::vector<PolicyRule> rules, std::vector<ForgeHost> forges);

    EgressMode m_mode;
    skill::Grant m_grant;
    std::vector<PolicyRule> m_rules; // the preset's and the space's, then those of the grant
    std::vector<ForgeHost> m_forges;
};

// True when the host is the pattern, or below it when the pattern is "*.example.com".
bool host_matches(std::string_view pattern, std::string_view host);
// Whole segments: "/v1" covers "/v1" and "/v1/x", not "/v10". A segment "*" of the prefix covers any one segment.
bool path_matches(std::string_view prefix, std::string_view path);
// "." or ".." as a segment, in any number of percent encodings, with slashes of either kind: a path that a server may
// read as another one.
bool is_ambiguous_path(std::string_view path);

} // namespace hone::broker
