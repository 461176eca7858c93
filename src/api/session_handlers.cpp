#include "api/handlers.h"

namespace hone::api {

namespace {

std::string cookie_header(const Call& call, const std::string& token, Duration lifetime) {
    return "hone_session=" + token + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
           std::to_string(std::chrono::floor<std::chrono::seconds>(lifetime).count()) +
           (call.head.tls ? "; Secure" : "");
}

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
    return me;
}

Result<One<Me>> logged_in(const Call& call, const access::Login& login) {
    call.answer_headers.push_back(
        {"Set-Cookie", cookie_header(call, login.token, call.access().logins.session_lifetime())});
    return One<Me>{TRY(me_of(call, login.caller))};
}

Result<One<Me>> log_in(const Call& call, const LogIn& body) {
    auto login = call.access().logins.login(call.caller, body.email, body.password, user_agent(call));
    if (login.ok()) return logged_in(call, login.value());
    if (login.error().code == Code::busy) {
        const Duration left = TRY(call.access().logins.locked_for(call.caller, body.email));
        call.answer_headers.push_back(
            {"Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count())});
    }
    return std::move(login).error();
}

Result<Nothing> log_out(const Call& call) {
    TRY(call.access().logins.logout(call.caller));
    call.answer_headers.push_back({"Set-Cookie", cookie_header(call, "", Duration(0))});
    return Nothing{};
}

Result<One<Me>> get_me(const Call& call) {
    return One<Me>{TRY(me_of(call, call.caller))};
}

Result<One<Me>> update_me(const Call& call, const UpdateMe& body) {
    TRY(call.caller.require_user());
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
    const auto user = parse_id<access::UserTag>(call.at("user"));
    if (!user.ok()) return not_found("user " + std::string(truncate_utf8(call.at("user"), 60)));
    const auto reset = TRY(call.access().password_resets.create(call.caller, user.value()));
    return One<PasswordResetLink>{{reset.email, reset.path(), reset.expires_at}};
}

Result<One<access::InviteInfo>> look_at_invite(const Call& call) {
    return One<access::InviteInfo>{TRY(call.access().invites.look(call.at("token")))};
}

Result<One<Me>> accept_invite(const Call& call, const AcceptInvite& body) {
    const auto login =
        TRY(call.access().invites.accept(call.caller, call.at("token"), body.name, body.password, user_agent(call)));
    return logged_in(call, login);
}

} // namespace hone::api
