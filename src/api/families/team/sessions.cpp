// Logging in and out, the caller itself, invites as their recipients see them.
#include "api/core/cookies.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "identity/identity.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct LogIn {
    std::string email;
    std::string password;
    std::optional<std::string> code;
    static constexpr Pack fields{
        Field{"email", &LogIn::email, ""},
        Field{"password", &LogIn::password, ""},
        Field{
            "code", &LogIn::code,
            "Code of the authenticator app, or a recovery code. If it is missing and needed, the response is 401 with "
            "`WWW-Authenticate: TOTP`."},
    };
};

struct LoggedOut {
    std::optional<std::string> end_session_url;
    static constexpr Pack fields{
        Field{"end_session_url", &LoggedOut::end_session_url,
              "Page of the provider of single sign-on that ends the login there too; null if there is none."},
    };
};

struct UpdateMe {
    std::optional<std::string> name;
    static constexpr Pack fields{Field{"name", &UpdateMe::name, ""}};
};

struct ChangePassword {
    std::string current_password;
    std::string new_password;
    static constexpr Pack fields{
        Field{"current_password", &ChangePassword::current_password, ""},
        Field{"new_password", &ChangePassword::new_password, "At least 10 characters."},
    };
};

struct AcceptInvite {
    std::optional<std::string> name;
    std::string password;
    std::optional<std::string> code;
    static constexpr Pack fields{
        Field{"name", &AcceptInvite::name, "Name of a new user."},
        Field{"password", &AcceptInvite::password, "Password of the new or of the existing account."},
        Field{"code", &AcceptInvite::code, "Code of an existing account with a second factor."},
    };
};

struct RequestPasswordReset {
    std::string email;
    static constexpr Pack fields{Field{"email", &RequestPasswordReset::email, "E-mail address of the account."}};
};

struct SetNewPassword {
    std::string password;
    static constexpr Pack fields{Field{"password", &SetNewPassword::password, "At least 10 characters."}};
};

struct PasswordResetRequested {
    bool by_mail = false;
    static constexpr Pack fields{
        Field{
            "by_mail", &PasswordResetRequested::by_mail,
            "If the account exists, a link is sent to it; false: this server sends no mail, an installation owner can "
            "create a link."},
    };
};

struct PasswordResetInfo {
    std::string email;
    static constexpr Pack fields{Field{"email", &PasswordResetInfo::email, "E-mail address of the account."}};
};

struct PasswordResetLink {
    std::string email;
    std::string path;
    Time expires_at{};
    static constexpr Pack fields{
        Field{"email", &PasswordResetLink::email, "E-mail address of the account."},
        Field{"path", &PasswordResetLink::path, "Path of the page that sets the password; only in this response."},
        Field{"expires_at", &PasswordResetLink::expires_at, "An hour after it was created."},
    };
};

struct Me {
    std::optional<access::User> user;
    std::optional<access::Key> key;
    std::vector<access::Space> spaces;
    std::vector<std::string> installation_permissions;
    std::optional<std::string> csrf_token;
    bool must_change_password = false;
    bool must_add_second_factor = false;
    static constexpr Pack fields{
        Field{"user", &Me::user, "null for a service key."},
        Field{"key", &Me::key, "API key of the request."},
        Field{"spaces", &Me::spaces, "The caller's spaces, at most 1000."},
        Field{"installation_permissions", &Me::installation_permissions, ""},
        Field{"csrf_token", &Me::csrf_token, "Value of the header X-CSRF-Token, needed for writes with a cookie."},
        Field{"must_change_password", &Me::must_change_password, "The password was generated and printed once."},
        Field{"must_add_second_factor", &Me::must_add_second_factor,
              "The installation requires a second factor: there are no permissions until the account has one."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

std::string user_agent(const Call& call) {
    return std::string(call.head.header("User-Agent"));
}

} // namespace

Result<Me> me_of(const Call& call, const access::Caller& caller) {
    Me me;
    if (!caller.user.empty()) me.user = TRY(call.access().users.find(caller.user));
    if (!caller.key.empty()) me.key = TRY(call.access().keys.find(caller.key));
    access::PageRequest page;
    page.limit = access::largest_page;
    me.spaces = TRY(call.access().spaces.list(caller, page)).data;
    me.installation_permissions = caller.permissions_of_installation().names();
    if (!caller.csrf_token.empty()) me.csrf_token = caller.csrf_token;
    me.must_change_password = call.access().logins.must_change_password(caller);
    me.must_add_second_factor = TRY(call.access().logins.must_add_second_factor(caller));
    return me;
}

Result<One<Me>> logged_in(const Call& call, const access::Login& login) {
    call.response_headers.push_back(
        {"Set-Cookie", session_cookie(call, login.token, call.access().logins.session_lifetime())});
    return One<Me>{TRY(me_of(call, login.caller))};
}

Result<One<Me>> log_in(const Call& call, const LogIn& body) {
    auto login =
        call.access().logins.login(call.caller, body.email, body.password, user_agent(call), body.code.value_or(""));
    if (login.ok()) return logged_in(call, login.value());
    if (login.error().trail == access::code_needed)
        call.response_headers.push_back({"WWW-Authenticate", "TOTP realm=\"hone\""});
    if (login.error().code == Code::busy) {
        const Duration left = TRY(call.access().logins.locked_for(call.caller, body.email));
        call.response_headers.push_back(
            {"Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count())});
    }
    return std::move(login).error();
}

Result<One<LoggedOut>> log_out(const Call& call) {
    LoggedOut out;
    if (std::string url = call.services.identities.sign_on.logout_address(call.caller); !url.empty())
        out.end_session_url = std::move(url);
    TRY(call.access().logins.logout(call.caller));
    call.response_headers.push_back({"Set-Cookie", session_cookie(call, "", Duration(0))});
    return One<LoggedOut>{std::move(out)};
}

Result<One<Me>> get_me(const Call& call) {
    return One<Me>{TRY(me_of(call, call.caller))};
}

Result<One<Me>> update_me(const Call& call, const UpdateMe& body) {
    if (body.name) TRY(call.access().users.rename(call.caller, *body.name));
    return get_me(call);
}

Result<One<Me>> change_password(const Call& call, const ChangePassword& body) {
    TRY(call.access().logins.change_password(call.caller, body.current_password, body.new_password));
    return get_me(call);
}

Result<List<access::LoginSession>> list_login_sessions(const Call& call) {
    return List<access::LoginSession>{TRY(call.access().logins.sessions(call.caller)), {}};
}

Result<Nothing> end_login_session(const Call& call) {
    const auto id = TRY(parse_id<access::LoginSessionTag>(call.at("login")));
    TRY(call.access().logins.end_session(call.caller, id));
    return Nothing{};
}

// The response is the same for every address, and mail is sent in the background: neither reveals who has an account.
Result<One<PasswordResetRequested>> request_password_reset(const Call& call, const RequestPasswordReset& body) {
    Installation& installation = call.services.installation;
    if (!installation.sends_mail()) return One<PasswordResetRequested>{{false}};
    const auto reset = TRY(call.access().password_resets.request(call.caller, body.email));
    if (reset) installation.send_password_reset(*reset);
    return One<PasswordResetRequested>{{true}};
}

Result<One<PasswordResetInfo>> get_password_reset(const Call& call) {
    return One<PasswordResetInfo>{{TRY(call.access().password_resets.email_of(call.at("reset")))}};
}

Result<One<Me>> complete_password_reset(const Call& call, const SetNewPassword& body) {
    const auto login =
        TRY(call.access().password_resets.complete(call.caller, call.at("reset"), body.password, user_agent(call)));
    return logged_in(call, login);
}

Result<One<PasswordResetLink>> create_password_reset(const Call& call) {
    const auto user = TRY(id_in_path<access::UserTag>(call, "user"));
    const auto reset = TRY(call.access().password_resets.create(call.caller, user));
    return One<PasswordResetLink>{{reset.email, reset.path(), reset.expires_at}};
}

Result<One<access::InviteInfo>> show_invite(const Call& call) {
    return One<access::InviteInfo>{TRY(call.access().invites.find(call.at("token")))};
}

Result<One<Me>> accept_invite(const Call& call, const AcceptInvite& body) {
    const auto login = TRY(call.access().invites.accept(call.caller, call.at("token"), body.name, body.password,
                                                        user_agent(call), body.code.value_or("")));
    return logged_in(call, login);
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route sessions_table[] = {
    route<log_in>("POST", "/v1/login", guest, "Log in with a password; sets the session cookie.").secret(),
    route<log_out>("POST", "/v1/logout", login, "End this login."),
    route<get_me>("GET", "/v1/me", login, "The caller, its spaces and permissions."),
    route<update_me>("PATCH", "/v1/me", login, "Change the caller's name."),
    route<change_password>("POST", "/v1/me/password", login,
                           "Change the caller's password; ends the caller's other logins.")
        .secret(),
    route<list_login_sessions>("GET", "/v1/me/sessions", login, "Logins of the caller."),
    route<end_login_session>("DELETE", "/v1/me/sessions/{login}", login, "End a login of the caller."),
    route<request_password_reset>("POST", "/v1/password_resets", guest, "Request a link for a new password by mail."),
    route<get_password_reset>("GET", "/v1/password_resets/{reset}", guest,
                              "Account of a link that sets a new password."),
    route<complete_password_reset>("POST", "/v1/password_resets/{reset}", guest,
                                   "Set a new password with a link; ends all other logins and logs in.")
        .secret(),
    route<show_invite>("GET", "/v1/invites/{token}", guest, "Space and role of an invite."),
    route<accept_invite>("POST", "/v1/invites/{token}/accept", guest, "Accept an invite; logs in.").secret(),
};

const Route password_links_table[] = {
    route<create_password_reset>("POST", "/v1/users/{user}/password_reset", need(user_manage),
                                 "Create a link that sets a new password; it is shown once and expires in an hour.")
        .secret(),
};

} // namespace

std::span<const Route> password_links_routes() {
    return password_links_table;
}

std::span<const Route> sessions_routes() {
    return sessions_table;
}

} // namespace hone::api
