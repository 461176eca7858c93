// Single sign-on, its providers and groups, identities and second factors of accounts, logins of all accounts.
#include "api/core/cookies.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "identity/identity.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct SignOnButton {
    std::string name;
    std::string title;
    static constexpr Pack fields{
        Field{"name", &SignOnButton::name, ""},
        Field{"title", &SignOnButton::title, ""},
    };
};

struct LoginOptions {
    std::vector<SignOnButton> providers;
    bool passwords = true;
    static constexpr Pack fields{
        Field{"providers", &LoginOptions::providers, "Providers of single sign-on."},
        Field{"passwords", &LoginOptions::passwords, "false: only single accounts can log in with a password."},
    };
};

struct StartSignOn {
    static constexpr bool is_query = true;
    std::optional<std::string> return_to;
    static constexpr Pack fields{
        Field{"return_to", &StartSignOn::return_to, "Path of the page to open afterwards."},
    };
};

// Providers add parameters of their own.
struct SignOnQuery {
    static constexpr bool is_query = true;
    static constexpr bool ignores_others = true;
    std::optional<std::string> code;
    std::optional<std::string> state;
    std::optional<std::string> iss;
    std::optional<std::string> error;
    static constexpr Pack fields{
        Field{"code", &SignOnQuery::code, ""},
        Field{"state", &SignOnQuery::state, ""},
        Field{"iss", &SignOnQuery::iss, "Issuer of the response (RFC 9207)."},
        Field{"error", &SignOnQuery::error, ""},
    };
};

struct WhichIdentity {
    static constexpr bool is_query = true;
    std::optional<std::string> issuer;
    std::optional<std::string> subject;
    static constexpr Pack fields{
        Field{"issuer", &WhichIdentity::issuer, ""},
        Field{"subject", &WhichIdentity::subject, ""},
    };
};

struct ListLogins {
    static constexpr bool is_query = true;
    std::optional<std::string> user;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"user", &ListLogins::user, "Id of a user; all users if not given."},
        Field{"limit", &ListLogins::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListLogins::cursor, "next_cursor of the previous response."},
    };
};

struct ListGroups {
    static constexpr bool is_query = true;
    std::optional<std::string> provider;
    std::optional<std::string> user;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"provider", &ListGroups::provider, "Name of a provider; all providers if not given."},
        Field{"user", &ListGroups::user, "Id of a user: only groups in which this user is."},
        Field{"limit", &ListGroups::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListGroups::cursor, "next_cursor of the previous response."},
    };
};

struct BeginSecondFactor {
    std::string password;
    static constexpr Pack fields{Field{"password", &BeginSecondFactor::password, ""}};
};

struct ConfirmSecondFactor {
    std::string code;
    static constexpr Pack fields{
        Field{"code", &ConfirmSecondFactor::code, "The code that the authenticator app shows now."},
    };
};

struct RemoveSecondFactor {
    std::string password;
    std::string code;
    static constexpr Pack fields{
        Field{"password", &RemoveSecondFactor::password, ""},
        Field{"code", &RemoveSecondFactor::code, "Code of the app, or a recovery code."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t logout_body_limit = 64 << 10;

std::string escaped_html(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    return out;
}

// The only pages that are not a part of the UI: they stand where the browser comes from another site, without its
// login.
constexpr std::string_view page_style =
    ":root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif;color:light-dark(#1a1e22,#e8eaec);background:"
    "light-dark(#ffffff,#131416)}main{max-width:26rem;margin:18vh auto 0;padding:0 1.25rem;overflow-wrap:anywhere}"
    "h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:0 0 1rem;color:light-dark(#535a63,#a9b0b8)}"
    "p::first-letter{text-transform:uppercase}a{color:light-dark(#0c6b66,#57c7bc)}";

net::Response html_page(int status, std::string_view title, const std::string& head, const std::string& body) {
    net::Response response;
    response.status = status;
    response.content_type = "text/html; charset=utf-8";
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
                        "frame-ancestors 'none'");
    response.body = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                    "content=\"width=device-width\">" +
                    head + "<title>" + std::string(title) + " - Hone</title><style>" + std::string(page_style) +
                    "</style></head><body><main>" + body + "</main></body></html>\n";
    return response;
}

// For a person in front of a browser; the cause is also in the audit log.
net::Response failed_sign_on(const Error& error) {
    const int status = error.code == Code::unavailable || error.code == Code::busy   ? 503
                       : error.code == Code::internal || error.code == Code::corrupt ? 500
                                                                                     : 400;
    const bool shown = error.code != Code::internal && error.code != Code::corrupt;
    return html_page(status, "Sign-in failed", "",
                     "<h1>Sign-in failed</h1><p>" +
                         escaped_html(shown ? error.message : "an internal error; see the log of the server") +
                         "</p><p><a href=\"/login\">Back to the login</a></p>");
}

net::Response to_provider(const Call& call, const identity::SignOnStart& start) {
    const auto& sign_on = call.services.identities.sign_on;
    net::Response response;
    response.status = 302;
    response.headers.push_back({"Location", start.location});
    response.headers.push_back({"Set-Cookie", sign_on_cookie(start.browser, identity::sign_on_time,
                                                             call.head.tls || sign_on.is_public_url_encrypted())});
    return response;
}

} // namespace

Result<One<LoginOptions>> get_login_options(const Call& call) {
    LoginOptions options;
    options.passwords = !call.access().logins.are_passwords_limited();
    for (const auto& provider : TRY(call.services.identities.providers.enabled()))
        if (!provider.redirect_uri.empty()) options.providers.push_back({provider.name, provider.title});
    return One<LoginOptions>{std::move(options)};
}

Result<net::Response> start_sign_on(const Call& call, const StartSignOn& query) {
    const auto start =
        call.services.identities.sign_on.start(call.caller, call.at("provider"), query.return_to.value_or("/"));
    return start.ok() ? to_provider(call, start.value()) : failed_sign_on(start.error());
}

Result<net::Response> start_sign_on_link(const Call& call) {
    const auto start = TRY(call.services.identities.sign_on.start_link(call.caller, call.at("provider")));
    return to_provider(call, start);
}

// The browser comes from another site, so the strict cookie of the login would not be sent after a redirect. A page of
// our own navigates on instead.
Result<net::Response> finish_sign_on(const Call& call, const SignOnQuery& query) {
    auto& sign_on = call.services.identities.sign_on;
    const identity::SignOnResponse sent{query.code, query.state, query.iss, query.error};
    auto done = sign_on.finish(call.caller, call.at("provider"), call.head.cookie(sign_on_cookie_name), sent,
                               std::string(call.head.header("User-Agent")));
    const bool secure = call.head.tls || sign_on.is_public_url_encrypted();
    if (!done.ok()) return failed_sign_on(done.error());
    const std::string path = escaped_html(done.value().return_to);
    net::Response response = html_page(200, "Signed in", "<meta http-equiv=\"refresh\" content=\"0;url=" + path + "\">",
                                       "<p>Signed in. <a href=\"" + path + "\">Continue</a></p>");
    if (done.value().login)
        response.headers.push_back({"Set-Cookie", session_cookie(call, done.value().login->token, sign_on.lifetime())});
    response.headers.push_back({"Set-Cookie", sign_on_cookie("", Duration(0), secure)});
    return response;
}

// As the specification wants it: 200 without content, or 400 with the form of OAuth's errors.
Result<net::Response> end_logins_by_provider(const Call& call, const RawBody& body) {
    const auto form = net::parse_query(body.bytes);
    std::string token;
    if (form.ok())
        for (const auto& [name, value] : form.value())
            if (name == "logout_token") token = value;
    const auto ended = call.services.identities.sign_on.end_logins(call.caller, call.at("provider"), token);
    if (!ended.ok() && ended.error().code != Code::unauthorized) return ended.error();
    net::Response response = net::json_response(200, "{}");
    if (!ended.ok()) {
        const json::Object error{{"error", "invalid_request"}, {"error_description", ended.error().message}};
        response = net::json_response(400, json::print(error));
    }
    response.set_header("Cache-Control", "no-store");
    return response;
}

Result<List<identity::Identity>> list_identities(const Call& call) {
    return List<identity::Identity>{TRY(call.services.identities.sign_on.identities(call.caller)), {}};
}

Result<Nothing> unlink_identity(const Call& call, const WhichIdentity& query) {
    if (!query.issuer || !query.subject) return invalid("query parameters issuer and subject are needed");
    TRY(call.services.identities.sign_on.unlink(call.caller, *query.issuer, *query.subject));
    return Nothing{};
}

Result<List<identity::Provider>> list_identity_providers(const Call& call, const PageQuery& query) {
    return call.services.identities.providers.list(call.caller, TRY(page_of(query.limit, query.cursor)));
}

Result<One<identity::Provider>> create_identity_provider(const Call& call, const identity::NewProvider& body) {
    return One<identity::Provider>{TRY(call.services.identities.providers.create(call.caller, body))};
}

Result<One<identity::Provider>> get_identity_provider(const Call& call) {
    return One<identity::Provider>{TRY(call.services.identities.providers.find(call.caller, call.at("provider")))};
}

Result<One<identity::Provider>> update_identity_provider(const Call& call, const identity::ProviderChange& body) {
    return One<identity::Provider>{
        TRY(call.services.identities.providers.update(call.caller, call.at("provider"), body))};
}

Result<Nothing> delete_identity_provider(const Call& call) {
    TRY(call.services.identities.providers.remove(call.caller, call.at("provider")));
    return Nothing{};
}

Result<One<identity::ProviderCheck>> check_identity_provider(const Call& call) {
    return One<identity::ProviderCheck>{
        TRY(call.services.identities.providers.check(call.caller, call.at("provider")))};
}

Result<List<identity::Group>> list_groups(const Call& call, const ListGroups& query) {
    identity::GroupFilter filter;
    filter.provider = query.provider;
    if (query.user) filter.user = TRY(parse_id<access::UserTag>(*query.user));
    return call.services.identities.groups.list(call.caller, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<identity::SecondFactorState>> get_second_factor(const Call& call) {
    return One<identity::SecondFactorState>{TRY(call.services.identities.second_factors.state(call.caller))};
}

Result<One<identity::Enrolment>> begin_second_factor(const Call& call, const BeginSecondFactor& body) {
    return One<identity::Enrolment>{TRY(call.services.identities.second_factors.begin(call.caller, body.password))};
}

Result<One<identity::RecoveryCodes>> confirm_second_factor(const Call& call, const ConfirmSecondFactor& body) {
    return One<identity::RecoveryCodes>{TRY(call.services.identities.second_factors.confirm(call.caller, body.code))};
}

Result<Nothing> remove_second_factor(const Call& call, const RemoveSecondFactor& body) {
    TRY(call.services.identities.second_factors.remove(call.caller, body.password, body.code));
    return Nothing{};
}

Result<Nothing> reset_second_factor(const Call& call) {
    const auto user = TRY(id_in_path<access::UserTag>(call, "user"));
    TRY(call.services.identities.second_factors.reset(call.caller, user));
    return Nothing{};
}

Result<List<access::LoginSession>> list_logins(const Call& call, const ListLogins& query) {
    std::optional<access::UserId> user;
    if (query.user) user = TRY(parse_id<access::UserTag>(*query.user));
    return call.access().logins.all_sessions(call.caller, user, TRY(page_of(query.limit, query.cursor)));
}

Result<Nothing> end_login(const Call& call) {
    const auto id = TRY(id_in_path<access::LoginSessionTag>(call, "login"));
    TRY(call.access().logins.end_any(call.caller, id));
    return Nothing{};
}

Result<Nothing> end_logins_of_user(const Call& call) {
    const auto user = TRY(id_in_path<access::UserTag>(call, "user"));
    TRY(call.access().logins.end_all(call.caller, user));
    return Nothing{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route sign_on_table[] = {
    route<get_login_options>("GET", "/v1/login_options", guest, "Ways to log in."),
    route<start_sign_on>("GET", "/v1/login/{provider}/start", guest,
                         "Sign in through a provider: redirects the browser to it.")
        .raw("text/html")
        .responds(302),
    route<finish_sign_on>("GET", "/v1/login/{provider}/callback", guest,
                          "End of a sign-in: the provider sends the browser here; sets the session cookie.")
        .raw("text/html"),
    route<end_logins_by_provider>("POST", "/v1/login/{provider}/logout", guest,
                                  "Back-channel logout: a provider ends the logins of a person that began there.")
        .takes("application/x-www-form-urlencoded")
        .raw("application/json")
        .with_body_limit(logout_body_limit)
        .fails_as(ErrorForm::oauth),
    route<start_sign_on_link>("GET", "/v1/me/sign_on/{provider}/start", login,
                              "Link an identity at a provider to the caller's account: redirects the browser to it.")
        .raw("text/html")
        .responds(302),
    route<list_identities>("GET", "/v1/me/identities", login,
                           "Identities at providers that log in to the caller's account."),
    route<unlink_identity>("DELETE", "/v1/me/identities", login, "Unlink an identity from the caller's account."),
    route<get_second_factor>("GET", "/v1/me/second_factor", login, "Second factor of the caller's password."),
    route<begin_second_factor>("POST", "/v1/me/second_factor", login,
                               "Begin to enrol an authenticator app; the key is shown once.")
        .secret(),
    route<confirm_second_factor>("POST", "/v1/me/second_factor/confirm", login,
                                 "Turn the second factor on with a first code; recovery codes are shown once. Ends the "
                                 "caller's other logins.")
        .secret(),
    route<remove_second_factor>("POST", "/v1/me/second_factor/remove", login, "Remove the caller's second factor.")
        .secret(),
    route<reset_second_factor>("DELETE", "/v1/users/{user}/second_factor", need(user_manage),
                               "Remove the second factor of a user who lost it; ends the user's logins."),
    route<list_logins>("GET", "/v1/login_sessions", need(user_manage), "Logins of all users, newest first."),
    route<end_login>("DELETE", "/v1/login_sessions/{login}", need(user_manage), "End a login of any user."),
    route<end_logins_of_user>("DELETE", "/v1/users/{user}/login_sessions", need(user_manage),
                              "End all logins of a user."),
    route<list_identity_providers>("GET", "/v1/identity_providers", need(user_manage), "Providers of single sign-on."),
    route<create_identity_provider>("POST", "/v1/identity_providers", need(user_manage),
                                    "Add a provider of single sign-on; its client secret is stored encrypted."),
    route<get_identity_provider>("GET", "/v1/identity_providers/{provider}", need(user_manage), "A provider."),
    route<update_identity_provider>("PATCH", "/v1/identity_providers/{provider}", need(user_manage),
                                    "Change a provider."),
    route<delete_identity_provider>("DELETE", "/v1/identity_providers/{provider}", need(user_manage),
                                    "Delete a provider and its identities; accounts are kept."),
    route<check_identity_provider>("POST", "/v1/identity_providers/{provider}/check", need(user_manage),
                                   "Read a provider's metadata and keys now; reports what is wrong."),
    route<list_groups>("GET", "/v1/groups", need(user_manage),
                       "Groups that providers sent at the last sign-ins, and those that mappings name, with their "
                       "people and roles."),
};

} // namespace

std::span<const Route> sign_on_routes() {
    return sign_on_table;
}

} // namespace hone::api
