// The OpenID providers that installation owners configure, and their client secrets, which are kept encrypted and
// never shown. Thread-safe.
#pragma once

#include "access/access.h"
#include "identity/provider_client.h"
#include "secret/vault.h"

namespace hone::identity {

// A group at the provider and the role that its members have in a space.
struct GroupMapping {
    std::string group;
    std::string space;
    access::Role role = access::Role::viewer;
    static constexpr Pack fields{
        Field{"group", &GroupMapping::group, "Value of the groups claim; `*` stands for everyone."},
        Field{"space", &GroupMapping::space, "Id or name of a space; stored as its id."},
        Field{"role", &GroupMapping::role, "The highest role counts if several groups match."},
    };
    friend bool operator==(const GroupMapping&, const GroupMapping&) = default;
};

struct Provider {
    std::string name;
    std::string title;
    std::string issuer;
    std::string client_id;
    bool has_client_secret = false;
    std::vector<std::string> scopes;
    std::vector<std::string> allowed_domains;
    std::string groups_claim;
    std::vector<GroupMapping> mappings;
    bool link_by_email = false;
    bool enabled = true;
    std::string redirect_uri;
    std::string logout_uri;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"name", &Provider::name, "Part of the redirect address; cannot be changed."},
        Field{"title", &Provider::title, "Text of the button on the login page."},
        Field{"issuer", &Provider::issuer, "Address of the provider, exactly as its metadata states it."},
        Field{"client_id", &Provider::client_id, ""},
        Field{"has_client_secret", &Provider::has_client_secret, "The secret itself is never shown."},
        Field{"scopes", &Provider::scopes, ""},
        Field{"allowed_domains", &Provider::allowed_domains,
              "Domains of verified e-mail addresses that can sign in; empty: all."},
        Field{"groups_claim", &Provider::groups_claim, "Claim with the groups, by name or path."},
        Field{"mappings", &Provider::mappings, ""},
        Field{"link_by_email", &Provider::link_by_email,
              "A first sign-in is linked to the account that has the same, verified address."},
        Field{"enabled", &Provider::enabled, "false: signing in through it is refused."},
        Field{"redirect_uri", &Provider::redirect_uri,
              "Address to register at the provider; empty if public_url is not set."},
        Field{"logout_uri", &Provider::logout_uri,
              "Address of back-channel logout, to register at a provider that supports it."},
        Field{"created_by", &Provider::created_by, ""},
        Field{"created_at", &Provider::created_at, ""},
        Field{"updated_at", &Provider::updated_at, ""},
    };
};

struct NewProvider {
    std::string name;
    std::optional<std::string> title{};
    std::string issuer;
    std::string client_id;
    std::optional<std::string> client_secret{};
    std::optional<std::vector<std::string>> scopes{};
    std::optional<std::vector<std::string>> allowed_domains{};
    std::optional<std::string> groups_claim{};
    std::optional<std::vector<GroupMapping>> mappings{};
    std::optional<bool> link_by_email{};
    std::optional<bool> enabled{};
    static constexpr Pack fields{
        Field{"name", &NewProvider::name, "Lower-case letters, digits and hyphens; part of the redirect address."},
        Field{"title", &NewProvider::title, "Text of the button on the login page; the name if not given."},
        Field{"issuer", &NewProvider::issuer, "Address of the provider, exactly as its metadata states it."},
        Field{"client_id", &NewProvider::client_id, ""},
        Field{"client_secret", &NewProvider::client_secret, "Stored encrypted; none for a public client."},
        Field{"scopes", &NewProvider::scopes, "openid, email and profile if not given."},
        Field{"allowed_domains", &NewProvider::allowed_domains,
              "Domains of verified e-mail addresses that can sign in; empty: all."},
        Field{"groups_claim", &NewProvider::groups_claim,
              "Claim with the groups, by name or path; `groups` if not given."},
        Field{"mappings", &NewProvider::mappings,
              "Roles of groups in spaces. With mappings, an account in none of the groups is refused."},
        Field{"link_by_email", &NewProvider::link_by_email,
              "Link a first sign-in to the account that has the same, verified address. Only for providers that verify "
              "addresses."},
        Field{"enabled", &NewProvider::enabled, ""},
    };
};

struct ProviderChange {
    std::optional<std::string> title{};
    std::optional<std::string> issuer{};
    std::optional<std::string> client_id{};
    std::optional<std::optional<std::string>> client_secret{};
    std::optional<std::vector<std::string>> scopes{};
    std::optional<std::vector<std::string>> allowed_domains{};
    std::optional<std::string> groups_claim{};
    std::optional<std::vector<GroupMapping>> mappings{};
    std::optional<bool> link_by_email{};
    std::optional<bool> enabled{};
    static constexpr Pack fields{
        Field{"title", &ProviderChange::title, ""},
        Field{"issuer", &ProviderChange::issuer, "Needs the client secret again."},
        Field{"client_id", &ProviderChange::client_id, ""},
        Field{"client_secret", &ProviderChange::client_secret, "null removes it."},
        Field{"scopes", &ProviderChange::scopes, ""},
        Field{"allowed_domains", &ProviderChange::allowed_domains, ""},
        Field{"groups_claim", &ProviderChange::groups_claim, ""},
        Field{"mappings", &ProviderChange::mappings, "Replaces all of them."},
        Field{"link_by_email", &ProviderChange::link_by_email, ""},
        Field{"enabled", &ProviderChange::enabled, ""},
    };
};

// What `check` found out about a provider, without a sign-in.
struct ProviderCheck {
    bool ok = false;
    std::string problem;
    std::string redirect_uri;
    std::string authorization_endpoint;
    std::string end_session_endpoint;
    bool sends_issuer = false;
    int64_t keys = 0;
    std::string provider_date;
    static constexpr Pack fields{
        Field{"ok", &ProviderCheck::ok, "Metadata and keys can be read and used."},
        Field{"problem", &ProviderCheck::problem, "Empty when ok."},
        Field{"redirect_uri", &ProviderCheck::redirect_uri, "Address to register at the provider."},
        Field{"authorization_endpoint", &ProviderCheck::authorization_endpoint, ""},
        Field{"end_session_endpoint", &ProviderCheck::end_session_endpoint,
              "Empty: logging out ends only the login here."},
        Field{"sends_issuer", &ProviderCheck::sends_issuer, "Responses have the `iss` parameter (RFC 9207)."},
        Field{"keys", &ProviderCheck::keys, "Keys that can verify signatures."},
        Field{"provider_date", &ProviderCheck::provider_date, "Clock of the provider; ID tokens tolerate 60 s."},
    };
};

class Providers {
public:
    Providers(sql::Database& database, const Clock& clock, access::Access& access, const secret::Vault& vault,
              ProviderClient& client, std::string public_url)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_vault(vault),
          m_client(client),
          m_public_url(std::move(public_url)) {}

    // For owners of the installation; a key needs the scope all, since a provider decides who a user is.
    Result<access::Page<Provider>> list(const access::Caller& caller, const access::PageRequest& page) const;
    Result<Provider> find(const access::Caller& caller, const std::string& name) const;
    Result<Provider> create(const access::Caller& caller, const NewProvider& wanted);
    Result<Provider> update(const access::Caller& caller, const std::string& name, const ProviderChange& change);
    // Its identities are deleted with it unless another provider has the same issuer.
    Result<> remove(const access::Caller& caller, const std::string& name);
    Result<ProviderCheck> check(const access::Caller& caller, const std::string& name);

    // For lists of this folder: all of them; has_client_secret is not read.
    Result<std::vector<Provider>> all() const;
    // For sign-ins: the enabled ones, in the order of their names; not_found for a disabled one.
    Result<std::vector<Provider>> enabled() const;
    Result<Provider> enabled(const std::string& name) const;
    Result<std::string> client_secret(const Provider& provider) const; // empty: none

private:
    Result<Provider> read(const std::string& name) const;
    Result<Provider> checked(const access::Caller& caller, Provider wanted) const;
    Provider provider_of(const sql::Row& row) const;
    std::string own_address(const std::string& name, std::string_view what) const; // empty: no public_url

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const secret::Vault& m_vault;
    ProviderClient& m_client;
    const std::string m_public_url; // without a slash at the end
};

// Whether people can sign in through any provider; for checks of an installation.
Result<bool> has_enabled_provider(sql::Database& database);

} // namespace hone::identity
