#include "broker/egress/policy.h"

#include "base/text.h"
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

// Denials must hold however the path is spelled.
bool denies(const skill::HostRule& rule, const Target& target) {
    if (!covers_place(rule, target.host) || !covers_method(rule, target.method)) return false;
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
    if (prefix.ends_with('/')) return path.starts_with(prefix) || path == prefix.substr(0, prefix.size() - 1);
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
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

Policy::Policy(EgressMode mode, skill::Grant grant, std::vector<PolicyRule> rules)
    : m_mode(mode),
      m_grant(std::move(grant)),
      m_rules(std::move(rules)) {}

Result<std::shared_ptr<const Policy>> Policy::compile(EgressMode mode, skill::Grant grant,
                                                      std::vector<PolicyRule> rules) {
    for (const auto& rule : grant.allow) rules.push_back({rule, false, "skill"});
    for (const auto& credential : grant.credentials)
        for (const auto& host : credential.hosts) {
            if (credential.brokered && !host.tls)
                return invalid(credential.variable + ": a secret is never sent over a plain connection (" + host.host +
                               ")");
            rules.push_back({host, false, "skill with " + credential.secret_name});
        }
    for (const auto& rule : rules) TRY(check_rule(rule.host));
    return std::shared_ptr<const Policy>(new Policy(mode, std::move(grant), std::move(rules)));
}

Verdict Policy::judge_connect(const HostPort& target) const {
    Verdict verdict;
    if (m_mode == EgressMode::none) {
        verdict.rule = "mode none";
        verdict.reason = "this run has no network; only the gateway answers";
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
    verdict.terminate |= verdict.brokered || (m_mode != EgressMode::open && !unrestricted);
    verdict.rule = allowing ? show(*allowing) : m_mode == EgressMode::open ? "mode open" : "no rule";
    verdict.reason = verdict.allowed ? (allowing ? "a rule allows this host" : "this run may reach every public host")
                                     : unknown_host;
    return verdict;
}

Verdict Policy::judge(const Target& target) const {
    Verdict verdict = judge_connect(target.host);
    if (m_mode == EgressMode::none) return verdict;
    verdict.allowed = false;
    if (target.method == "TRACE" || target.method == "TRACK" || target.method == "CONNECT") {
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
    for (size_t i = 0; i < m_grant.credentials.size(); ++i) {
        const auto& credential = m_grant.credentials[i];
        if (credential.brokered && std::any_of(credential.hosts.begin(), credential.hosts.end(),
                                               [&](const auto& rule) { return allows(rule, target); }))
            verdict.credentials.push_back(i);
    }
    const PolicyRule* near = nullptr;
    for (const PolicyRule& rule : m_rules) {
        if (rule.deny) continue;
        if (allows(rule.host, target)) {
            verdict.allowed = true;
            verdict.rule = show(rule);
            verdict.reason = "a rule allows this request";
            return verdict;
        }
        if (!near && covers_place(rule.host, target.host)) near = &rule;
    }
    if (m_mode == EgressMode::open) {
        verdict.allowed = true;
        verdict.rule = "mode open";
        verdict.reason = "this run may reach every public host";
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
