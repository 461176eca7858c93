#include "broker/egress/policy.h"

#include "base/text.h"
#include "broker/egress/forge.h"
#include "net/http/http.h"

#include <algorithm>

namespace hone::broker {

namespace {

constexpr int most_decodings = 3;
constexpr const char* unknown_host =
    "no rule of the run's skills, preset or space allows this host and port; it can be added to one of them";

bool is_restricted(const skill::HostRule& rule) {
    return !rule.methods.empty() || rule.path_prefix != "/";
}

bool covers_place(const skill::HostRule& rule, const HostPort& target) {
    return host_matches(rule.host, target.host) && (rule.port == 0 || rule.port == target.port);
}

bool covers_method(const skill::HostRule& rule, std::string_view method) {
    return rule.methods.empty() || std::find(rule.methods.begin(), rule.methods.end(), method) != rule.methods.end();
}

bool allows(const skill::HostRule& rule, const Target& target) {
    if (!covers_place(rule, target.host) || rule.tls != target.tls || !covers_method(rule, target.method)) return false;
    if (target.websocket && !rule.websocket) return false;
    if (!path_matches(rule.path_prefix, target.path)) return false;
    return rule.path_prefix == "/" || !is_ambiguous_path(target.path);
}

// One level of percent encoding taken off; what is malformed stays.
std::string decode_once(std::string_view path) {
    std::string decoded;
    for (size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '%' && i + 2 < path.size()) {
            if (const auto byte = from_hex(lowercase_ascii(path.substr(i + 1, 2))); byte.ok()) {
                decoded += byte.value();
                i += 2;
                continue;
            }
        }
        decoded += path[i];
    }
    return decoded;
}

std::string collapse_slashes(std::string_view path) {
    std::string collapsed;
    for (const char c : path) {
        const char slash = c == '\\' ? '/' : c;
        if (slash != '/' || !collapsed.ends_with('/')) collapsed += slash;
    }
    return collapsed;
}

// Some servers take "delete" for DELETE.
bool covers_method_in_any_case(const skill::HostRule& rule, std::string_view method) {
    return rule.methods.empty() || std::any_of(rule.methods.begin(), rule.methods.end(), [&](const std::string& each) {
               return equals_ignoring_case(each, method);
           });
}

// Denials must hold however method and path are spelled.
bool denies(const skill::HostRule& rule, const Target& target) {
    if (!covers_place(rule, target.host) || !covers_method_in_any_case(rule, target.method)) return false;
    if (rule.path_prefix == "/") return true;
    if (is_ambiguous_path(target.path)) return true;
    std::string path = target.path;
    for (int level = 0; level <= most_decodings; ++level) {
        if (path_matches(lowercase_ascii(rule.path_prefix), lowercase_ascii(collapse_slashes(path)))) return true;
        path = decode_once(path);
    }
    return false;
}

std::string show(const skill::HostRule& rule) {
    std::string text = rule.host + (rule.port == 0 ? "" : ":" + std::to_string(rule.port));
    std::string methods;
    for (const std::string& method : rule.methods) methods += (methods.empty() ? " " : ",") + method;
    text += methods;
    if (rule.path_prefix != "/") text += " " + rule.path_prefix;
    if (!rule.tls) text += " (plain)";
    if (rule.websocket) text += " (websocket)";
    return text;
}

std::string show(const PolicyRule& rule) {
    return rule.source + ": " + (rule.deny ? "deny " : "") + show(rule.host);
}

// "team", "shop" and so on; "/" has none.
std::vector<std::string_view> segments_of(std::string_view path) {
    std::vector<std::string_view> segments;
    for (const std::string_view segment : split(path, '/'))
        if (!segment.empty()) segments.push_back(segment);
    return segments;
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "graphql" as the last segment in any spelling, or with an ending ("graphql.json") and the parameters of a query. A
// file of a repository can have such a name too, and is read without them.
bool may_run_graphql(const Target& target) {
    const auto has_parameter = [&] {
        static constexpr std::string_view names[] = {"query",      "mutation", "variables", "operationname",
                                                     "extensions", "id",       "documentid"};
        for (const std::string_view part : split(target.query, '&')) {
            const auto name = percent_decode(part.substr(0, part.find('=')), true);
            if (!name.ok() ||
                std::find(std::begin(names), std::end(names), lowercase_ascii(name.value())) != std::end(names))
                return true;
        }
        return false;
    };
    std::string path = target.path;
    for (int level = 0; level <= most_decodings; ++level) {
        const std::string spelled = lowercase_ascii(collapse_slashes(path));
        const auto segments = segments_of(spelled);
        const std::string_view last = segments.empty() ? std::string_view() : segments.back();
        const std::string_view name = last.substr(0, last.find(';'));
        if (name == "graphql" || (name.starts_with("graphql.") && has_parameter())) return true;
        path = decode_once(path);
    }
    return false;
}

// Whether a request only reads from a forge. Everything that is not known to read is a write.
bool is_forge_read(const ForgeHost& forge, const Target& target) {
    if (target.websocket || is_ambiguous_path(target.path)) return false;
    const auto segments = segments_of(target.path);
    const std::string_view last = segments.empty() ? std::string_view() : segments.back();
    if (target.method == "GET" || target.method == "HEAD") {
        if (may_run_graphql(target)) return false; // some take mutations in the query
        const bool advertises = last == "refs" && segments.size() > 1 && segments[segments.size() - 2] == "info";
        return !advertises || target.query.empty() || target.query == "service=git-upload-pack";
    }
    if (target.method == "OPTIONS") return true;
    if (target.method != "POST" || last != "git-upload-pack") return false;
    // The fetch of exactly a repository: a file of this name can be created below other paths.
    if (segments.size() == 3) return segments.front() != "api" && segments.front() != "repos";
    const std::string_view repository = std::string_view(target.path).substr(0, target.path.size() - last.size() - 1);
    const auto same = [&](std::string_view known) {
        if (known.ends_with(".git")) known.remove_suffix(4);
        return repository == known || (repository.starts_with(known) && repository.substr(known.size()) == ".git");
    };
    return std::any_of(forge.repositories.begin(), forge.repositories.end(), same);
}

// "/api/v1/repos/team/shop/issues" without the first two segments, as GitHub's API has it.
void remove_api_version(std::vector<std::string_view>& segments) {
    if (segments.size() > 2 && segments[0] == "api" && (segments[1] == "v1" || segments[1] == "v3"))
        segments.erase(segments.begin(), segments.begin() + 2);
}

// Whether a rule opens such a write: it names the method, the owner and the issues. A rule for the whole host or the
// whole API was not written for comments on every repository.
bool names_forge_write(const skill::HostRule& rule) {
    if (rule.methods.empty()) return false;
    auto segments = segments_of(rule.path_prefix);
    remove_api_version(segments);
    return segments.size() >= 4 && segments[0] == "repos" && segments[1] != "*" && segments[3] == "issues";
}

// The writes that a rule can open on a forge: they change no code, no review and no setting.
bool may_be_opened(const Target& target) {
    if (target.method != "POST" || target.websocket || is_ambiguous_path(target.path) ||
        target.path.find('%') != target.path.npos)
        return false;
    auto segments = segments_of(target.path);
    remove_api_version(segments);
    if (segments.size() < 4 || segments[0] != "repos" || segments[3] != "issues") return false;
    if (segments.size() == 4) return true;
    return segments.size() == 6 && is_number(segments[4]) && (segments[5] == "comments" || segments[5] == "labels");
}

Result<> check_pattern(std::string_view pattern) {
    const bool wildcard = pattern.starts_with("*.");
    const std::string_view name = wildcard ? pattern.substr(2) : pattern;
    const std::string bracketed =
        name.find(':') == std::string_view::npos ? std::string(name) : "[" + std::string(name) + "]";
    const auto parsed = parse_host_port(bracketed, 1);
    if (!parsed.ok() || parsed.value().host != name || parsed.value().port != 1)
        return invalid(
            "\"" + std::string(pattern) + "\" is not a host name: " +
            (parsed.ok() ? "write it in lower case, without port and dot at the end" : parsed.error().message));
    if (wildcard && (parsed.value().is_address || name.find('.') == std::string_view::npos))
        return invalid("\"" + std::string(pattern) + "\" covers too much: name at least a second level");
    return {};
}

Result<> check_rule(const skill::HostRule& rule) {
    TRY(check_pattern(rule.host));
    if (!rule.path_prefix.starts_with('/') || is_ambiguous_path(rule.path_prefix))
        return invalid("the path prefix of " + rule.host + " must start with / and have no . or .. segments");
    for (const std::string& method : rule.methods)
        if (!net::is_token(method) || method == "CONNECT" || method == "TRACE")
            return invalid("\"" + method + "\" is not a method that a rule may name");
    return {};
}

} // namespace

bool host_matches(std::string_view pattern, std::string_view host) {
    if (!pattern.starts_with("*.")) return pattern == host;
    const std::string_view suffix = pattern.substr(1);
    return host.size() > suffix.size() && host.ends_with(suffix);
}

bool path_matches(std::string_view prefix, std::string_view path) {
    const bool ends_with_slash = prefix.ends_with('/');
    if (ends_with_slash) prefix.remove_suffix(1);
    if (prefix.find('*') == prefix.npos)
        return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
    const auto wanted = split(prefix, '/');
    const auto segments = split(path, '/');
    if (segments.size() < wanted.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] == "*" ? segments[i].empty() : wanted[i] != segments[i]) return false;
    return true;
}

std::vector<ForgeHost> forge_hosts(const std::vector<std::string>& repository_urls,
                                   const std::vector<std::string>& run_urls) {
    std::vector<ForgeHost> forges;
    const auto at = [&](const std::string& host) -> ForgeHost& {
        for (ForgeHost& forge : forges)
            if (forge.host == host) return forge;
        return forges.emplace_back(ForgeHost{host, {}});
    };
    const auto add = [&](const std::string& address, bool is_own) {
        constexpr std::string_view scheme = "https://";
        if (!address.starts_with(scheme)) return; // a repository on this server
        const std::string_view rest = std::string_view(address).substr(scheme.size());
        const size_t slash = std::min(rest.find('/'), rest.size());
        const auto place = parse_host_port(rest.substr(0, slash), 443);
        if (!place.ok()) return;
        const std::string host = place.value().host;
        at(host).repositories.emplace_back(rest.substr(slash));
        const auto describe = [&](ForgeHost& forge) {
            if (std::find(forge.ports.begin(), forge.ports.end(), place.value().port) == forge.ports.end())
                forge.ports.push_back(place.value().port);
            if (is_own) forge.own.emplace_back(rest.substr(slash));
        };
        describe(at(host));
        for (const std::string& alias : forge_aliases(host)) describe(at(alias));
        // Below the host, and at addresses of their own.
        const bool has_api_names = host == "github.com" || host == "bitbucket.org" || host_matches("*.ghe.com", host);
        if (!has_api_names) return;
        for (const char* name : {"api.", "uploads."}) describe(at(name + host));
    };
    for (const std::string& address : repository_urls) add(address, false);
    for (const std::string& address : run_urls) add(address, true);
    return forges;
}

bool is_ambiguous_path(std::string_view path) {
    std::string spelled(path);
    for (int level = 0; level <= most_decodings; ++level) {
        const std::string unified = collapse_slashes(spelled);
        for (const std::string_view segment : split(unified, '/')) {
            const std::string_view name = segment.substr(0, segment.find(';')); // "..;x" is ".." to some servers
            if (name == "." || name == "..") return true;
        }
        if (unified.find('\0') != std::string::npos) return true;
        spelled = decode_once(spelled);
    }
    return false;
}

Policy::Policy(EgressMode mode, skill::Grant grant, std::vector<PolicyRule> rules, std::vector<ForgeHost> forges)
    : m_mode(mode),
      m_grant(std::move(grant)),
      m_rules(std::move(rules)),
      m_forges(std::move(forges)) {}

Result<std::shared_ptr<const Policy>> Policy::compile(EgressMode mode, skill::Grant grant,
                                                      std::vector<PolicyRule> rules, std::vector<ForgeHost> forges) {
    for (const auto& rule : grant.allow) rules.push_back({rule, false, "skill"});
    for (const auto& credential : grant.credentials)
        for (const auto& host : credential.hosts) {
            if (credential.brokered && !host.tls)
                return invalid(credential.variable + ": a secret is never sent over a plain connection (" + host.host +
                               ")");
            rules.push_back({host, false, "skill with " + credential.secret_name});
        }
    for (const auto& rule : rules) TRY(check_rule(rule.host));
    return std::shared_ptr<const Policy>(new Policy(mode, std::move(grant), std::move(rules), std::move(forges)));
}

bool Policy::names(const HostPort& target) const {
    return std::any_of(m_rules.begin(), m_rules.end(), [&](const PolicyRule& rule) {
        return !rule.deny && rule.host.host == target.host && covers_place(rule.host, target);
    });
}

Verdict Policy::decide_connect(const HostPort& target) const {
    Verdict verdict;
    if (m_mode == EgressMode::none) {
        verdict.rule = "mode none";
        verdict.reason = "this run has no network; only the gateway is reachable";
        return verdict;
    }
    const PolicyRule* allowing = nullptr;
    bool unrestricted = false;
    for (const PolicyRule& rule : m_rules) {
        if (!covers_place(rule.host, target)) continue;
        if (rule.deny) {
            if (!is_restricted(rule.host)) {
                verdict.rule = show(rule);
                verdict.reason = "a rule denies this host";
                return verdict;
            }
            verdict.terminate = true; // to see what is denied
        } else if (rule.host.tls) {
            if (!allowing) allowing = &rule;
            unrestricted |= !is_restricted(rule.host);
        }
    }
    for (const auto& credential : m_grant.credentials)
        for (const auto& host : credential.hosts) verdict.brokered |= credential.brokered && covers_place(host, target);
    verdict.allowed = allowing != nullptr || m_mode == EgressMode::open;
    verdict.terminate |=
        verdict.brokered || (m_mode != EgressMode::open && !unrestricted) || find_forge(m_forges, target.host);
    verdict.rule = allowing ? show(*allowing) : m_mode == EgressMode::open ? "mode open" : "no rule";
    verdict.reason = verdict.allowed ? (allowing ? "a rule allows this host" : "this run may reach every public host")
                                     : unknown_host;
    return verdict;
}

Verdict Policy::decide(const Target& target) const {
    Verdict verdict = decide_connect(target.host);
    if (m_mode == EgressMode::none) return verdict;
    verdict.allowed = false;
    const auto is_method = [&](std::string_view name) { return equals_ignoring_case(target.method, name); };
    if (is_method("TRACE") || is_method("TRACK") || is_method("CONNECT")) {
        verdict.rule = "method";
        verdict.reason = target.method + " is never passed on";
        return verdict;
    }
    for (const PolicyRule& rule : m_rules)
        if (rule.deny && denies(rule.host, target)) {
            verdict.rule = show(rule);
            verdict.reason = "a rule denies this request";
            return verdict;
        }
    const ForgeHost unregistered{target.host.host, {}};
    const ForgeHost* forge = find_forge(m_forges, target.host.host);
    if (forge == nullptr && target.at_forge) forge = &unregistered;
    const bool writes_to_forge = forge != nullptr && !is_forge_read(*forge, target);
    if (writes_to_forge && !may_be_opened(target)) {
        verdict.rule = "forge " + forge->host;
        verdict.reason =
            "repositories of this forge are registered in Hone: workers only read there, and Hone delivers "
            "their branches after review";
        return verdict;
    }
    const auto opens = [&](const skill::HostRule& rule) {
        return allows(rule, target) && (!writes_to_forge || names_forge_write(rule));
    };
    for (size_t i = 0; i < m_grant.credentials.size(); ++i) {
        const auto& credential = m_grant.credentials[i];
        const auto takes_credential = [&](const skill::HostRule& rule) {
            return opens(rule) &&
                   (forge == nullptr || names_forge_path(rule) || is_in_own_repository(*forge, target.path));
        };
        if (credential.brokered && std::any_of(credential.hosts.begin(), credential.hosts.end(), takes_credential))
            verdict.credentials.push_back(i);
    }
    const PolicyRule* near = nullptr;
    for (const PolicyRule& rule : m_rules) {
        if (rule.deny) continue;
        if (opens(rule.host)) {
            verdict.allowed = true;
            verdict.rule = show(rule);
            verdict.reason = "a rule allows this request";
            return verdict;
        }
        if (!near && covers_place(rule.host, target.host)) near = &rule;
    }
    if (m_mode == EgressMode::open && !writes_to_forge) {
        verdict.allowed = true;
        verdict.rule = "mode open";
        verdict.reason = "this run may reach every public host";
    } else if (writes_to_forge) {
        verdict.rule = "forge " + forge->host;
        verdict.reason =
            "on a forge with registered repositories issues, comments and labels need a rule that names POST "
            "and the path, such as /repos/team/shop/issues";
    } else if (near) {
        verdict.rule = show(*near);
        verdict.reason = "the host is allowed, but not this method, path, scheme or upgrade";
    } else {
        verdict.rule = "no rule";
        verdict.reason = unknown_host;
    }
    return verdict;
}

} // namespace hone::broker
