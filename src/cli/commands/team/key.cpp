#include "base/text.h"
#include "cli/remote/credentials.h"
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

const Argument key_argument{.name = "KEY", .doc = "Id of the key, as hone key list shows it."};

Columns key_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "kind", .field = "kind"},
        {.title = "prefix", .field = "prefix"},
        {.title = "space", .field = "space_name"},
        {.title = "user", .field = "user_email"},
        {.title = "role", .field = "role"},
        {.title = "scopes", .field = "scopes", .kind = Kind::list},
        {.title = "state", .field = "state"},
        {.title = "created", .field = "created_at", .kind = Kind::time, .only_single = true},
        {.title = "expires", .field = "expires_at", .kind = Kind::time, .absent = "never"},
        {.title = "last used", .field = "last_used_at", .kind = Kind::time, .absent = "never"},
    };
}

Result<> show_created(const Context& context, const json::Value& made) {
    Columns columns = key_columns();
    columns.push_back({.title = "key", .field = "key"});
    TRY(show_record(context, made, columns));
    if (!context.json()) context.console.note("Store the key now: it is not shown again.\n");
    return {};
}

// The login on this machine follows when it is its own key that is replaced or revoked.
Result<> change_stored_key(const Context& context, const std::string& key_id, const json::Value* replacement) {
    const auto path = credentials_path(context.environment);
    if (!path.ok()) return {};
    Credentials credentials = TRY(read_credentials(path.value()));
    const std::string& url = context.remote.target().url;
    const StoredLogin* login = credentials.find(url);
    if (login == nullptr || login->key_id != key_id) return {};
    if (replacement == nullptr) {
        credentials.remove(url);
    } else {
        credentials.servers[url].key_id = text_of(*replacement, "id");
        credentials.servers[url].api_key = text_of(*replacement, "key");
    }
    context.console.note(replacement ? "This was the key of your login here; the new one is stored.\n"
                                     : "This was the key of your login here: you are logged out.\n");
    return write_credentials(path.value(), credentials);
}

Result<> list_keys(Context& context) {
    const bool whole = context.parsed.has("--installation");
    Query query = whole ? Query{{"scope", "installation"}} : space_query(context);
    if (whole && context.parsed.value("--space"))
        return context.usage("--installation and --space contradict each other");
    if (const auto days = TRY(context.integer("--unused-days", 1)))
        query.emplace_back("unused_days", std::to_string(*days));
    if (context.parsed.has("--by-last-use")) query.emplace_back("order", "last_used");
    if (context.parsed.has("--include-revoked")) query.emplace_back("include_revoked", "true");
    return show_list(context, "/v1/keys", std::move(query), key_columns(),
                     "No keys. Programs need one to use the API:\n  hone key create NAME");
}

Result<> create_key(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    if (const auto kind = context.parsed.value("--kind")) body["kind"] = *kind;
    if (const auto role = context.parsed.value("--role")) body["role"] = *role;
    if (const auto scopes = context.parsed.all("--scope"); !scopes.empty()) body["scopes"] = json::to_value(scopes);
    if (const auto days = TRY(context.integer("--expires-in-days", 1))) body["expires_in_days"] = *days;
    if (const auto time = context.parsed.value("--expires-at")) {
        if (body.contains("expires_in_days"))
            return context.usage("--expires-at and --expires-in-days contradict each other");
        body["expires_at"] = *time;
    }
    return show_created(context, TRY(context.remote.post("/v1/keys", std::move(body), space_query(context))));
}

Result<> revoke_key(Context& context) {
    const std::string key = context.value_or_empty("KEY");
    TRY(context.confirm("Programs that use the key " + key + " will stop working.", "yes"));
    const json::Value revoked = TRY(context.remote.remove(path_of("/v1/keys", {key})));
    TRY(change_stored_key(context, key, nullptr));
    return show_done(context, revoked, "Revoked key " + key + ".");
}

// The keys that encrypt secrets, not an API key.
Result<> rotate_encryption(const Context& context, std::string_view what) {
    json::Object body{{"what", what}};
    if (const auto space = context.parsed.value("--space"); space && what == "data") body["space"] = *space;
    const json::Value done = TRY(context.remote.post("/v1/encryption/rotate", std::move(body)));
    TRY(show_record(context, done,
                    {{.title = "rotated", .field = "what"},
                     {.title = "master key", .field = "master_key"},
                     {.title = "data keys", .field = "data_keys", .kind = Kind::number},
                     {.title = "secrets", .field = "secrets", .kind = Kind::number}}));
    if (!context.json() && what == "master")
        context.console.note("Copy the new master key to a safe place. Earlier backups need the old one.\n");
    return {};
}

Result<> rotate_key(Context& context) {
    const std::string key = context.value_or_empty("KEY");
    const bool master = context.parsed.has("--master"), data = context.parsed.has("--data");
    if ((key.empty() ? 0 : 1) + (master ? 1 : 0) + (data ? 1 : 0) != 1)
        return context.usage("name one API key to rotate, or give --master or --data");
    if (key.empty()) return rotate_encryption(context, master ? "master" : "data");
    json::Object body;
    if (const auto grace = context.parsed.value("--grace")) {
        const auto length = parse_duration_ns(*grace);
        if (!length.ok() || length.value() < 0) return context.usage("--grace must be a duration such as 10m or 2d");
        body["grace_seconds"] = length.value() / 1'000'000'000;
    }
    const json::Value made = TRY(context.remote.post(path_of("/v1/keys", {key, "rotate"}), std::move(body)));
    TRY(change_stored_key(context, key, &made));
    return show_created(context, made);
}

} // namespace

std::vector<Command> key_commands() {
    return {
        {.path = "key list",
         .summary = "List API keys: your own, or all keys of the space if you can manage them.",
         .options = {{.name = "--include-revoked", .value = "", .doc = "Also list revoked keys."},
                     {.name = "--installation", .value = "", .doc = "List the keys of all spaces."},
                     {.name = "--unused-days",
                      .value = "NUMBER",
                      .doc = "Only keys that were not used for so many days; a new key counts as used."},
                     {.name = "--by-last-use", .value = "", .doc = "List never used and longest unused keys first."}},
         .details = "Example: hone key list --installation --unused-days 90 --by-last-use",
         .lists = true,
         .run = list_keys},
        {.path = "key create",
         .summary = "Create an API key.",
         .arguments = {{.name = "NAME", .doc = "Name of the key."}},
         .options = {{.name = "--kind",
                      .value = "KIND",
                      .doc = "personal: acts as you; service: has a role of its own. Default: personal.",
                      .choices = {"personal", "service"}},
                     {.name = "--role", .value = "ROLE", .doc = "Role of a service key.", .choices = role_names()},
                     {.name = "--scope",
                      .value = "PERMISSION",
                      .doc = "Permission of the key, such as project_read; or read, or all. Default: all.",
                      .repeated = true},
                     {.name = "--expires-in-days",
                      .value = "NUMBER",
                      .doc = "Days until the key expires. Default: it does not expire."},
                     {.name = "--expires-at", .value = "TIME", .doc = "Time at which the key expires (RFC 3339)."}},
         .details = "Example: hone key create ingest --kind service --role member --expires-in-days 90",
         .run = create_key},
        {.path = "key revoke",
         .summary = "Revoke a key; it stops working immediately.",
         .arguments = {key_argument},
         .destructive = true,
         .run = revoke_key},
        {.path = "key rotate",
         .summary =
             "Replace an API key by a new one with the same permissions, or rotate the keys that encrypt secrets.",
         .arguments = {{.name = "KEY", .doc = "Id of the API key, as hone key list shows it.", .optional = true}},
         .options = {{.name = "--grace",
                      .value = "DURATION",
                      .doc = "Time for which the old key still works. Default: 0s."},
                     {.name = "--master", .value = "", .doc = "Rotate the master key of the installation instead."},
                     {.name = "--data",
                      .value = "",
                      .doc = "Rotate the keys that encrypt secrets instead; of one --space, or all."}},
         .run = rotate_key},
    };
}

} // namespace hone::cli
