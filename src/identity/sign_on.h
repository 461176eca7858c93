// Signing in through an OpenID provider: the authorization code flow with PKCE (RFC 7636). `start` makes the address to
// send the browser to and a value for a cookie that binds the browser; `finish` takes what the provider sent back,
// finds or creates the account, gives it the roles of its groups, and opens a login. Thread-safe.
//   start → browser at the provider → finish → Login
#pragma once

#include "identity/groups.h"

namespace hone::identity {

struct SignOnStart {
    std::string location; // where the browser goes
    std::string browser;  // value of the cookie; only its hash is stored
};

// What came back in the query of the redirect.
struct SignOnResponse {
    std::optional<std::string> code{};
    std::optional<std::string> state{};
    std::optional<std::string> iss{};
    std::optional<std::string> error{};
};

struct SignOnDone {
    std::optional<access::Login> login{}; // absent: an identity was linked to the account of a login that exists
    std::string return_to;                // a path of this server
};

struct Identity {
    std::string provider;
    std::string issuer;
    std::string subject;
    std::string email;
    Time created_at{};
    std::optional<Time> last_login_at;
    static constexpr Pack fields{
        Field{"provider", &Identity::provider, "Provider through which it was linked."},
        Field{"issuer", &Identity::issuer, ""},
        Field{"subject", &Identity::subject, "Id of the person at the issuer."},
        Field{"email", &Identity::email, "Address that the provider sent last."},
        Field{"created_at", &Identity::created_at, ""},
        Field{"last_login_at", &Identity::last_login_at, ""},
    };
};

constexpr Duration sign_on_time = std::chrono::minutes(10);
// Sign-ins that have begun and are not finished. More of one address, or more than the server keeps, delete older ones:
// refusing new ones would let anyone switch single sign-on off.
constexpr int64_t most_begun_of_peer = 100;
constexpr int64_t most_begun = 10'000;

class SignOn {
public:
    SignOn(sql::Database& database, const Clock& clock, access::Access& access, Providers& providers,
           const Groups& groups, ProviderClient& client, std::string public_url, Duration lifetime)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_providers(providers),
          m_groups(groups),
          m_client(client),
          m_public_url(std::move(public_url)),
          m_lifetime(lifetime) {}

    Result<SignOnStart> start(const access::Caller& guest, const std::string& provider, const std::string& return_to);
    // The same for a user who is logged in: links the identity to the own account.
    Result<SignOnStart> start_link(const access::Caller& caller, const std::string& provider);
    // `browser` is the cookie's value. Errors are for the person who signs in.
    Result<SignOnDone> finish(const access::Caller& guest, const std::string& provider, const std::string& browser,
                              const SignOnResponse& response, const std::string& user_agent);
    // Where to end the login at the provider too; empty: it was a password, or the provider has no such page.
    std::string logout_address(const access::Caller& caller);

    // A provider's own request: the logout token of a person who logged out there, or who was logged out. Ends the
    // logins of that person that began at this provider, on all servers. `unauthorized` if the token is not accepted,
    // also because it was used before.
    Result<> end_logins(const access::Caller& guest, const std::string& provider, const std::string& logout_token);

    Duration lifetime() const { return m_lifetime; }
    // Whether cookies can be limited to encrypted connections.
    bool is_public_url_encrypted() const { return m_public_url.starts_with("https://"); }

    Result<std::vector<Identity>> identities(const access::Caller& caller) const;
    // An account without a password keeps its last identity.
    Result<> unlink(const access::Caller& caller, const std::string& issuer, const std::string& subject);

    Result<> sweep();

private:
    struct Begun;
    struct Person;
    Result<SignOnStart> begin(const access::Caller& caller, const std::string& provider, const std::string& return_to,
                              const std::string& link_user);
    Result<Begun> take(const std::string& provider, const std::string& browser, const SignOnResponse& response);
    Result<Person> identify(const Provider& provider, const Begun& begun, const std::string& code);
    Result<> check_domain(const Provider& provider, const Person& person) const;
    Result<bool> is_known(const Person& person) const;
    // The account; created or linked if there is none.
    Result<access::User> account_of(const access::Caller& guest, const Provider& provider, const Begun& begun,
                                    const Person& person);
    Result<access::User> find_or_add_account(const access::Caller& guest, const Provider& provider, const Begun& begun,
                                             const Person& person);
    Result<access::User> create_account(const access::Caller& guest, const Provider& provider, const Person& person);
    Result<> link(sql::Transaction& transaction, const access::Caller& actor, const Provider& provider,
                  const Person& person, const access::UserId& user, std::string_view how) const;
    Result<> sync_groups(const access::Caller& actor, const Provider& provider, const Person& person,
                         const access::UserId& user);
    Result<> end_logins_of(const access::Caller& guest, const Provider& provider, const std::string& subject);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Providers& m_providers;
    const Groups& m_groups;
    ProviderClient& m_client;
    const std::string m_public_url;
    const Duration m_lifetime;
};

// A path of this server that a browser can be sent to: "/s/default?x=1". Everything else becomes "/": other hosts,
// schemes, `//host`, `/\host` and control characters.
std::string safe_return_path(std::string_view path);

} // namespace hone::identity
