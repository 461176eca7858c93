#include "base/text.h"
#include "cli/remote/credentials.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

#include <climits>
#include <filesystem>
#include <unistd.h>

namespace hone::cli {

namespace {

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = {};
    return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "this machine";
}

// "hone_session=abc; HttpOnly; …" -> "hone_session=abc"; over TLS the name has a prefix
std::string cookie_of(const Reply& reply) {
    for (const auto& header : reply.headers)
        if (equals_ignoring_case(header.name, "Set-Cookie") &&
            (header.value.starts_with("hone_session=") || header.value.starts_with("__Host-hone_session=")))
            return header.value.substr(0, header.value.find(';'));
    return "";
}

Result<std::string> find_email(const Context& context) {
    if (auto email = context.parsed.value("--email"); email && !email->empty()) return *email;
    if (!context.console.is_interactive()) return context.usage("--email is required without a terminal");
    return context.console.prompt("Email: ");
}

Result<std::string> find_password(const Context& context) {
    if (context.parsed.has("--password-stdin")) return context.console.read_line();
    if (!context.console.is_interactive())
        return context.usage("without a terminal, send the password to standard input with --password-stdin");
    return context.console.prompt_secret("Password: ");
}

// A login session that lasts only as long as it takes to make a key.
struct BriefSession {
    std::vector<net::Header> headers;
    json::Value me;
};

Result<BriefSession> open_session(const Context& context, const std::string& email, const std::string& password) {
    json::Object body{{"email", email}, {"password", password}};
    if (const auto code = context.parsed.value("--code")) body["code"] = *code;
    Call login{.method = "POST", .path = "/v1/login", .body = body};
    auto reply = context.remote.call(login);
    const auto needs_code = [&] { return !reply.ok() && context.explanation.challenge.starts_with("TOTP"); };
    if (needs_code() && !body.contains("code") && context.console.is_interactive()) {
        context.explanation = {};
        body["code"] = TRY(context.console.prompt("Code of your authenticator app: "));
        login.body = body;
        reply = context.remote.call(login);
    }
    if (needs_code()) {
        context.explanation.hint = "give the code of your authenticator app, or a recovery code, with --code";
        return std::move(reply).error();
    }
    if (!reply.ok()) {
        if (context.explanation.exit == Exit::unauthorized)
            context.explanation.hint = "check the email and the password";
        return std::move(reply).error();
    }
    const std::string cookie = cookie_of(reply.value());
    const std::string token = text_of(reply.value().data, "csrf_token");
    if (cookie.empty() || token.empty())
        return context.fail(Exit::failure, "the server accepted the login but returned no cookie",
                            "is " + context.remote.target().url + " the address of a Hone server?");
    return BriefSession{{{"Cookie", cookie}, {"X-CSRF-Token", token}}, std::move(reply.value().data)};
}

// Replaced logins leave no working key behind. Best effort: the old key may be gone already.
void revoke_quietly(const Context& context, const StoredLogin& old) {
    const Explanation before = context.explanation;
    const net::Header bearer{"Authorization", "Bearer " + old.api_key};
    Call call{.method = "DELETE", .path = path_of("/v1/keys", {old.key_id}), .headers = {bearer}};
    static_cast<void>(context.remote.call(call).ok());
    context.explanation = before;
}

Result<> store_login(const Context& context, const std::string& path, const std::string& email,
                     const json::Value& key) {
    Credentials credentials = TRY(read_credentials(path));
    const std::string& url = context.remote.target().url;
    const StoredLogin* old = credentials.find(url);
    if (old != nullptr) revoke_quietly(context, *old);
    StoredLogin login{text_of(key, "key"), text_of(key, "id"), email, {}};
    if (const auto& ca_file = context.remote.target().ca_file; !ca_file.empty()) {
        std::error_code ignored;
        login.ca_file = std::filesystem::absolute(ca_file, ignored).string();
    }
    credentials.servers[url] = std::move(login);
    credentials.default_url = url;
    return write_credentials(path, credentials);
}

// A key that was made in the UI, where single sign-on works.
Result<> login_with_key(const Context& context, const std::string& path) {
    const std::string key(trim(TRY(context.console.read_line())));
    if (key.empty()) return context.usage("standard input has no key");
    const Call call{.path = "/v1/me", .headers = {{"Authorization", "Bearer " + key}}};
    json::Value me = TRY(context.remote.call(call)).data;
    const json::Value* own = member(me, "key");
    const json::Value* user = member(me, "user");
    if (own == nullptr || !own->is_object()) return context.fail(Exit::failure, "the server did not recognize the key");
    const std::string name = user != nullptr && user->is_object() ? text_of(*user, "email") : text_of(*own, "name");
    TRY(store_login(context, path, name,
                    json::Object{{"key", key}, {"id", text_of(*own, "id")}, {"name", text_of(*own, "name")}}));
    return show_done(context, *own, "Logged in to " + context.remote.target().url + " as " + name + ".");
}

Result<> login(Context& context) {
    if (context.remote.target().plain_text)
        context.console.note(context.console.paint_note(Style::yellow, "warning: ") + context.remote.target().url +
                             " is not encrypted: others on the network can read the password. Use https.\n");
    // Known before anything is made on the server that could not be kept here.
    const std::string path = TRY(credentials_path(context.environment));
    TRY(read_credentials(path));
    if (context.parsed.has("--key-stdin")) return login_with_key(context, path);
    const std::string email = TRY(find_email(context));
    const std::string password = TRY(find_password(context));
    const BriefSession session = TRY(open_session(context, email, password));

    json::Object wanted{{"name", "cli on " + host_name()}};
    if (const auto days = TRY(context.integer("--expires-in-days", 1))) wanted["expires_in_days"] = *days;
    Call create{.method = "POST",
                .path = "/v1/keys",
                .query = {{"space", context.value_or_empty("--space")}},
                .body = std::move(wanted),
                .headers = session.headers};
    auto made = context.remote.call(create);
    Explanation outcome = context.explanation;
    static_cast<void>(context.remote.call({.method = "POST", .path = "/v1/logout", .headers = session.headers}).ok());
    context.explanation = std::move(outcome);
    json::Value key = TRY(std::move(made)).data;
    if (text_of(key, "key").empty())
        return context.fail(Exit::failure, "the server created a key but did not return it");
    TRY(store_login(context, path, email, key));

    if (context.json()) {
        key.get_object().erase("key"); // it is stored; output ends up in logs
        print_json(context, key);
        return {};
    }
    context.print("Logged in to " + context.remote.target().url + " as " + email + ".");
    const auto* change = session.me.is_object() ? session.me.get_object().if_contains("must_change_password") : nullptr;
    if (change != nullptr && change->is_bool() && change->get_bool())
        context.console.note("You still use your initial password. Change it at " + context.remote.target().url + "\n");
    return {};
}

Result<> logout(Context& context) {
    const std::string path = TRY(credentials_path(context.environment));
    Credentials credentials = TRY(read_credentials(path));
    const std::string url = context.remote.target().url;
    const StoredLogin* stored = credentials.find(url);
    if (stored == nullptr)
        return context.fail(Exit::unauthorized, "not logged in to " + url, "hone whoami shows your account");
    const net::Header bearer{"Authorization", "Bearer " + stored->api_key};
    Call call{.method = "DELETE", .path = path_of("/v1/keys", {stored->key_id}), .headers = {bearer}};
    auto revoked = context.remote.call(call);
    // A key that no longer works is as good as revoked. Otherwise keep it, so that it can be revoked later.
    const auto exit = context.explanation.exit;
    if (!revoked.ok() && exit != Exit::unauthorized && exit != Exit::not_found && !context.parsed.has("--force")) {
        context.explanation.hint = "--force deletes the stored key without revoking it";
        return std::move(revoked).error();
    }
    credentials.remove(url);
    TRY(write_credentials(path, credentials));
    context.explanation = {};
    return show_done(context, revoked.ok() ? revoked.value().data : json::Value(json::Object()),
                     "Logged out of " + url + ".");
}

std::string comma_list(const json::Value& object, std::string_view field) {
    const json::Value* list = object.is_object() ? object.get_object().if_contains(field) : nullptr;
    std::string text;
    if (list == nullptr || !list->is_array()) return text;
    for (const auto& item : list->get_array())
        if (item.is_string()) text += (text.empty() ? "" : ", ") + std::string(item.get_string());
    return text;
}

Result<> whoami(Context& context) {
    const json::Value me = TRY(context.remote.get("/v1/me"));
    if (context.json() || !me.is_object()) {
        print_json(context, me);
        return {};
    }
    const auto* user = me.get_object().if_contains("user");
    const auto* key = me.get_object().if_contains("key");
    const auto* spaces = me.get_object().if_contains("spaces");
    json::Object shown{{"server", context.remote.target().url}};
    if (user != nullptr && user->is_object())
        shown["user"] = text_of(*user, "email") + " (" + text_of(*user, "id") + ")";
    if (key != nullptr && key->is_object()) {
        shown["key"] = text_of(*key, "name") + " (" + text_of(*key, "id") + ")";
        shown["scopes"] = comma_list(*key, "scopes");
        if (const auto* expires = key->get_object().if_contains("expires_at")) shown["expires"] = *expires;
    }
    std::string names;
    if (spaces != nullptr && spaces->is_array())
        for (const auto& space : spaces->get_array()) {
            const std::string custom = text_of(space, "custom_role");
            const std::string role = custom.empty() ? text_of(space, "role") : custom;
            names += (names.empty() ? "" : "\n") + text_of(space, "name") + (role.empty() ? "" : " as " + role) + ": " +
                     comma_list(space, "permissions");
        }
    shown["spaces"] = names;
    shown["installation"] = comma_list(me, "installation_permissions");
    return show_record(context, shown,
                       {{.title = "server", .field = "server"},
                        {.title = "user", .field = "user"},
                        {.title = "key", .field = "key"},
                        {.title = "scopes", .field = "scopes"},
                        {.title = "expires", .field = "expires", .kind = Kind::time, .absent = "never"},
                        {.title = "spaces", .field = "spaces"},
                        {.title = "installation", .field = "installation"}});
}

} // namespace

std::vector<Command> login_commands() {
    return {
        {.path = "login",
         .summary = "Log in to a server and store its key.",
         .options = {{.name = "--email",
                      .value = "EMAIL",
                      .doc = "E-mail address of your account; the command prompts for it if not given."},
                     {.name = "--password-stdin", .value = "", .doc = "Read the password from standard input."},
                     {.name = "--code",
                      .value = "CODE",
                      .doc =
                          "Code of your authenticator app, or a recovery code, if your account has a second factor."},
                     {.name = "--key-stdin",
                      .value = "",
                      .doc = "Read an API key from standard input and store it; for accounts of single sign-on."},
                     {.name = "--expires-in-days", .value = "NUMBER", .doc = "Days until the login expires."}},
         .details = "Creates an API key named after this machine and stores it. The password is not stored. An account "
                    "of single\n"
                    "sign-on has no password: create a key in the web UI and give it with --key-stdin.\n"
                    "Example: hone login --url https://hone.example.com --email ada@example.com",
         .needs = Needs::server,
         .run = login},
        {.path = "logout",
         .summary = "Revoke the key that login stored, and delete it here.",
         .options = {{.name = "--force",
                      .value = "",
                      .doc = "Delete the stored key even if the server cannot be reached to revoke it."}},
         .needs = Needs::server,
         .run = logout},
        {.path = "whoami", .summary = "Show your account and permissions.", .run = whoami},
    };
}

} // namespace hone::cli
