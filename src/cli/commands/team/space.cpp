#include "base/text.h"
#include "cli/remote/view.h"

#include <charconv>
#include <cmath>

namespace hone::cli {

namespace {

const Argument space_argument{.name = "SPACE", .doc = "Id or name of the space."};

Columns space_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "description", .field = "description"},
        {.title = "your role", .field = "role"},
        {.title = "permissions", .field = "permissions", .kind = Kind::list, .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

std::string space_path(const Context& context) {
    return path_of("/v1/spaces", {context.value_or_empty("SPACE")});
}

Result<> list_spaces(Context& context) {
    return show_list(
        context, "/v1/spaces", {}, space_columns(),
        "You are not a member of a space. Ask an owner for an invite, or create a space:\n  hone space create NAME");
}

Result<> create_space(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    if (const auto description = context.parsed.value("--description")) body["description"] = *description;
    const json::Value made = TRY(context.remote.post("/v1/spaces", std::move(body)));
    return show_done(context, made, "Created space " + text_of(made, "name") + " (" + text_of(made, "id") + ").");
}

Result<> show_space(Context& context) {
    return show_record(context, TRY(context.remote.get(space_path(context))), space_columns());
}

Result<> update_space(Context& context) {
    json::Object body;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (const auto description = context.parsed.value("--description")) body["description"] = *description;
    if (body.empty()) return context.usage("nothing to change: give --name or --description");
    return show_record(context, TRY(context.remote.patch(space_path(context), std::move(body))), space_columns());
}

Result<> delete_space(Context& context) {
    const json::Value space = TRY(context.remote.get(space_path(context)));
    const std::string name = text_of(space, "name");
    TRY(context.confirm("This deletes the space " + name + " (" + text_of(space, "id") +
                            ") with all its projects, members and keys, permanently.",
                        name));
    const std::string path = path_of("/v1/spaces", {text_of(space, "id")});
    return show_done(context, TRY(context.remote.remove(path, {{"confirm", name}})), "Deleted space " + name + ".");
}

Columns policy_columns() {
    constexpr std::string_view installation = "limit of the installation";
    return {
        {.title = "open network", .field = "policy.open_network", .kind = Kind::yes_no},
        {.title = "hosts", .field = "policy.hosts", .kind = Kind::list, .absent = "any"},
        {.title = "secrets in env", .field = "policy.env_secrets", .kind = Kind::yes_no},
        {.title = "minimum isolation", .field = "policy.minimum_tier"},
        {.title = "providers", .field = "policy.providers", .kind = Kind::list, .absent = "any"},
        {.title = "memory", .field = "policy.memory_bytes", .kind = Kind::bytes, .absent = installation},
        {.title = "processors", .field = "policy.cpus", .kind = Kind::number, .absent = installation},
        {.title = "processes", .field = "policy.pids", .kind = Kind::number, .absent = installation},
        {.title = "disk", .field = "policy.disk_bytes", .kind = Kind::bytes, .absent = installation},
        {.title = "minutes", .field = "policy.wall_clock_minutes", .kind = Kind::number, .absent = installation},
        {.title = "tokens per run", .field = "policy.tokens", .kind = Kind::number, .absent = "no limit"},
        {.title = "cost per run", .field = "policy.cost_micro_usd", .kind = Kind::money, .absent = "no limit"},
        {.title = "installation: memory", .field = "installation.memory_bytes", .kind = Kind::bytes},
        {.title = "installation: processors", .field = "installation.cpus", .kind = Kind::number},
        {.title = "installation: processes", .field = "installation.pids", .kind = Kind::number},
        {.title = "installation: disk", .field = "installation.disk_bytes", .kind = Kind::bytes},
        {.title = "installation: minutes", .field = "installation.wall_clock_minutes", .kind = Kind::number},
        {.title = "installation: default tokens", .field = "installation.default_tokens", .kind = Kind::number},
    };
}

Result<double> parse_amount(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number >= 0) || number > 1e9)
        return invalid("not a number: " + text.substr(0, 40));
    return number;
}

// How an option's text becomes a value of the policy.
enum class PolicyValue { yes_no, names, text, bytes, integer, number, dollars };
struct PolicyOption {
    std::string_view option;
    std::string_view field;
    PolicyValue value;
};
constexpr PolicyOption policy_options[] = {{"--open-network", "open_network", PolicyValue::yes_no},
                                           {"--hosts", "hosts", PolicyValue::names},
                                           {"--env-secrets", "env_secrets", PolicyValue::yes_no},
                                           {"--minimum-tier", "minimum_tier", PolicyValue::text},
                                           {"--providers", "providers", PolicyValue::names},
                                           {"--memory", "memory_bytes", PolicyValue::bytes},
                                           {"--cpus", "cpus", PolicyValue::number},
                                           {"--pids", "pids", PolicyValue::integer},
                                           {"--disk", "disk_bytes", PolicyValue::bytes},
                                           {"--minutes", "wall_clock_minutes", PolicyValue::integer},
                                           {"--tokens", "tokens", PolicyValue::integer},
                                           {"--cost", "cost_micro_usd", PolicyValue::dollars}};

Result<json::Value> policy_value(const std::string& text, PolicyValue kind) {
    const bool none = text == "none" || text == "any";
    switch (kind) {
    case PolicyValue::yes_no:
        return json::Value(text == "yes");
    case PolicyValue::text:
        return json::Value(text);
    case PolicyValue::names: {
        if (none) return json::Value(nullptr);
        json::Array names;
        for (const std::string_view name : split(text, ','))
            if (!trim(name).empty()) names.emplace_back(std::string(trim(name)));
        return json::Value(std::move(names));
    }
    case PolicyValue::bytes:
        return none ? json::Value(nullptr) : json::Value(TRY(parse_bytes(text)));
    case PolicyValue::integer:
        return none ? json::Value(nullptr) : json::Value(TRY(parse_integer(text)));
    case PolicyValue::number:
        return none ? json::Value(nullptr) : json::Value(TRY(parse_amount(text)));
    case PolicyValue::dollars:
        return none ? json::Value(nullptr) : json::Value(std::llround(TRY(parse_amount(text)) * 1e6));
    }
    return internal("not reached");
}

Result<> show_space_storage(Context& context) {
    return show_list(context, "/v1/storage/spaces", {},
                     {{.title = "space", .field = "space_name", .absent = "(none)"},
                      {.title = "total", .field = "total_bytes", .kind = Kind::bytes},
                      {.title = "spans", .field = "spans", .kind = Kind::count},
                      {.title = "traces", .field = "traces_bytes", .kind = Kind::bytes},
                      {.title = "artifacts", .field = "artifacts_bytes", .kind = Kind::bytes},
                      {.title = "threads", .field = "threads_bytes", .kind = Kind::bytes},
                      {.title = "layers", .field = "layers_bytes", .kind = Kind::bytes},
                      {.title = "repositories", .field = "repositories_bytes", .kind = Kind::bytes},
                      {.title = "other", .field = "other_bytes", .kind = Kind::bytes}},
                     "There are no spaces.");
}

void print_consent_lines(const Context& context, const json::Value& view, const char* field) {
    if (context.json()) return;
    const json::Value* lines = view.is_object() ? view.get_object().if_contains(field) : nullptr;
    if (lines == nullptr || !lines->is_array()) return;
    context.console.print(std::string(field) == "leaves" ? "What leaves this server:\n"
                                                         : "What the provider cannot keep:\n");
    for (const json::Value& line : lines->get_array())
        if (line.is_string()) context.console.print("  " + std::string(line.get_string()) + "\n");
}

// Shows it; with options changes it first.
Result<> space_policy(Context& context) {
    const std::string path = space_path(context) + "/policy";
    json::Value view = TRY(context.remote.get(path));
    json::Value* policy = view.is_object() ? view.get_object().if_contains("policy") : nullptr;
    if (policy == nullptr || !policy->is_object()) return internal("the server's response has no policy");
    bool changed = false;
    for (const PolicyOption& each : policy_options) {
        const auto given = context.parsed.value(std::string(each.option));
        if (!given) continue;
        policy->get_object()[std::string(each.field)] = TRY(policy_value(*given, each.value));
        changed = true;
    }
    if (changed) view = TRY(context.remote.put(path, *policy));
    return show_record(context, view, policy_columns());
}

// Shows what leaves and who consented; with an option changes it first.
Result<> space_consent(Context& context) {
    const std::string path = space_path(context) + "/managed-consent";
    const auto give = context.parsed.value("--give"), withdraw = context.parsed.value("--withdraw");
    if (give && withdraw) return context.usage("give either --give or --withdraw");
    json::Value view = TRY(context.remote.get(path));
    if (give) {
        for (const char* field : {"leaves", "not_kept"}) print_consent_lines(context, view, field);
        TRY(context.confirm("Data of the space is then sent to " + *give + ", as listed above.", *give));
        view = TRY(context.remote.post(path, json::Object{{"base_url", *give}}));
    }
    if (withdraw) view = TRY(context.remote.post(path + "/withdraw", json::Object{{"base_url", *withdraw}}));
    return show_record(context, view,
                       {{.title = "leaves this server", .field = "leaves", .kind = Kind::list},
                        {.title = "not kept", .field = "not_kept", .kind = Kind::list},
                        {.title = "consents", .field = "consents", .kind = Kind::list, .absent = "none"}});
}

} // namespace

std::vector<Command> space_commands() {
    const Option description{.name = "--description", .value = "TEXT", .doc = "Description."};
    return {
        {.path = "space list", .summary = "List your spaces.", .lists = true, .run = list_spaces},
        {.path = "space create",
         .summary = "Create a space.",
         .arguments = {{.name = "NAME", .doc = "Name of the space."}},
         .options = {description},
         .run = create_space},
        {.path = "space show",
         .summary = "Show a space and your permissions in it.",
         .arguments = {space_argument},
         .run = show_space},
        {.path = "space update",
         .summary = "Change the name or description of a space.",
         .arguments = {space_argument},
         .options = {{.name = "--name", .value = "NAME", .doc = "The new name."}, description},
         .run = update_space},
        {.path = "space policy",
         .summary = "Show or change the limits for runs of a space.",
         .arguments = {space_argument},
         .options = {{.name = "--open-network",
                      .value = "YES",
                      .doc = "Allow the network mode open.",
                      .choices = {"yes", "no"}},
                     {.name = "--hosts",
                      .value = "HOSTS",
                      .doc = "Hosts that presets and skills can allow: a,b,*.example.com; any: all."},
                     {.name = "--env-secrets",
                      .value = "YES",
                      .doc = "Allow skills to put values of secrets into the environment.",
                      .choices = {"yes", "no"}},
                     {.name = "--minimum-tier",
                      .value = "TIER",
                      .doc = "Minimum isolation of sandboxes.",
                      .choices = {"ns", "gvisor"}},
                     {.name = "--providers",
                      .value = "PROVIDERS",
                      .doc = "Providers that runs can use: local,kubernetes; any: all."},
                     {.name = "--memory",
                      .value = "BYTES",
                      .doc = "Maximum memory of a sandbox, such as 4g; none: the limit of the installation."},
                     {.name = "--cpus",
                      .value = "N",
                      .doc = "Maximum processors of a sandbox; none: the limit of the installation."},
                     {.name = "--pids",
                      .value = "N",
                      .doc = "Maximum processes of a sandbox; none: the limit of the installation."},
                     {.name = "--disk",
                      .value = "BYTES",
                      .doc = "Maximum size of a workspace, such as 10g; none: the limit of the installation."},
                     {.name = "--minutes",
                      .value = "N",
                      .doc = "Maximum minutes of a sandbox; none: the limit of the installation."},
                     {.name = "--tokens", .value = "N", .doc = "Maximum token budget of a run; none: no limit."},
                     {.name = "--cost",
                      .value = "USD",
                      .doc = "Maximum cost budget of a run, such as 2.50; none: no limit."}},
         .details =
             "The limits are checked when a preset is saved and when a run starts. Runs without a budget of their own "
             "get that of the policy.\n"
             "Example: hone space policy default --hosts '*.example.com,github.com' --memory 4g --tokens 2000000",
         .run = space_policy},
        {.path = "space consent",
         .summary = "Show what leaves with provider claude-managed; consent to it or withdraw. For owners.",
         .arguments = {space_argument},
         .options = {{.name = "--give", .value = "URL", .doc = "Consent: data is sent to this base URL."},
                     {.name = "--withdraw", .value = "URL", .doc = "Withdraw the consent; sessions end."}},
         .details = "Example: hone space consent default --give https://api.anthropic.com",
         .destructive = true,
         .run = space_consent},
        {.path = "space storage",
         .summary = "Show the disk that each space uses. For owners of the installation.",
         .details = "The row without a space is what belongs to none: database, span log, images, harnesses.",
         .lists = true,
         .run = show_space_storage},
        {.path = "space delete",
         .summary = "Delete a space and everything in it.",
         .arguments = {space_argument},
         .destructive = true,
         .run = delete_space},
    };
}

} // namespace hone::cli
