#include "skill/setup.h"

#include "base/text.h"
#include "net/http/url.h"

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

// "https://api.{DD_SITE}/" with the values in place; a URL in front loses the slash at its end.
std::string filled(std::string_view text, const std::vector<Variable>& variables) {
    std::string made;
    while (!text.empty()) {
        const size_t open = text.find('{');
        made += text.substr(0, open);
        if (open == text.npos) break;
        const size_t close = text.find('}', open);
        std::string value = value_of(variables, text.substr(open + 1, close - open - 1));
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
                          false};
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

Result<std::vector<Binding>> bindings_of(SkillType type, const Setup& setup) {
    std::vector<Binding> bindings;
    const auto variables = variables_of(type, setup);
    for (const auto& row : type_row(type).bindings) {
        if (!holds(row.when, variables)) continue;
        const std::string url = filled(row.url, variables);
        // An address that is needed and not given yet: nothing is reachable.
        if (!url.starts_with("http")) continue;
        binding_for(bindings, row.variable, row.header, row.format).hosts.push_back(TRY(rule_of_url(url, row.methods)));
    }
    if (type != SkillType::custom) return bindings;
    for (const auto& declared : setup.declared) {
        if (!declared.secret) continue;
        auto& binding = binding_for(bindings, declared.name, *declared.header, *declared.format);
        for (const auto& host : *declared.hosts) binding.hosts.push_back(host.rule());
    }
    for (const auto& host : setup.allow) binding_for(bindings, "", "", "").hosts.push_back(host.rule());
    return bindings;
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
    for (const auto model : split(models, ','))
        if (const auto name = trim(model); !name.empty()) endpoint.models.emplace_back(name);
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
    const auto bindings = TRY(bindings_of(type, setup));
    for (const auto& binding : bindings)
        if (binding.variable == variable)
            for (const auto& host : binding.hosts) ways.insert(text_of(host) + " " + binding.header);
    return ways;
}

} // namespace hone::skill
