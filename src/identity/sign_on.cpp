#include "identity/sign_on.h"

#include "access/accounts/provider_logins.h"
#include "access/names.h"
#include "base/log.h"
#include "identity/guest_limits.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::identity {

namespace {

constexpr size_t token_length = 43;
constexpr size_t longest_parameter = 8192;
constexpr size_t longest_path = 2000;
constexpr size_t most_groups = 2000;

std::string hash_of(std::string_view token) {
    return to_hex(crypto::hash(token));
}

std::string sha256(std::string_view text) {
    crypto::Sha256 hasher;
    hasher.add(text);
    return hasher.finish();
}

std::string claim(const json::Object& claims, std::string_view name) {
    const json::Value* value = claims.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// true, or "true", as some providers send it.
bool is_true(const json::Object& claims, std::string_view name) {
    const json::Value* value = claims.if_contains(name);
    return value != nullptr &&
           ((value->is_bool() && value->get_bool()) || (value->is_string() && value->get_string() == "true"));
}

access::Caller acting(const access::Caller& guest, const access::User& user) {
    access::Caller actor = guest;
    actor.kind = access::CallerKind::user;
    actor.user = user.id;
    actor.name = user.email;
    return actor;
}

// The role in each space that groups give.
std::map<access::SpaceId, access::Role> roles_of(const Provider& provider, const std::vector<std::string>& groups) {
    std::map<access::SpaceId, access::Role> roles;
    for (const GroupMapping& mapping : provider.mappings) {
        if (mapping.group != "*" && std::find(groups.begin(), groups.end(), mapping.group) == groups.end()) continue;
        const auto [place, is_new] = roles.emplace(mapping.space, mapping.role);
        if (!is_new) place->second = std::max(place->second, mapping.role);
    }
    return roles;
}

// Enough of them to find a mistake in a mapping.
json::Array first_groups(const std::vector<std::string>& groups) {
    json::Array first;
    for (size_t i = 0; i < std::min<size_t>(groups.size(), 20); ++i)
        first.emplace_back(std::string(truncate_utf8(repair_utf8(groups[i]), 255)));
    return first;
}

// The error codes of OAuth are words; anything else is not repeated to the person.
std::string error_code(const std::string& text) {
    const bool plain = text.size() <= 60 && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == text.npos;
    return plain ? text : "an unknown error";
}

// Deletes the oldest sign-ins of this address, so that one more is within its limit.
Result<> make_room_for_peer(sql::Transaction& transaction, const std::string& peer) {
    TRY(transaction.execute(
        "DELETE FROM sign_ons WHERE peer = ? AND state_hash NOT IN (SELECT state_hash FROM sign_ons "
        "WHERE peer = ? ORDER BY expires_at DESC, state_hash LIMIT ?)",
        peer, peer, most_begun_of_peer - 1));
    return {};
}

// At the limit of the server, deletes the oldest sign-in of the network that began most.
Result<> make_room(sql::Transaction& transaction) {
    const auto count = TRY(transaction.query("SELECT COUNT(*) FROM sign_ons"));
    if (count.front().integer(0) < most_begun) return {};
    const std::string network(network_of_peer);
    TRY(transaction.execute(
        "DELETE FROM sign_ons WHERE state_hash IN (SELECT state_hash FROM sign_ons WHERE " + network +
        " = (SELECT network FROM (SELECT " + network +
        " AS network, COUNT(*) AS begun FROM sign_ons GROUP BY 1 ORDER BY begun DESC, MIN(expires_at) "
        "LIMIT 1) AS largest) ORDER BY expires_at, state_hash LIMIT 1)"));
    return {};
}

} // namespace

// A sign-in that has begun.
struct SignOn::Begun {
    std::string nonce;
    std::string verifier;
    std::string return_to;
    access::UserId link_user;
};

// The person as the provider describes it.
struct SignOn::Person {
    std::string issuer;
    std::string subject;
    std::string email; // checked; empty if there is none
    bool email_verified = false;
    bool email_unverified = false; // as the provider states
    std::string name;
    std::vector<std::string> groups;
    bool groups_left_out = false; // the provider reports that there are too many
};

std::string safe_return_path(std::string_view path) {
    if (path.size() > longest_path || !path.starts_with('/') || path.starts_with("//") ||
        path.find('\\') != std::string_view::npos || !is_printable_ascii(path))
        return "/";
    // The routes of the API are no pages; some of them would act on a GET.
    if (path.starts_with("/v1/") || path.starts_with("/api/") || path.starts_with("/mcp")) return "/";
    return std::string(path);
}

Result<SignOnStart> SignOn::start(const access::Caller& guest, const std::string& provider,
                                  const std::string& return_to) {
    return begin(guest, provider, return_to, "");
}

Result<SignOnStart> SignOn::start_link(const access::Caller& caller, const std::string& provider) {
    TRY(caller.require_user());
    return begin(caller, provider, "/account", caller.user.text());
}

Result<SignOnStart> SignOn::begin(const access::Caller& caller, const std::string& name, const std::string& return_to,
                                  const std::string& link_user) {
    const Provider provider = TRY(m_providers.enabled(name));
    const Metadata metadata = TRY(m_client.metadata(provider.issuer));
    const std::string state = crypto::random_token(), browser = crypto::random_token(), nonce = crypto::random_token(),
                      verifier = crypto::random_token();
    const std::string peer = access::peer_group(caller.peer);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(make_room_for_peer(transaction, peer));
        TRY(make_room(transaction));
        TRY(transaction.execute("INSERT INTO sign_ons (state_hash, browser_hash, provider, nonce, verifier, return_to, "
                                "link_user_id, expires_at, peer) VALUES (?,?,?,?,?,?,?,?,?)",
                                hash_of(state), hash_of(browser), name, nonce, verifier, safe_return_path(return_to),
                                link_user, m_clock.now() + sign_on_time, peer));
        return {};
    }));
    std::string scopes;
    for (const std::string& scope : provider.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
    const std::string& address = metadata.authorization_endpoint;
    SignOnStart made;
    made.browser = browser;
    made.location = address + (address.find('?') == std::string::npos ? "?" : "&") +
                    "response_type=code&client_id=" + percent_encode(provider.client_id) +
                    "&redirect_uri=" + percent_encode(provider.redirect_uri) + "&scope=" + percent_encode(scopes) +
                    "&state=" + state + "&nonce=" + nonce + "&code_challenge=" + to_base64url(sha256(verifier)) +
                    "&code_challenge_method=S256";
    return made;
}

Result<SignOn::Begun> SignOn::take(const std::string& provider, const std::string& browser,
                                   const SignOnResponse& response) {
    const auto over = [] {
        return forbidden("this sign-in has expired, was used before, or began in another browser; begin again");
    };
    const std::string state = response.state.value_or("");
    if (state.size() != token_length || browser.size() != token_length) return over();
    return m_database.write([&](sql::Transaction& transaction) -> Result<Begun> {
        const auto rows = TRY(transaction.query(
            "DELETE FROM sign_ons WHERE state_hash = ? AND browser_hash = ? AND provider = ? AND expires_at > ? "
            "RETURNING nonce, verifier, return_to, link_user_id",
            hash_of(state), hash_of(browser), provider, m_clock.now()));
        if (rows.empty()) return over();
        const sql::Row row = rows.front();
        return Begun{row.text(0), row.text(1), row.text(2), access::UserId(row.text(3))};
    });
}

Result<SignOn::Person> SignOn::identify(const Provider& provider, const Begun& begun, const std::string& code) {
    const Metadata metadata = TRY(m_client.metadata(provider.issuer));
    const std::string secret = TRY(m_providers.client_secret(provider));
    const Exchange exchange{code, provider.redirect_uri, begun.verifier, provider.client_id, secret};
    const Tokens tokens = TRY(m_client.exchange(metadata, exchange));
    const SignedToken token = TRY(parse_token(tokens.id_token));
    TRY(m_client.verify(metadata, token));
    const ExpectedToken expected{provider.issuer, provider.client_id, begun.nonce, tokens.access_token, m_clock.now()};
    Person person;
    person.issuer = provider.issuer;
    person.subject = TRY(check_id_token(token, expected));
    json::Object claims = token.claims;
    const bool needs_groups = !provider.mappings.empty() && find_claim(claims, provider.groups_claim) == nullptr;
    if (claim(claims, "email").empty() || needs_groups) {
        const json::Object more = TRY(m_client.userinfo(metadata, tokens.access_token));
        if (!more.empty() && claim(more, "sub") != person.subject)
            return unauthorized("the provider's user info is about another person (sub)");
        for (const auto& each : more)
            if (!claims.contains(each.key())) claims[each.key()] = each.value();
    }
    if (const auto email = access::checked_email(claim(claims, "email")); email.ok()) person.email = email.value();
    person.email_verified = is_true(claims, "email_verified");
    person.email_unverified = claims.contains("email_verified") && !person.email_verified;
    person.name = std::string(truncate_utf8(repair_utf8(trim(claim(claims, "name"))), 100));
    person.groups = texts_of(find_claim(claims, provider.groups_claim));
    if (person.groups.size() > most_groups) person.groups.resize(most_groups);
    const json::Value* elsewhere = claims.if_contains("_claim_names");
    person.groups_left_out = person.groups.empty() && elsewhere != nullptr && elsewhere->is_object() &&
                             elsewhere->get_object().contains(provider.groups_claim);
    return person;
}

Result<> SignOn::check_domain(const Provider& provider, const Person& person) const {
    if (provider.allowed_domains.empty()) return {};
    if (person.email.empty() || !person.email_verified)
        return forbidden("the provider sent no verified e-mail address, and this server accepts only some domains");
    const std::string domain = person.email.substr(person.email.rfind('@') + 1);
    const auto& allowed = provider.allowed_domains;
    if (std::find(allowed.begin(), allowed.end(), domain) == allowed.end())
        return forbidden("accounts of " + domain + " cannot sign in here");
    return {};
}

Result<> SignOn::link(sql::Transaction& transaction, const access::Caller& actor, const Provider& provider,
                      const Person& person, const access::UserId& user, std::string_view how) const {
    TRY(transaction.execute("INSERT INTO identities (issuer, subject, provider, user_id, email, created_at) VALUES "
                            "(?,?,?,?,?,?)",
                            person.issuer, person.subject, provider.name, user, person.email, m_clock.now()));
    return m_access.audit.record(transaction, actor,
                                 {"user_identity_link",
                                  {},
                                  user.text(),
                                  {{"provider", provider.name},
                                   {"issuer", person.issuer},
                                   {"subject", person.subject},
                                   {"email", person.email},
                                   {"how", how}}});
}

Result<access::User> SignOn::create_account(const access::Caller& guest, const Provider& provider,
                                            const Person& person) {
    if (person.email.empty())
        return forbidden("the provider sent no e-mail address; an owner of this installation adds the scope email");
    if (person.email_unverified)
        return forbidden("the provider has not verified your e-mail address; verify it there, then sign in again");
    const std::string name = person.name.empty() ? person.email.substr(0, person.email.find('@')) : person.name;
    const auto checked = access::checked_name("name", name);
    return m_database.write([&](sql::Transaction& transaction) -> Result<access::User> {
        // Without a password: it can never be guessed, reset by mail or reused.
        const access::User user = TRY(m_access.users.create(
            transaction, person.email, checked.ok() ? checked.value() : person.email, "", false, false));
        const access::Caller actor = acting(guest, user);
        TRY(m_access.audit.record(
            transaction, actor,
            {"user_create", {}, user.id.text(), {{"email", user.email}, {"provider", provider.name}}}));
        TRY(link(transaction, actor, provider, person, user.id, "first_login"));
        return user;
    });
}

Result<bool> SignOn::is_known(const Person& person) const {
    return !TRY(m_database.query("SELECT 1 FROM identities WHERE issuer = ? AND subject = ?", person.issuer,
                                 person.subject))
                .empty();
}

Result<access::User> SignOn::account_of(const access::Caller& guest, const Provider& provider, const Begun& begun,
                                        const Person& person) {
    auto found = find_or_add_account(guest, provider, begun, person);
    // Another sign-in of the same person, at the same time, added it first.
    const bool was_added = !found.ok() && found.error().code == Code::conflict && TRY(is_known(person));
    return was_added ? find_or_add_account(guest, provider, begun, person) : std::move(found);
}

Result<access::User> SignOn::find_or_add_account(const access::Caller& guest, const Provider& provider,
                                                 const Begun& begun, const Person& person) {
    const auto rows = TRY(m_database.query("SELECT user_id FROM identities WHERE issuer = ? AND subject = ?",
                                           person.issuer, person.subject));
    if (!rows.empty()) {
        const auto user = rows.front().id<access::UserTag>(0);
        if (!begun.link_user.empty() && begun.link_user != user)
            return conflict("this identity belongs to another account of this server");
        return m_access.users.find(user);
    }
    if (!begun.link_user.empty()) {
        const access::User user = TRY(m_access.users.find(begun.link_user));
        TRY(m_database.write([&](sql::Transaction& transaction) {
            return link(transaction, acting(guest, user), provider, person, user.id, "by_user");
        }));
        return user;
    }
    const auto known =
        person.email.empty() ? std::optional<access::User>() : TRY(m_access.users.find_by_email(person.email));
    if (!known) return create_account(guest, provider, person);
    if (!provider.link_by_email || !person.email_verified)
        return conflict("there is an account with the address " + person.email +
                        " already; log in to it and link this provider under Account");
    TRY(m_database.write([&](sql::Transaction& transaction) {
        return link(transaction, acting(guest, *known), provider, person, known->id, "by_email");
    }));
    return *known;
}

Result<> SignOn::sync_groups(const access::Caller& actor, const Provider& provider, const Person& person,
                             const access::UserId& user) {
    const auto wanted = roles_of(provider, person.groups);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(m_groups.record(transaction, provider.name, person.issuer, person.subject, person.groups));
        const auto rows =
            TRY(transaction.query("SELECT space_id, provider FROM group_members WHERE user_id = ?", user));
        std::map<access::SpaceId, std::string> granted;
        for (const auto& row : rows) granted.emplace(row.id<access::SpaceTag>(0), row.text(1));
        for (const auto& [space, by] : granted) {
            if (by != provider.name || wanted.contains(space)) continue;
            TRY(m_access.spaces.drop_member(transaction, actor, space, user));
            TRY(transaction.execute("DELETE FROM group_members WHERE user_id = ? AND space_id = ?", user, space));
        }
        for (const auto& [space, role] : wanted) {
            if (!TRY(m_access.spaces.exists(transaction, space))) continue;
            const auto held = granted.find(space);
            const bool is_ours = held != granted.end() && held->second == provider.name;
            // What people or another provider gave stays as it is.
            if (!is_ours && TRY(m_access.spaces.role_of(transaction, space, user))) continue;
            TRY(m_access.spaces.change_member(transaction, actor, space, user, role));
            TRY(transaction.execute("INSERT INTO group_members (user_id, space_id, provider) VALUES (?,?,?) ON "
                                    "CONFLICT (user_id, space_id) DO UPDATE SET provider = excluded.provider",
                                    user, space, provider.name));
        }
        return {};
    }));
    return {};
}

Result<SignOnDone> SignOn::finish(const access::Caller& guest, const std::string& name, const std::string& browser,
                                  const SignOnResponse& response, const std::string& user_agent) {
    const Begun begun = TRY(take(name, browser, response));
    const Provider provider = TRY(m_providers.enabled(name));
    const auto refused = [&](const Error& error, json::Object details = {}) {
        details["because"] = error.message;
        const auto recorded =
            m_access.audit.record(guest, {"login_refused", {}, "provider " + provider.name, std::move(details)});
        if (!recorded.ok()) log(Level::warning, "refused sign-in not audited", {{"why", recorded.error().message}});
        return error;
    };
    // Another provider's response must not be taken for this one's (RFC 9207).
    const bool sends_issuer = TRY(m_client.metadata(provider.issuer)).sends_issuer;
    if ((sends_issuer || response.iss) && response.iss.value_or("") != provider.issuer)
        return refused(forbidden("the response is from another provider (iss)"));
    if (response.error) return refused(forbidden("the provider refused: " + error_code(*response.error)));
    if (!response.code || response.code->empty() || response.code->size() > longest_parameter)
        return refused(forbidden("the provider sent no code"));
    auto identified = identify(provider, begun, *response.code);
    if (!identified.ok()) return refused(identified.error());
    const Person& person = identified.value();
    if (auto allowed = check_domain(provider, person); !allowed.ok()) return refused(allowed.error());
    const bool is_outside = !provider.mappings.empty() && roles_of(provider, person.groups).empty();
    const Error outside = forbidden(
        person.groups_left_out ? "the provider left out your groups because there are too many; an owner of this "
                                 "installation maps roles of the application instead"
        : person.groups.empty()
            ? "the provider sent no groups for your account (claim " + provider.groups_claim +
                  "); an owner of this installation checks the claim and the scopes of the provider"
            : "your account is in none of the groups that can use this server (claim " + provider.groups_claim + ")");
    // No account for people who cannot use it; one that exists loses its roles first. Owners see in the audit log which
    // groups the provider sent.
    const auto refuse_outside = [&] { return refused(outside, {{"groups", first_groups(person.groups)}}); };
    if (is_outside && !TRY(is_known(person))) return refuse_outside();
    auto account = account_of(guest, provider, begun, person);
    if (!account.ok()) return refused(account.error());
    const access::User& user = account.value();
    if (user.disabled) return refused(forbidden("this account is disabled"));
    const access::Caller actor = acting(guest, user);
    TRY(m_database.execute("UPDATE identities SET email = ?, last_login_at = ? WHERE issuer = ? AND subject = ?",
                           person.email, m_clock.now(), person.issuer, person.subject));
    TRY(sync_groups(actor, provider, person, user.id));
    if (is_outside) return refuse_outside();
    SignOnDone done;
    done.return_to = begun.return_to;
    if (begun.link_user.empty())
        done.login = TRY(m_access.logins.open_session(guest, user.id, user_agent,
                                                      access::Logins::Provider{provider.name, m_lifetime}));
    return done;
}

std::string SignOn::logout_address(const access::Caller& caller) {
    if (caller.provider.empty()) return "";
    const auto provider = m_providers.enabled(caller.provider);
    if (!provider.ok()) return "";
    const auto metadata = m_client.metadata(provider.value().issuer);
    if (!metadata.ok() || metadata.value().end_session_endpoint.empty()) return "";
    const std::string& address = metadata.value().end_session_endpoint;
    return address + (address.find('?') == std::string::npos ? "?" : "&") +
           "client_id=" + percent_encode(provider.value().client_id) +
           "&post_logout_redirect_uri=" + percent_encode(m_public_url + "/login");
}

Result<> SignOn::end_logins(const access::Caller& guest, const std::string& name, const std::string& logout_token) {
    const Provider provider = TRY(m_providers.enabled(name));
    const SignedToken token = TRY(parse_token(logout_token, "logout+jwt"));
    const Metadata metadata = TRY(m_client.metadata(provider.issuer));
    TRY(m_client.verify(metadata, token));
    const LogoutOrder order =
        TRY(check_logout_token(token, {provider.issuer, provider.client_id, {}, {}, m_clock.now()}));
    const std::string token_hash = hash_of(provider.name + '\n' + order.token_id);
    const auto used = TRY(m_database.query("SELECT 1 FROM used_logout_tokens WHERE token_hash = ?", token_hash));
    if (!used.empty()) return unauthorized("the provider's token is not accepted: it was used before (jti)");
    TRY(end_logins_of(guest, provider, order.subject));
    // Last, so that a provider can repeat a request that failed.
    TRY(m_database.execute("INSERT INTO used_logout_tokens (token_hash, expires_at) VALUES (?,?) ON CONFLICT "
                           "(token_hash) DO NOTHING",
                           token_hash, m_clock.now() + longest_use));
    return {};
}

Result<> SignOn::end_logins_of(const access::Caller& guest, const Provider& provider, const std::string& subject) {
    const auto rows = TRY(
        m_database.query("SELECT user_id FROM identities WHERE issuer = ? AND subject = ?", provider.issuer, subject));
    if (rows.empty()) return {}; // never signed in here
    const auto user = rows.front().id<access::UserTag>(0);
    access::Caller actor = access::Caller::system();
    actor.name = "provider " + provider.name;
    actor.peer = guest.peer;
    actor.request_id = guest.request_id;
    return access::end_provider_logins(m_database, m_access.audit, actor, user, provider.name);
}

Result<std::vector<Identity>> SignOn::identities(const access::Caller& caller) const {
    TRY(caller.require_user());
    const auto rows = TRY(m_database.query("SELECT provider, issuer, subject, email, created_at, last_login_at FROM "
                                           "identities WHERE user_id = ? ORDER BY issuer, subject",
                                           caller.user));
    std::vector<Identity> all;
    for (const auto& row : rows)
        all.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.time(4), row.optional_time(5)});
    return all;
}

Result<> SignOn::unlink(const access::Caller& caller, const std::string& issuer, const std::string& subject) {
    TRY(caller.require_user());
    const bool has_password = TRY(m_access.users.has_password(caller.user));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t deleted = TRY(transaction.execute(
            "DELETE FROM identities WHERE issuer = ? AND subject = ? AND user_id = ?", issuer, subject, caller.user));
        if (deleted == 0) return not_found("identity");
        const auto left = TRY(transaction.query("SELECT COUNT(*) FROM identities WHERE user_id = ?", caller.user));
        if (left.front().integer(0) == 0 && !has_password)
            return conflict("your account has no password: without this identity it would have no login");
        return m_access.audit.record(
            transaction, caller,
            {"user_identity_unlink", {}, caller.user.text(), {{"issuer", issuer}, {"subject", subject}}});
    });
}

Result<> SignOn::sweep() {
    TRY(m_database.execute("DELETE FROM sign_ons WHERE expires_at <= ?", m_clock.now()));
    TRY(m_database.execute("DELETE FROM used_logout_tokens WHERE expires_at <= ?", m_clock.now()));
    return {};
}

} // namespace hone::identity
