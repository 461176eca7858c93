// What a setup must look like. A member who can edit a skill decides where secrets are sent, so nothing here is vague:
// exact names, whole path segments, TLS wherever a secret goes, no header that would change the request itself.
#include "base/text.h"
#include "net/http/url.h"
#include "skill/setup.h"

#include <algorithm>

namespace hone::skill {

namespace {

constexpr size_t most_variables = 50;
constexpr size_t most_hosts = 50;
constexpr size_t longest_value = 4096;

constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_one_line(std::string_view text) {
    return is_valid_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
}

// Variables that decide how programs start, find their libraries or reach the network.
bool is_reserved(std::string_view name) {
    static constexpr std::string_view whole[] = {"PATH",
                                                 "HOME",
                                                 "SHELL",
                                                 "USER",
                                                 "PWD",
                                                 "IFS",
                                                 "ENV",
                                                 "BASH_ENV",
                                                 "TERM",
                                                 "TMPDIR",
                                                 "HTTP_PROXY",
                                                 "HTTPS_PROXY",
                                                 "ALL_PROXY",
                                                 "NO_PROXY",
                                                 "SSL_CERT_FILE",
                                                 "SSL_CERT_DIR",
                                                 "CURL_CA_BUNDLE",
                                                 "REQUESTS_CA_BUNDLE",
                                                 "PYTHONPATH",
                                                 "PYTHONSTARTUP",
                                                 "NODE_OPTIONS",
                                                 "NODE_EXTRA_CA_CERTS",
                                                 "JAVA_TOOL_OPTIONS",
                                                 "PERL5OPT"};
    std::string upper(name);
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return std::find(std::begin(whole), std::end(whole), upper) != std::end(whole) || upper.starts_with("LD_") ||
           upper.starts_with("GIT_") || upper.starts_with("BASH_FUNC");
}

bool is_token(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter(c) || is_digit(c) || c == '-' || c == '_';
    });
}

bool is_label(std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; });
}

Result<> check_host_name(std::string_view host) {
    const auto wrong = [&](std::string_view why) {
        return invalid("host \"" + std::string(truncate_utf8(host, 80)) + "\" " + std::string(why));
    };
    std::string_view name = host;
    const bool wildcard = name.starts_with("*.");
    if (wildcard) name.remove_prefix(2);
    if (name.empty() || name.size() > 253) return wrong("must be a host name like api.example.com");
    const auto labels = split(name, '.');
    if (!std::all_of(labels.begin(), labels.end(), is_label))
        return wrong("must be a lower-case host name like api.example.com, or *.example.com");
    // A name whose last label is a number would be read as an address by some clients.
    if (std::all_of(labels.back().begin(), labels.back().end(), is_digit) || labels.back().starts_with("0x"))
        return wrong("must be a name, not an address");
    if (wildcard && labels.size() < 2) return wrong("covers a whole top-level domain");
    return {};
}

Result<> check_host(const Host& host, bool with_secret) {
    TRY(check_host_name(host.host));
    const auto wrong = [&](std::string_view why) { return invalid("host " + host.host + ": " + std::string(why)); };
    if (*host.port < 1 || *host.port > 65535) return wrong("port must be between 1 and 65535");
    if (with_secret && !host.tls) return wrong("a secret never goes to a host without TLS");
    if (host.methods.value.size() > 16) return wrong("at most 16 methods");
    for (const auto& method : *host.methods)
        if (method.empty() || method.size() > 16 || method == "TRACE" || method == "CONNECT" ||
            !std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
            return wrong("methods must be upper-case names such as GET");
    const std::string& prefix = *host.path_prefix;
    if (!prefix.starts_with('/') || prefix.size() > 200 || !is_printable_ascii(prefix) ||
        prefix.find_first_of(" ?#%\\{}") != prefix.npos || prefix.find("//") != prefix.npos ||
        prefix.find("/.") != prefix.npos)
        return wrong("path_prefix must be a plain path like /v1");
    return {};
}

Result<> check_way(const Declared& declared) {
    const auto wrong = [&](std::string_view why) { return invalid(declared.name + ": " + std::string(why)); };
    static constexpr std::string_view framing[] = {"host",       "content-length", "transfer-encoding",
                                                   "connection", "upgrade",        "te",
                                                   "trailer",    "keep-alive",     "expect",
                                                   "via",        "forwarded",      "proxy-authorization"};
    const std::string& header = *declared.header;
    if (!header.empty()) {
        if (!is_token(header) || lowercase_ascii(header) != header)
            return wrong("header must be a lower-case name like authorization");
        if (std::find(std::begin(framing), std::end(framing), header) != std::end(framing))
            return wrong("the header " + header + " cannot carry a secret");
    }
    const std::string& format = *declared.format;
    const size_t place = format.find("{}");
    if (place == format.npos || format.find("{}", place + 1) != format.npos || format.size() > 200 ||
        !is_printable_ascii(format))
        return wrong("format must hold {} once, like Bearer {}");
    return {};
}

Result<> check_declared(const Setup& setup) {
    if (setup.declared.size() > most_variables) return too_large("at most 50 variables");
    std::set<std::string> names;
    size_t hosts = setup.allow.size();
    for (const auto& declared : setup.declared) {
        TRY(check_variable_name(declared.name));
        if (!names.insert(declared.name).second) return invalid(declared.name + " is declared twice");
        if (declared.help.value.size() > 1000 || !is_valid_utf8(*declared.help))
            return invalid(declared.name + ": help must be at most 1000 bytes of text");
        if (!declared.secret) {
            if (!declared.hosts.value.empty() || !declared.header.value.empty())
                return invalid(declared.name + ": hosts and header belong to secrets; use allow for hosts without one");
            continue;
        }
        if (!declared.default_value.value.empty()) return invalid(declared.name + ": a secret has no default");
        TRY(check_way(declared));
        hosts += declared.hosts.value.size();
        for (const auto& host : *declared.hosts) TRY(check_host(host, true));
    }
    if (hosts > most_hosts) return too_large("at most 50 hosts");
    for (const auto& host : setup.allow) TRY(check_host(host, false));
    return {};
}

// "own-model 0.5 1.5 0.05": a name and two to four amounts.
bool is_price(std::string_view line) {
    std::vector<std::string_view> words;
    for (const auto word : split(line, ' '))
        if (!word.empty()) words.push_back(word);
    if (words.size() < 3 || words.size() > 5 || !is_printable_ascii(words[0]) || words[0].starts_with('#'))
        return false;
    return std::all_of(words.begin() + 1, words.end(), [](std::string_view amount) {
        const auto points = std::count(amount.begin(), amount.end(), '.');
        return amount.size() <= 12 && points <= 1 && is_digit(amount.front()) &&
               std::all_of(amount.begin(), amount.end(), [](char c) { return is_digit(c) || c == '.'; });
    });
}

Result<> check_model(const Setup& setup) {
    const auto endpoint = TRY(model_endpoint_of(setup));
    const auto url = net::parse_url(endpoint.base_url);
    if (!url.ok() || !url.value().unix_path.empty() || !url.value().user_info.empty() ||
        url.value().target.find_first_of("?#") != std::string::npos)
        return invalid("BASE_URL must be an address like https://api.example.com, without user, query or fragment");
    if (!url.value().tls && !endpoint.allow_private)
        return invalid("BASE_URL must begin with https://; ALLOW_PRIVATE permits an endpoint without TLS");
    if (endpoint.models.size() > 100) return too_large("MODELS: at most 100");
    for (const auto line : split(endpoint.prices, '\n'))
        if (!line.empty() && !is_price(line))
            return invalid("PRICES: \"" + std::string(truncate_utf8(line, 100)) +
                           "\" is not a model and its prices like own-model 0.5 1.5 (US dollars per million tokens)");
    if (endpoint.features.size() > 100) return too_large("ALLOW_FEATURES: at most 100");
    const auto known = model_features();
    for (const auto& name : endpoint.features) {
        const bool is_known =
            std::any_of(known.begin(), known.end(), [&](const ModelFeature& each) { return each.name == name; });
        if (!is_known && (!name.starts_with("beta:") || !is_token(std::string_view(name).substr(5))))
            return invalid("ALLOW_FEATURES: there is no feature \"" + std::string(truncate_utf8(name, 60)) + "\"");
    }
    return {};
}

Result<> check_git(const GitSource& git) {
    const auto url = net::parse_url(git.url);
    const bool is_here = git.url.starts_with("file:///") && is_one_line(git.url);
    if (git.url.size() > 500 || (!is_here && (!url.ok() || !url.value().tls || !url.value().user_info.empty())))
        return invalid("git.url must be an https address without user and password, or file:/// for a repository on "
                       "the server");
    const auto plain = [](const std::string& text) {
        return text.size() <= 200 && is_printable_ascii(text) && !text.starts_with('-') && !text.starts_with('/') &&
               text.find("..") == text.npos && text.find_first_of(" ~^:?*[\\{}") == text.npos;
    };
    if (!plain(*git.ref)) return invalid("git.ref must be a branch, a tag or a commit");
    if (!plain(*git.path)) return invalid("git.path must be a folder inside the repository");
    return {};
}

Result<> check_values(const std::vector<Variable>& variables) {
    for (const auto& variable : variables) {
        if (variable.secret || !variable.is_set) continue;
        if (variable.value.size() > longest_value || !is_one_line(variable.value))
            return invalid(variable.name + " must be one line of at most 4096 bytes");
        if (!variable.choices.empty() &&
            std::find(variable.choices.begin(), variable.choices.end(), variable.value) == variable.choices.end()) {
            std::string choices;
            for (const auto& choice : variable.choices) choices += (choices.empty() ? "" : ", ") + choice;
            return invalid(variable.name + " must be one of " + choices);
        }
    }
    return {};
}

} // namespace

Result<> check_variable_name(std::string_view name) {
    const auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
    if (name.empty() || name.size() > 128 || is_digit(name.front()) || !std::all_of(name.begin(), name.end(), fits))
        return invalid("\"" + std::string(truncate_utf8(name, 60)) +
                       "\" is not a name of a variable: letters, digits and _, at most 128, no digit first");
    if (is_reserved(name)) return invalid(std::string(name) + " is set by the sandbox itself; choose another name");
    return {};
}

Result<> check(SkillType type, const Setup& setup) {
    if (type != SkillType::custom && (!setup.declared.empty() || !setup.allow.empty() || setup.git || setup.folder))
        return invalid("variables, hosts and folders of one's own belong to skills of type custom");
    TRY(check_declared(setup));
    const auto variables = variables_of(type, setup);
    const auto find = [&](const std::string& name) {
        return std::find_if(variables.begin(), variables.end(), [&](const auto& each) { return each.name == name; });
    };
    for (const auto& [name, value] : setup.variables) {
        const auto found = find(name);
        if (found == variables.end())
            return invalid("unknown variable " + std::string(truncate_utf8(name, 100)) + " of a " +
                           std::string(name_of(type)) + " skill");
        if (found->secret) return invalid(name + " is a secret: send it as one");
    }
    for (const auto& [name, exposure] : setup.exposure) {
        const auto found = find(name);
        if (found == variables.end() || !found->secret)
            return invalid("exposure: there is no secret " + std::string(truncate_utf8(name, 100)));
        if (found->audience == Audience::delivery && exposure == Exposure::env)
            return invalid(name + " never enters a sandbox: Hone alone uses it");
        if (type == SkillType::hone && exposure == Exposure::env)
            return invalid(
                "the key of a hone skill never enters the sandbox: with it a worker could do all that its owner "
                "can, from anywhere");
        if (type == SkillType::model && exposure == Exposure::env)
            return invalid("the key of a model never enters the sandbox: the model gateway adds it");
    }
    TRY(check_values(variables));
    if (setup.git) TRY(check_git(*setup.git));
    if (type == SkillType::model) return check_model(setup);
    // Hosts that values lead to obey the same rules as declared ones.
    for (const Audience audience : {Audience::worker, Audience::delivery}) {
        const auto bindings = TRY(bindings_of(type, setup, {audience, std::vector<std::string>{}}));
        for (const auto& binding : bindings)
            for (const auto& rule : binding.hosts) TRY(check_host(Host::of(rule), !binding.variable.empty()));
    }
    return {};
}

} // namespace hone::skill
