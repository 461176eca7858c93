#include "cli/commands/skills/skill_declared.h"

#include "base/text.h"
#include "cli/remote/view.h"
#include "net/http/url.h"

#include <algorithm>

namespace hone::cli {

namespace {

// "https://api.example.com/v1", "GET,HEAD https://…", "wss://…", "*.example.com".
Result<json::Object> place_of(const Context& context, std::string_view text, std::string_view option) {
    json::Array methods;
    if (const size_t blank = text.find(' '); blank != std::string_view::npos) {
        for (const auto& method : split(text.substr(0, blank), ',')) methods.emplace_back(std::string(trim(method)));
        text = trim(text.substr(blank));
    }
    std::string address(text);
    const bool websocket = address.starts_with("wss://");
    if (websocket) address.replace(0, 3, "https");
    if (address.find("://") == std::string::npos) address.insert(0, "https://");
    // A wildcard is a host to the server alone.
    const size_t host_at = address.find("://") + 3;
    const bool is_wildcard = address.compare(host_at, 2, "*.") == 0;
    if (is_wildcard) address.erase(host_at, 2);
    const auto url = net::parse_url(address);
    if (!url.ok() || !url.value().user_info.empty() || url.value().target.find_first_of("?#") != std::string::npos)
        return context.usage(std::string(option) + " needs an address such as https://api.example.com/v1, not " +
                             std::string(text));
    return json::Object{{"host", (is_wildcard ? "*." : "") + url.value().host},
                        {"port", static_cast<int64_t>(url.value().port)},
                        {"tls", url.value().tls},
                        {"methods", std::move(methods)},
                        {"path_prefix", url.value().target},
                        {"websocket", websocket}};
}

} // namespace

Result<std::pair<std::string, std::string>> split_pair(const Context& context, const std::string& text,
                                                       std::string_view option) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
        return context.usage(std::string(option) + " needs NAME=VALUE, not " + text);
    return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<> add_declared(const Context& context, json::Object& body) {
    json::Array declared, allow;
    const auto entry = [&](const std::string& name) -> json::Object& {
        for (auto& known : declared)
            if (text_of(known, "name") == name) return known.as_object();
        return declared.emplace_back(json::Object{{"name", name}}).as_object();
    };
    for (const auto& text : context.parsed.all("--declare")) {
        const size_t equals = std::min(text.find('='), text.size());
        json::Object& variable = entry(text.substr(0, equals));
        if (equals < text.size()) variable["default_value"] = text.substr(equals + 1);
    }
    for (const auto& text : context.parsed.all("--bind")) {
        const auto [name, place] = TRY(split_pair(context, text, "--bind"));
        json::Object host = TRY(place_of(context, place, "--bind"));
        json::Object& variable = entry(name);
        variable["secret"] = true;
        variable["required"] = true;
        if (!variable.contains("hosts")) variable["hosts"] = json::Array{};
        variable["hosts"].as_array().emplace_back(std::move(host));
    }
    for (const auto& text : context.parsed.all("--header")) {
        const auto [name, header] = TRY(split_pair(context, text, "--header"));
        const size_t colon = header.find(':');
        json::Object& variable = entry(name);
        if (colon == std::string::npos || !variable.contains("hosts"))
            return context.usage("--header needs \"NAME=HEADER: FORMAT\" for a NAME of --bind, not " + text);
        variable["header"] = std::string(trim(header.substr(0, colon)));
        variable["format"] = std::string(trim(header.substr(colon + 1)));
    }
    for (const auto& text : context.parsed.all("--allow")) allow.emplace_back(TRY(place_of(context, text, "--allow")));
    if (!declared.empty()) body["declared"] = std::move(declared);
    if (!allow.empty()) body["allow"] = std::move(allow);
    return {};
}

} // namespace hone::cli
