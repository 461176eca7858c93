#include "cli/commands/sessions/session_settings.h"

#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/toolkit/as_file.h"
#include "cli/toolkit/scope.h"

#include <algorithm>

namespace hone::cli {

namespace {

constexpr std::string_view managed = "claude-managed"; // a provider, and the only harness that it runs

// The settings themselves, or what has them: a preset as a file, a manifest.
Result<json::Object> settings_in_file(const Context& context, const std::string& file) {
    const json::Value value = TRY(read_value_file(context, file));
    const json::Value* settings = &value;
    if (value.is_object())
        if (const json::Value* inner = value.get_object().if_contains("settings")) settings = inner;
    if (!settings->is_object())
        return context.fail(Exit::usage, file + " has no settings", "hone preset export prints an example");
    return settings->get_object();
}

Result<std::string> skill_id(const Context& context, const std::string& skill) {
    if (skill.starts_with("skl_")) return skill;
    return text_of(TRY(context.remote.get(path_of("/v1/skills", {skill}), space_query(context))), "id");
}

json::Array repositories(const Context& context) {
    json::Array repos;
    for (const auto& given : context.parsed.all("--repo")) {
        const size_t mark = given.rfind('#');
        json::Object repo{{"url", given.substr(0, mark)}};
        if (mark != given.npos) repo["ref"] = given.substr(mark + 1);
        repos.push_back(std::move(repo));
    }
    return repos;
}

} // namespace

bool has_own_settings(const Context& context) {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"--harness", "--model", "--command", "--settings", "--repo"},
        [&](std::string_view option) { return context.parsed.has(option); });
}

Result<json::Array> skill_ids(const Context& context) {
    json::Array ids;
    for (const auto& skill : context.parsed.all("--skill")) ids.emplace_back(TRY(skill_id(context, skill)));
    return ids;
}

Result<json::Object> own_settings(const Context& context) {
    json::Object settings;
    if (const auto file = context.parsed.value("--settings")) {
        settings = TRY(settings_in_file(context, *file));
        // A file has names of skills, as another server gives them other ids.
        if (json::Value* skills = settings.if_contains("skills"); skills != nullptr && skills->is_array())
            for (json::Value& skill : skills->get_array())
                if (skill.is_string()) skill = TRY(skill_id(context, std::string(skill.get_string())));
    }
    if (context.parsed.value("--provider") == managed) settings["harness"] = managed;
    for (const auto& [option, name] : {std::pair("--harness", "harness"), {"--model", "model"}})
        if (const auto value = context.parsed.value(option)) settings[name] = *value;
    if (!settings.contains("harness"))
        return context.usage("give --preset, --harness or --settings; hone preset list shows presets");
    json::Array command;
    for (const auto& word : context.parsed.all("--command")) command.emplace_back(word);
    if (!command.empty()) settings["command"] = std::move(command);
    if (json::Array skills = TRY(skill_ids(context)); !skills.empty()) settings["skills"] = std::move(skills);
    if (json::Array repos = repositories(context); !repos.empty()) settings["repos"] = std::move(repos);
    return settings;
}

void add_limits(const json::Value& manifest, json::Object& run) {
    std::string text;
    const auto add = [&](std::string_view field, auto&& show) {
        if (const int64_t value = number_of(manifest, "settings." + std::string(field)); value > 0)
            text += (text.empty() ? "" : ", ") + show(value);
    };
    const auto unit = [](std::string_view name) {
        return [name](int64_t value) { return std::to_string(value) + std::string(name); };
    };
    add("sandbox.wall_clock_minutes", unit(" min"));
    add("sandbox.idle_minutes", unit(" min idle"));
    add("sandbox.tool_seconds", unit(" s for each call of Hone's tools"));
    add("budget.turns", unit(" turns"));
    add("budget.steps", unit(" tool calls"));
    add("budget.tokens", [](int64_t value) { return count_text(value) + " tokens"; });
    add("budget.cost_micro_usd", [](int64_t value) { return money_text(value); });
    if (!text.empty()) run["limits"] = text;
}

} // namespace hone::cli
