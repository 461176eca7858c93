#include "broker/egress/placeholder.h"

#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>

namespace hone::broker {

namespace {

constexpr size_t random_letters = 32; // 190 bits
constexpr size_t most_redactors = 256;

// Public prefixes that tools check.
constexpr std::string_view known_prefixes[] = {
    "github_pat_", "ghp_",      "gho_",  "ghu_", "ghs_",     "ghr_", "glpat-",  "sk-ant-api03-", "sk-ant-",
    "sk-proj-",    "sk-or-v1-", "sk-",   "xai-", "gsk_",     "AIza", "dt0c01.", "dt0s16.",       "xoxb-",
    "xoxp-",       "npm_",      "pypi-", "hf_",  "lin_api_", "ntn_", "hone_",   "key-",
};

bool is_hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Bytes that are random without knowledge of the seed.
class Stream {
public:
    Stream(const crypto::SecretBytes& seed, std::string_view purpose) : m_seed(seed), m_purpose(purpose) {}
    unsigned char next() {
        if (m_at == m_block.size()) {
            m_block =
                crypto::keyed_hash(m_seed.reveal(), "placeholder " + std::to_string(m_blocks++) + " " + m_purpose);
            m_at = 0;
        }
        return static_cast<unsigned char>(m_block[m_at++]);
    }
    std::string bytes(size_t count) {
        std::string text;
        while (text.size() < count) text += static_cast<char>(next());
        return text;
    }
    std::string alphanumerics(size_t count) {
        static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        std::string text;
        while (text.size() < count)
            if (const auto byte = next(); byte < 248) text += letters[byte % letters.size()];
        return text;
    }

private:
    const crypto::SecretBytes& m_seed;
    const std::string m_purpose;
    std::string m_block;
    size_t m_at = 0;
    int64_t m_blocks = 0;
};

std::string make_placeholder(Stream stream, std::string_view secret) {
    if (secret.size() >= 32 && secret.size() <= 128 && is_hex(secret))
        return to_hex(stream.bytes((secret.size() + 1) / 2)).substr(0, secret.size());
    for (const std::string_view prefix : known_prefixes)
        if (secret.starts_with(prefix) && secret.size() > prefix.size() + 8)
            return std::string(prefix) + "hone" +
                   stream.alphanumerics(std::clamp(secret.size() - prefix.size() - 4, random_letters, size_t{120}));
    return "hone" + stream.alphanumerics(random_letters);
}

bool replace_all(std::string& text, std::string_view from, std::string_view to) {
    bool found = false;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
        found = true;
    }
    return found;
}

// Content of a Basic header, "user:password"; empty when it is not one.
std::string decode_basic(std::string_view value) {
    if (value.size() < 7 || !equals_ignoring_case(value.substr(0, 6), "basic ")) return {};
    std::string text(trim(value.substr(6)));
    while (text.ends_with('=')) text.pop_back();
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    auto decoded = from_base64url(text);
    return decoded.ok() ? std::move(decoded).value() : std::string();
}

std::string key_of(const skill::Credential& credential) {
    return credential.variable + " " + credential.secret_id;
}

bool is_bound(const skill::Credential& credential, const HostPort& host) {
    return credential.brokered &&
           std::any_of(credential.hosts.begin(), credential.hosts.end(), [&](const skill::HostRule& rule) {
               return host_matches(rule.host, host.host) && (rule.port == 0 || rule.port == host.port);
           });
}

// The declared header; without one, those that are made for credentials. Other headers are logged, cached and echoed.
bool may_carry(const skill::Credential& credential, std::string_view name) {
    if (!credential.header.empty()) return equals_ignoring_case(credential.header, name);
    return is_credential_header(name) && !equals_ignoring_case(name, "cookie");
}

bool names_header(const Policy& policy, std::string_view name) {
    return std::any_of(policy.grant().credentials.begin(), policy.grant().credentials.end(),
                       [&](const auto& credential) { return equals_ignoring_case(credential.header, name); });
}

} // namespace

std::string format_credential(std::string_view format, std::string_view secret) {
    if (format.empty()) format = "{}";
    const bool basic = format.size() > 6 && equals_ignoring_case(format.substr(0, 6), "basic ");
    std::string value(basic ? format.substr(6) : format);
    const size_t mark = value.find("{}");
    if (mark != std::string::npos) value.replace(mark, 2, secret);
    if (!basic) return value;
    std::string encoded = "Basic " + to_base64(value);
    crypto::wipe(value);
    return encoded;
}

bool is_credential_header(std::string_view name) {
    static constexpr std::string_view names[] = {
        "authorization", "cookie",         "x-api-key", "api-key",    "x-goog-api-key",     "x-auth-token",
        "private-token", "x-access-token", "job-token", "dd-api-key", "dd-application-key", "api-token",
        "x-vault-token", "apikey",         "x-token",   "x-auth-key",
    };
    return std::any_of(std::begin(names), std::end(names),
                       [&](std::string_view known) { return equals_ignoring_case(known, name); });
}

std::string_view find_query_credential(std::string_view path, std::string_view host) {
    static constexpr std::string_view names[] = {"access_token",    "api_key",
                                                 "apikey",          "api-key",
                                                 "application_key", "private_token",
                                                 "oauth_token",     "client_secret",
                                                 "auth_token",      "x-api-key",
                                                 "token",           "job_token",
                                                 "bearer_token",    "personal_access_token"};
    const size_t mark = path.find('?');
    if (mark == std::string_view::npos) return {};
    for (const std::string_view pair : split(path.substr(mark + 1), '&')) {
        const auto decoded = percent_decode(pair.substr(0, pair.find('=')), true);
        const std::string name = lowercase_ascii(decoded.ok() ? decoded.value() : std::string(pair));
        if (name == "key" && host_matches("*.googleapis.com", host)) return "key";
        for (const std::string_view known : names)
            if (name == known) return known;
    }
    return {};
}

Result<Placeholders::Secret> Placeholders::open(const std::string& secret_id) {
    const Duration now = m_clock.steady();
    {
        const Lock lock(m_mutex);
        const auto found = m_secrets.find(secret_id);
        if (found != m_secrets.end() && now - found->second.at < secret_lifetime) return found->second.secret;
    }
    crypto::SecretBytes opened = TRY(m_open(secret_id));
    const std::string_view value = opened.reveal();
    if (value.empty() || !net::is_field_value(value))
        return invalid("the secret has characters that a header cannot contain");
    const Lock lock(m_mutex);
    Opened& kept = m_secrets[secret_id];
    kept.at = now;
    if (!kept.secret || !crypto::equal(kept.secret->reveal(), value))
        kept.secret = std::make_shared<const crypto::SecretBytes>(std::move(opened));
    return kept.secret;
}

Result<std::string> Placeholders::of(const skill::Credential& credential) {
    const std::string key = key_of(credential);
    {
        const Lock lock(m_mutex);
        if (const auto found = m_placeholders.find(key); found != m_placeholders.end()) return found->second;
    }
    const Secret secret = TRY(open(credential.secret_id));
    const Lock lock(m_mutex);
    return m_placeholders.emplace(key, make_placeholder(Stream(*m_seed, key), secret->reveal())).first->second;
}

std::string Placeholders::find_placeholder(std::string_view text) const {
    const std::string basic = decode_basic(text);
    const Lock lock(m_mutex);
    for (const auto& [key, placeholder] : m_placeholders)
        if (text.find(placeholder) != std::string_view::npos || basic.find(placeholder) != std::string::npos)
            return key.substr(0, key.find(' '));
    return {};
}

Result<bool> Placeholders::substitute(const skill::Credential& credential, Header& header) {
    const std::string placeholder = TRY(of(credential));
    std::string basic = decode_basic(header.value);
    const bool is_plain = header.value.find(placeholder) != std::string::npos;
    if (!is_plain && basic.find(placeholder) == std::string::npos) return false;
    const Secret secret = TRY(open(credential.secret_id));
    // Room first: a growing string would leave parts of the secret behind.
    header.value.reserve(header.value.size() * 2 + secret->size() * 4 + 64);
    if (is_plain) {
        replace_all(header.value, placeholder, secret->reveal());
    } else {
        basic.reserve(basic.size() + secret->size() * 2);
        replace_all(basic, placeholder, secret->reveal());
        std::string encoded = to_base64(basic);
        header.value.assign("Basic ").append(encoded);
        crypto::wipe(encoded);
        crypto::wipe(basic);
    }
    return true;
}

// A skill that names header and format gets its credential in without the worker's help. Two that want the same header
// get nothing: guessing could send a secret where its owner did not mean it to go.
Result<> Placeholders::put_missing(const Policy& policy, const Verdict& verdict, const std::vector<size_t>& used,
                                   RequestHead& head, std::vector<std::string>& names) {
    const auto& credentials = policy.grant().credentials;
    for (const size_t index : verdict.credentials) {
        const skill::Credential& credential = credentials[index];
        if (credential.header.empty() || std::find(used.begin(), used.end(), index) != used.end()) continue;
        if (!header_value(head.headers, credential.header).empty()) continue;
        const auto rivals = std::count_if(verdict.credentials.begin(), verdict.credentials.end(), [&](size_t other) {
            return equals_ignoring_case(credentials[other].header, credential.header);
        });
        if (rivals != 1) continue;
        const Secret secret = TRY(open(credential.secret_id));
        head.headers.push_back({credential.header, format_credential(credential.format, secret->reveal())});
        names.push_back(credential.secret_name);
    }
    return {};
}

Result<std::vector<std::string>> Placeholders::apply(const Policy& policy, const Verdict& verdict, RequestHead& head) {
    const std::string_view host = head.target ? std::string_view(head.target->host)
                                  : head.host ? std::string_view(head.host->host)
                                              : std::string_view();
    if (const std::string_view name = find_query_credential(head.path, host); !name.empty())
        return forbidden("a credential in the query (" + std::string(name) + ") is not passed on to this host");
    if (!find_placeholder(head.path).empty())
        return forbidden("a placeholder is replaced in headers only, not in the address");
    std::vector<std::string> names;
    std::vector<size_t> used;
    std::vector<Header> kept;
    for (Header& header : head.headers) {
        bool substituted = false;
        for (const size_t index : verdict.credentials) {
            const skill::Credential& credential = policy.grant().credentials[index];
            if (!may_carry(credential, header.name)) continue;
            if (!TRY(substitute(credential, header))) continue;
            substituted = true;
            used.push_back(index);
            names.push_back(credential.secret_name);
        }
        if (!substituted) {
            if (const std::string variable = find_placeholder(header.value); !variable.empty())
                return forbidden("the placeholder of " + variable + " is not bound to this request's host, port, " +
                                 "method, path or header " + lowercase_ascii(header.name));
            if (is_credential_header(header.name) || names_header(policy, header.name)) continue;
        }
        kept.push_back(std::move(header));
    }
    head.headers = std::move(kept);
    TRY(put_missing(policy, verdict, used, head, names));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<> Placeholders::refuse_strays(const RequestHead& head) const {
    for (const Header& header : head.headers)
        if (const std::string variable = find_placeholder(header.value); !variable.empty())
            return forbidden("the placeholder of " + variable + " is not bound to this host");
    return {};
}

Result<std::shared_ptr<const Redactor>> Placeholders::redactor_for(const Policy& policy, const HostPort& host) {
    std::vector<Secret> secrets;
    for (const skill::Credential& credential : policy.grant().credentials)
        if (is_bound(credential, host)) secrets.push_back(TRY(open(credential.secret_id)));
    std::sort(secrets.begin(), secrets.end());
    secrets.erase(std::unique(secrets.begin(), secrets.end()), secrets.end());
    {
        const Lock lock(m_mutex);
        const auto found = m_redactors.find(host.text());
        if (found != m_redactors.end() && found->second.secrets == secrets) return found->second.redactor;
    }
    std::vector<std::string_view> values;
    for (const Secret& secret : secrets) values.push_back(secret->reveal());
    auto made = std::make_shared<const Redactor>(values);
    const Lock lock(m_mutex);
    if (m_redactors.size() >= most_redactors) m_redactors.clear();
    m_redactors[host.text()] = {std::move(secrets), made};
    return made;
}

} // namespace hone::broker
