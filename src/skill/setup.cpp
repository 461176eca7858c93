#include "skill/setup.h"

#include "base/text.h"
#include "net/http/url.h"

#include <algorithm>

namespace hone::skill {

HostRule Host::rule() const {
    HostRule made;
    made.host = host;
    made.port = static_cast<std::uint16_t>(port.value);
    made.tls = tls;
    made.methods = methods.value;
    made.path_prefix = path_prefix.value;
    made.websocket = websocket;
    return made;
}

Host Host::of(const HostRule& rule) {
    Host made;
    made.host = rule.host;
    made.port = static_cast<int64_t>(rule.port);
    made.tls = rule.tls;
    made.methods = rule.methods;
    made.path_prefix = rule.path_prefix;
    made.websocket = rule.websocket;
    return made;
}

namespace {

Exposure exposure_of(const Setup& setup, const std::string& name) {
    const auto found = setup.exposure.find(name);
    return found == setup.exposure.end() ? Exposure::brokered : found->second;
}

void take_value(const Setup& setup, Variable& variable) {
    const auto found = setup.variables.find(variable.name);
    variable.is_set = !variable.secret && found != setup.variables.end();
    if (!variable.secret) variable.value = variable.is_set ? found->second : variable.default_value;
}

std::string value_of(const std::vector<Variable>& variables, std::string_view name) {
    for (const auto& variable : variables)
        if (variable.name == name) return variable.value;
    return "";
}

// Stays in an address until bindings_of puts a repository there.
constexpr std::string_view repository_mark = "{REPOSITORY}";

// "https://api.{DD_SITE}/" with the values in place; a URL in front loses the slash at its end.
std::string filled(std::string_view text, const std::vector<Variable>& variables) {
    std::string made;
    while (!text.empty()) {
        const size_t open = text.find('{');
        made += text.substr(0, open);
        if (open == text.npos) break;
        const size_t close = text.find('}', open);
        const std::string_view mark = text.substr(open, close - open + 1);
        std::string value =
            mark == repository_mark ? std::string(mark) : value_of(variables, mark.substr(1, mark.size() - 2));
        if (made.empty())
            while (value.ends_with('/')) value.pop_back();
        made += value;
        text.remove_prefix(close + 1);
    }
    return made;
}

bool holds(std::string_view condition, const std::vector<Variable>& variables) {
    if (condition.empty()) return true;
    const size_t equals = condition.find('=');
    const bool negated = condition[equals - 1] == '!';
    std::string value = value_of(variables, condition.substr(0, equals - (negated ? 1 : 0)));
    while (value.ends_with('/')) value.pop_back();
    return (value == condition.substr(equals + 1)) != negated;
}

Result<HostRule> rule_of_url(const std::string& text, std::string_view methods) {
    auto url = net::parse_url(text);
    if (!url.ok() || !url.value().unix_path.empty())
        return invalid("\"" + std::string(truncate_utf8(text, 100)) + "\" is not an address like https://example.com");
    if (!url.value().user_info.empty()) return invalid("an address must not hold a user or a password");
    const std::string& target = url.value().target;
    if (target.find_first_of("?#") != target.npos) return invalid("an address must end with its path");
    HostRule rule;
    rule.host = url.value().host;
    rule.port = url.value().port;
    rule.tls = url.value().tls;
    rule.path_prefix = target;
    if (!methods.empty())
        for (const auto method : split(methods, ' ')) rule.methods.emplace_back(method);
    return rule;
}

// Ways of the same variable, header and format are one binding.
Binding& binding_for(std::vector<Binding>& bindings, std::string_view variable, std::string_view header,
                     std::string_view format) {
    for (auto& binding : bindings)
        if (binding.variable == variable && binding.header == header && binding.format == format) return binding;
    return bindings.emplace_back(Binding{std::string(variable), std::string(header), std::string(format), {}});
}

// "a, b" as its parts.
std::vector<std::string> list_of(std::string_view text) {
    std::vector<std::string> parts;
    for (const auto part : split(text, ','))
        if (const auto trimmed = trim(part); !trimmed.empty()) parts.emplace_back(trimmed);
    return parts;
}

// "owner/name" of a repository's address on the forge at `forge`; nothing when it is on another host.
std::optional<std::string> name_on_forge(const std::string& address, const net::Url& forge) {
    const auto url = net::parse_url(address);
    if (!url.ok() || !url.value().tls || url.value().host != forge.host || url.value().port != forge.port)
        return std::nullopt;
    std::string_view path = url.value().target;
    std::string_view base = forge.target;
    while (base.ends_with('/')) base.remove_suffix(1);
    if (!path.starts_with(base)) return std::nullopt;
    path.remove_prefix(base.size());
    while (path.starts_with('/')) path.remove_prefix(1);
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.ends_with(".git")) path.remove_suffix(4);
    if (path.find('/') == path.npos || path.find_first_of("*?#%") != path.npos) return std::nullopt;
    return std::string(path);
}

// What {REPOSITORY} stands for: the run's repositories on this forge, and those that the skill names.
Result<std::vector<std::string>> repositories_for(const std::vector<Variable>& variables, const GrantUse& use) {
    if (!use.repositories) return std::vector<std::string>{"*/*"};
    std::vector<std::string> found;
    const auto add = [&](std::string name) {
        if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(std::move(name));
    };
    for (const auto& name : list_of(value_of(variables, "GITHUB_REPOSITORIES"))) {
        if (name != "*" && (name.find('/') == name.npos || name.starts_with('/') || name.ends_with('/')))
            return invalid("GITHUB_REPOSITORIES: \"" + std::string(truncate_utf8(name, 100)) +
                           "\" is not a repository like team/shop, team/* or *");
        add(name == "*" ? "*/*" : name);
    }
    const std::string home = value_of(variables, "GITHUB_URL");
    if (home.empty()) return found;
    const auto forge = net::parse_url(home);
    if (!forge.ok()) return invalid("GITHUB_URL is not an address like https://git.example.com");
    for (const auto& address : *use.repositories)
        if (auto name = name_on_forge(address, forge.value())) add(std::move(*name));
    return found;
}

// The requests beyond reading that a github skill opts in to.
Result<> add_writes(const std::vector<Variable>& variables, std::vector<Binding>& bindings) {
    static constexpr std::string_view methods[] = {"POST", "PUT", "PATCH", "DELETE"};
    std::string home = value_of(variables, "GITHUB_URL");
    while (home.ends_with('/')) home.pop_back();
    const bool on_github = home == "https://github.com";
    for (const auto& write : list_of(value_of(variables, "GITHUB_WRITES"))) {
        const size_t blank = write.find(' ');
        const std::string method = write.substr(0, blank);
        const std::string path(blank == write.npos ? "" : trim(std::string_view(write).substr(blank)));
        if (std::find(std::begin(methods), std::end(methods), method) == std::end(methods) || !path.starts_with('/') ||
            path.size() < 2)
            return invalid("GITHUB_WRITES: \"" + std::string(truncate_utf8(write, 100)) +
                           "\" is not a method and a path like POST /repos/team/shop/issues");
        if (path.ends_with("git-receive-pack"))
            return invalid("GITHUB_WRITES: workers never push to a forge; Hone pushes their branches after review");
        auto& binding = binding_for(bindings, "GH_TOKEN", "authorization", on_github ? "Bearer {}" : "token {}");
        binding.hosts.push_back(TRY(rule_of_url((on_github ? "https://api.github.com" : home) + path, method)));
    }
    return {};
}

std::string text_of(const HostRule& rule) {
    std::string methods;
    for (const auto& method : rule.methods) methods += method + " ";
    return std::string(rule.tls ? "https://" : "http://") + rule.host + ":" + std::to_string(rule.port) +
           rule.path_prefix + " " + methods + (rule.websocket ? "websocket" : "");
}

} // namespace

std::vector<Variable> variables_of(SkillType type, const Setup& setup) {
    std::vector<Variable> variables;
    for (const auto& row : type_row(type).variables) {
        Variable variable{std::string(row.name),
                          row.secret,
                          row.required,
                          std::string(row.default_value),
                          std::string(row.help),
                          {},
                          {},
                          exposure_of(setup, std::string(row.name)),
                          {},
                          false,
                          row.audience};
        for (const auto choice : row.choices) variable.choices.emplace_back(choice);
        for (const auto alias : row.aliases) variable.aliases.emplace_back(alias);
        take_value(setup, variable);
        variables.push_back(std::move(variable));
    }
    // A provider wants its key; an endpoint of one's own may not.
    if (type == SkillType::model && value_of(variables, "BASE_URL").empty())
        for (auto& variable : variables)
            if (variable.name == "API_KEY") variable.required = true;
    if (type == SkillType::custom)
        for (const auto& row : setup.declared) {
            Variable variable{row.name, row.secret, row.required, row.default_value,
                              row.help, {},         {},           exposure_of(setup, row.name),
                              {},       false};
            take_value(setup, variable);
            variables.push_back(std::move(variable));
        }
    return variables;
}

Result<std::vector<Binding>> bindings_of(SkillType type, const Setup& setup, const GrantUse& use) {
    std::vector<Binding> bindings;
    const auto variables = variables_of(type, setup);
    const auto rows = type_row(type).bindings;
    // A type without bindings of its own for delivery is used there as workers use it.
    const bool has_audience =
        std::any_of(rows.begin(), rows.end(), [&](const BindingType& row) { return row.audience == use.audience; });
    const Audience audience = has_audience ? use.audience : Audience::worker;
    const auto repositories = TRY(repositories_for(variables, use));
    for (const auto& row : rows) {
        if (row.audience != audience || !holds(row.when, variables)) continue;
        const std::string url = filled(row.url, variables);
        // An address that is needed and not given yet: nothing is reachable.
        if (!url.starts_with("http")) continue;
        auto& binding = binding_for(bindings, row.variable, row.header, row.format);
        const size_t mark = url.find(repository_mark);
        if (mark == url.npos) {
            binding.hosts.push_back(TRY(rule_of_url(url, row.methods)));
            continue;
        }
        for (const std::string& repository : repositories) {
            std::string narrowed = url;
            narrowed.replace(mark, repository_mark.size(), repository);
            binding.hosts.push_back(TRY(rule_of_url(narrowed, row.methods)));
        }
    }
    if (type == SkillType::github && audience == Audience::worker) TRY(add_writes(variables, bindings));
    if (type != SkillType::custom) return bindings;
    for (const auto& declared : setup.declared) {
        if (!declared.secret) continue;
        auto& binding = binding_for(bindings, declared.name, *declared.header, *declared.format);
        for (const auto& host : *declared.hosts) binding.hosts.push_back(host.rule());
    }
    for (const auto& host : setup.allow) binding_for(bindings, "", "", "").hosts.push_back(host.rule());
    return bindings;
}

std::vector<std::string> warnings_of(SkillType type, const Setup& setup) {
    std::vector<std::string> warnings;
    const auto variables = variables_of(type, setup);
    for (const auto& variable : variables)
        if (variable.secret && variable.exposure == Exposure::env)
            warnings.push_back(variable.name + ": the worker sees the secret itself and can send it to every host it "
                                               "reaches.");
    if (type == SkillType::github) {
        for (const auto& write : list_of(value_of(variables, "GITHUB_WRITES")))
            warnings.push_back("Workers can send " + write +
                               " to the forge: what they write there is not reviewed. On a "
                               "forge with a registered repository only issues, their comments and labels are open.");
        for (const auto& repository : list_of(value_of(variables, "GITHUB_REPOSITORIES")))
            if (repository == "*" || repository.ends_with("/*"))
                warnings.push_back("Workers can read every repository that matches " + repository +
                                   ", not only those of their run.");
    }
    if (type == SkillType::model && !value_of(variables, "BASE_URL").empty() && value_of(variables, "MODELS").empty())
        warnings.push_back(
            "MODELS is empty: workers can call every model that BASE_URL offers. Hone recognises models that "
            "search the web by their names only; name those that are used.");
    if (type == SkillType::model)
        for (const auto& name : list_of(value_of(variables, "ALLOW_FEATURES"))) {
            const auto known = model_features();
            const auto found =
                std::find_if(known.begin(), known.end(), [&](const ModelFeature& each) { return each.name == name; });
            warnings.push_back(name + ": " +
                               (found != known.end() ? std::string(found->warning)
                                                     : std::string("requests can use a beta of the provider whose "
                                                                   "effects Hone does not know.")));
        }
    return warnings;
}

Result<ModelEndpoint> model_endpoint_of(const Setup& setup) {
    const auto variables = variables_of(SkillType::model, setup);
    const auto* protocol = find_model_protocol(value_of(variables, "PROTOCOL"));
    if (protocol == nullptr) return invalid("PROTOCOL must be one of anthropic, openai, gemini");
    ModelEndpoint endpoint;
    endpoint.protocol = protocol->name;
    endpoint.base_url = value_of(variables, "BASE_URL");
    if (endpoint.base_url.empty()) endpoint.base_url = protocol->base_url;
    while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
    endpoint.header = protocol->header;
    endpoint.format = protocol->format;
    endpoint.allow_private = value_of(variables, "ALLOW_PRIVATE") == "true";
    const std::string models = value_of(variables, "MODELS");
    endpoint.models = list_of(models);
    for (const auto& price : list_of(value_of(variables, "PRICES"))) endpoint.prices += price + "\n";
    endpoint.features = list_of(value_of(variables, "ALLOW_FEATURES"));
    return endpoint;
}

Result<std::set<std::string>> ways_of(SkillType type, const Setup& setup, const std::string& variable) {
    std::set<std::string> ways;
    const auto exposure = setup.exposure.find(variable);
    if (exposure != setup.exposure.end() && exposure->second == Exposure::env) ways.insert("env");
    if (type == SkillType::model) {
        const auto endpoint = TRY(model_endpoint_of(setup));
        ways.insert(endpoint.base_url + (endpoint.allow_private ? " private" : ""));
        return ways;
    }
    for (const Audience audience : {Audience::worker, Audience::delivery}) {
        const auto bindings = TRY(bindings_of(type, setup, {audience, std::nullopt}));
        for (const auto& binding : bindings) {
            // Without a token of its own delivery uses the workers' one.
            const bool stands_in = variable == "GH_TOKEN" && binding.variable == "GH_DELIVERY_TOKEN";
            if (binding.variable == variable || stands_in)
                for (const auto& host : binding.hosts) ways.insert(text_of(host) + " " + binding.header);
        }
    }
    return ways;
}

} // namespace hone::skill
