#include "base/file.h"
#include "base/text.h"
#include "cli/remote/remote.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

namespace hone::cli {

namespace {

const Argument provider_argument{.name = "PROVIDER", .doc = "Name of the provider, as hone provider list shows it."};

Columns provider_columns() {
    return {
        {.title = "name", .field = "name"},
        {.title = "title", .field = "title"},
        {.title = "issuer", .field = "issuer"},
        {.title = "client id", .field = "client_id"},
        {.title = "secret", .field = "has_client_secret", .kind = Kind::yes_no, .only_single = true},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "scopes", .field = "scopes", .kind = Kind::list, .only_single = true},
        {.title = "domains", .field = "allowed_domains", .kind = Kind::list, .absent = "all", .only_single = true},
        {.title = "groups claim", .field = "groups_claim", .only_single = true},
        {.title = "mappings", .field = "mapping_texts", .kind = Kind::list, .absent = "none", .only_single = true},
        {.title = "link by email", .field = "link_by_email", .kind = Kind::yes_no, .only_single = true},
        {.title = "redirect URI", .field = "redirect_uri", .absent = "set public_url", .only_single = true},
        {.title = "logout URI", .field = "logout_uri", .absent = "set public_url", .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

// With its mappings in the form in which they are given: "GROUP=SPACE:ROLE".
Result<> show_provider(const Context& context, json::Value provider) {
    if (context.json() || !provider.is_object()) {
        print_json(context, provider);
        return {};
    }
    json::Array texts;
    const json::Value* mappings = member(provider, "mappings");
    if (mappings != nullptr && mappings->is_array())
        for (const json::Value& each : mappings->get_array())
            texts.emplace_back(text_of(each, "group") + "=" + text_of(each, "space") + ":" + text_of(each, "role"));
    provider.get_object()["mapping_texts"] = std::move(texts);
    return show_record(context, provider, provider_columns());
}

Result<json::Array> mappings_of(const Context& context) {
    json::Array mappings;
    for (const std::string& text : context.parsed.all("--map")) {
        const size_t colon = text.rfind(':'), equals = text.rfind('=', colon);
        if (colon == std::string::npos || equals == std::string::npos || equals == 0)
            return context.usage("--map must be GROUP=SPACE:ROLE, such as engineers=default:member");
        mappings.push_back(json::Object{{"group", text.substr(0, equals)},
                                        {"space", text.substr(equals + 1, colon - equals - 1)},
                                        {"role", text.substr(colon + 1)}});
    }
    return mappings;
}

json::Array comma_words(const std::string& text) {
    json::Array words;
    for (const std::string_view part : split(text, ','))
        if (!trim(part).empty()) words.emplace_back(std::string(trim(part)));
    return words;
}

// The options that create and update share.
Result<> read_options(const Context& context, json::Object& body) {
    if (const auto title = context.parsed.value("--title")) body["title"] = *title;
    if (const auto scopes = context.parsed.value("--scopes")) body["scopes"] = comma_words(*scopes);
    if (const auto domains = context.parsed.value("--domains")) body["allowed_domains"] = comma_words(*domains);
    if (const auto claim = context.parsed.value("--groups-claim")) body["groups_claim"] = *claim;
    if (const auto link = context.parsed.value("--link-by-email")) body["link_by_email"] = *link == "true";
    if (const auto enabled = context.parsed.value("--enabled")) body["enabled"] = *enabled == "true";
    if (context.parsed.has("--map")) body["mappings"] = TRY(mappings_of(context));
    if (context.parsed.has("--client-secret-stdin")) body["client_secret"] = TRY(context.console.read_line());
    if (const auto file = context.parsed.value("--client-secret-file"))
        body["client_secret"] = std::string(trim(TRY(read_file(*file, 4096))));
    return {};
}

Result<> list_providers(Context& context) {
    return show_list(
        context, "/v1/identity_providers", {}, provider_columns(),
        "No providers of single sign-on. Add one:\n  hone provider create NAME --issuer URL --client-id ID "
        "--client-secret-file FILE");
}

Result<> get_provider(Context& context) {
    return show_provider(
        context, TRY(context.remote.get(path_of("/v1/identity_providers", {context.value_or_empty("PROVIDER")}))));
}

Result<> create_provider(Context& context) {
    const auto issuer = context.parsed.value("--issuer"), client = context.parsed.value("--client-id");
    if (!issuer || !client) return context.usage("--issuer and --client-id are required");
    json::Object body{{"name", context.value_or_empty("NAME")}, {"issuer", *issuer}, {"client_id", *client}};
    TRY(read_options(context, body));
    const json::Value made = TRY(context.remote.post("/v1/identity_providers", std::move(body)));
    TRY(show_provider(context, made));
    if (!text_of(made, "redirect_uri").empty() && !context.json())
        context.console.note("Register this redirect URI at the provider: " + safe_line(text_of(made, "redirect_uri")) +
                             "\n");
    return {};
}

Result<> update_provider(Context& context) {
    json::Object body;
    if (const auto issuer = context.parsed.value("--issuer")) body["issuer"] = *issuer;
    if (const auto client = context.parsed.value("--client-id")) body["client_id"] = *client;
    TRY(read_options(context, body));
    if (context.parsed.has("--no-mappings")) body["mappings"] = json::Array();
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    const std::string path = path_of("/v1/identity_providers", {context.value_or_empty("PROVIDER")});
    return show_provider(context, TRY(context.remote.patch(path, std::move(body))));
}

Result<> delete_provider(Context& context) {
    const std::string name = context.value_or_empty("PROVIDER");
    TRY(context.confirm("Signing in through " + name + " no longer works; its identities are deleted, accounts stay.",
                        name));
    const json::Value gone = TRY(context.remote.remove(path_of("/v1/identity_providers", {name})));
    return show_done(context, gone, "Deleted provider " + name + ".");
}

Result<> check_provider(Context& context) {
    const std::string path = path_of("/v1/identity_providers", {context.value_or_empty("PROVIDER"), "check"});
    const json::Value report = TRY(context.remote.post(path, json::Object{}));
    TRY(show_record(context, report,
                    {{.title = "ok", .field = "ok", .kind = Kind::yes_no},
                     {.title = "problem", .field = "problem"},
                     {.title = "redirect URI", .field = "redirect_uri"},
                     {.title = "sign-in page", .field = "authorization_endpoint"},
                     {.title = "logout page", .field = "end_session_endpoint"},
                     {.title = "sends iss", .field = "sends_issuer", .kind = Kind::yes_no},
                     {.title = "keys", .field = "keys", .kind = Kind::number},
                     {.title = "its clock", .field = "provider_date"}}));
    const json::Value* ok = member(report, "ok");
    if (ok != nullptr && ok->is_bool() && ok->get_bool()) return {};
    return context.fail(Exit::failure, "the provider cannot be used: " + safe_line(text_of(report, "problem")));
}

const std::vector<Option> provider_options{
    {.name = "--issuer", .value = "URL", .doc = "Address of the provider, exactly as its metadata states it."},
    {.name = "--client-id", .value = "ID", .doc = "Id of this server at the provider."},
    {.name = "--client-secret-file", .value = "FILE", .doc = "File with the client secret."},
    {.name = "--client-secret-stdin", .value = "", .doc = "Read the client secret from standard input."},
    {.name = "--title", .value = "TEXT", .doc = "Text of the button on the login page."},
    {.name = "--scopes", .value = "LIST", .doc = "Scopes, separated by commas; openid,email,profile if not given."},
    {.name = "--domains",
     .value = "LIST",
     .doc = "Domains of verified e-mail addresses that can sign in, separated by commas; all if not given."},
    {.name = "--groups-claim", .value = "NAME", .doc = "Claim with the groups, by name or path; groups if not given."},
    {.name = "--map",
     .value = "GROUP=SPACE:ROLE",
     .doc = "Role of a group in a space; `*` as the group stands for everyone. Replaces all mappings.",
     .repeated = true},
    {.name = "--link-by-email",
     .value = "BOOL",
     .doc = "Link a first sign-in to the account with the same, verified address.",
     .choices = {"true", "false"}},
    {.name = "--enabled",
     .value = "BOOL",
     .doc = "Whether people can sign in through it.",
     .choices = {"true", "false"}},
};

} // namespace

std::vector<Command> provider_commands() {
    return {
        {.path = "provider list", .summary = "List providers of single sign-on.", .lists = true, .run = list_providers},
        {.path = "provider get",
         .summary = "Show a provider and the redirect URI to register.",
         .arguments = {provider_argument},
         .run = get_provider},
        {.path = "provider create",
         .summary = "Add an OpenID Connect provider.",
         .arguments = {{.name = "NAME", .doc = "Lower-case name; part of the redirect URI."}},
         .options = provider_options,
         .details = "The client secret is stored encrypted and never shown.\n"
                    "Example: hone provider create company --issuer https://id.example.com --client-id hone \\\n"
                    "  --client-secret-file secret.txt --map engineers=default:member --map '*=default:viewer'",
         .run = create_provider},
        {.path = "provider update",
         .summary = "Change a provider.",
         .arguments = {provider_argument},
         .options = with(provider_options, {{.name = "--no-mappings", .value = "", .doc = "Remove all mappings."}}),
         .run = update_provider},
        {.path = "provider delete",
         .summary = "Delete a provider; accounts are kept.",
         .arguments = {provider_argument},
         .destructive = true,
         .run = delete_provider},
        {.path = "provider check",
         .summary = "Read a provider's metadata and keys, and report what is wrong.",
         .arguments = {provider_argument},
         .run = check_provider},
    };
}

} // namespace hone::cli
