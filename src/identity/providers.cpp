#include "identity/providers.h"

#include "access/names.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::identity {

namespace {

constexpr size_t most_providers = 20;
constexpr size_t most_words = 100; // scopes, domains
constexpr size_t most_mappings = 1000;
constexpr size_t longest_word = 255;

std::string vault_owner(const std::string& name) {
    return "identity_provider:" + name;
}

// A provider decides who a user is, so managing one is as much as being every user.
Result<> require_owner(const access::Caller& caller) {
    TRY(caller.require(access::Permission::user_manage));
    const access::PermissionSet everything =
        access::permissions_of(access::Role::owner) | access::installation_permissions();
    if (caller.kind != access::CallerKind::system && !caller.scope.contains(everything))
        return forbidden("this needs a login, or an API key with the scope all: a provider decides who users are");
    return {};
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

template <class T>
T from_json(const std::string& text) {
    auto read = json::read<T>(text);
    return read.ok() ? std::move(read).value() : T{};
}

constexpr std::string_view select_provider =
    "SELECT name, title, issuer, client_id, scopes, allowed_domains, groups_claim, mappings, link_by_email, enabled, "
    "created_by_name, created_at, updated_at FROM identity_providers";

Result<std::string> checked_provider_name(const std::string& name) {
    const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (name.empty() || name.size() > 40 || !plain || name.starts_with('-'))
        return invalid("name must be 1 to 40 lower-case letters, digits and hyphens");
    return name;
}

Result<> check_words(std::string_view what, const std::vector<std::string>& words) {
    if (words.size() > most_words) return invalid(std::string(what) + " must be at most " + std::to_string(most_words));
    for (const std::string& word : words)
        if (word.empty() || word.size() > longest_word || !is_printable_ascii(word) ||
            word.find_first_of(" \"\\") != std::string::npos)
            return invalid(std::string(what) + " must be words without spaces and quotes");
    return {};
}

Result<> check_secret(const std::string& secret) {
    if (secret.empty() || secret.size() > 2000 || !is_printable_ascii(secret))
        return invalid("client_secret must be 1 to 2,000 visible characters");
    return {};
}

} // namespace

std::string Providers::own_address(const std::string& name, std::string_view what) const {
    return m_public_url.empty() ? "" : m_public_url + "/v1/login/" + name + "/" + std::string(what);
}

Provider Providers::provider_of(const sql::Row& row) const {
    Provider made;
    made.name = row.text(0);
    made.title = row.text(1);
    made.issuer = row.text(2);
    made.client_id = row.text(3);
    for (const std::string_view scope : split(row.text(4), ' ')) made.scopes.emplace_back(scope);
    made.allowed_domains = from_json<std::vector<std::string>>(row.text(5));
    made.groups_claim = row.text(6);
    made.mappings = from_json<std::vector<GroupMapping>>(row.text(7));
    made.link_by_email = row.flag(8);
    made.enabled = row.flag(9);
    made.created_by = row.text(10);
    made.created_at = row.time(11);
    made.updated_at = row.time(12);
    made.redirect_uri = own_address(made.name, "callback");
    made.logout_uri = own_address(made.name, "logout");
    return made;
}

Result<Provider> Providers::read(const std::string& name) const {
    return m_database.read([&](sql::Transaction& transaction) -> Result<Provider> {
        const auto rows = TRY(transaction.query(std::string(select_provider) + " WHERE name = ?", name));
        if (rows.empty()) return not_found("provider " + std::string(truncate_utf8(name, 100)));
        Provider found = provider_of(rows.front());
        found.has_client_secret = !TRY(m_vault.kept_names(transaction, vault_owner(name))).empty();
        return found;
    });
}

Result<access::Page<Provider>> Providers::list(const access::Caller& caller, const access::PageRequest& page) const {
    TRY(caller.require(access::Permission::user_manage));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query("SELECT name FROM identity_providers WHERE name > ? ORDER BY name LIMIT ?",
                                           after, page.limit + 1));
    std::vector<Provider> all;
    for (const auto& row : rows) all.push_back(TRY(read(row.text(0))));
    return access::make_page(std::move(all), page, [](const Provider& provider) { return provider.name; });
}

Result<Provider> Providers::find(const access::Caller& caller, const std::string& name) const {
    TRY(caller.require(access::Permission::user_manage));
    return read(name);
}

Result<std::vector<Provider>> Providers::all() const {
    std::vector<Provider> all;
    for (const auto& row : TRY(m_database.query(std::string(select_provider) + " ORDER BY name")))
        all.push_back(provider_of(row));
    return all;
}

Result<std::vector<Provider>> Providers::enabled() const {
    const auto rows = TRY(m_database.query(std::string(select_provider) + " WHERE enabled = 1 ORDER BY name"));
    std::vector<Provider> all;
    for (const auto& row : rows) all.push_back(provider_of(row));
    return all;
}

Result<Provider> Providers::enabled(const std::string& name) const {
    Provider found = TRY(read(name));
    if (!found.enabled) return not_found("provider " + name);
    if (found.redirect_uri.empty())
        return unavailable("single sign-on needs the setting public_url, the address of this server");
    return found;
}

Result<std::string> Providers::client_secret(const Provider& provider) const {
    if (!provider.has_client_secret) return std::string();
    const auto secret = TRY(m_vault.reveal({}, vault_owner(provider.name), "client_secret", "single sign-on"));
    return std::string(secret.reveal());
}

Result<Provider> Providers::checked(const access::Caller& caller, Provider wanted) const {
    wanted.title = TRY(access::checked_name("title", wanted.title));
    TRY(check_issuer(wanted.issuer));
    wanted.client_id = TRY(access::checked_name("client_id", wanted.client_id));
    TRY(check_words("scopes", wanted.scopes));
    if (std::find(wanted.scopes.begin(), wanted.scopes.end(), "openid") == wanted.scopes.end())
        return invalid("scopes must have openid");
    for (std::string& domain : wanted.allowed_domains) {
        domain = lowercase_ascii(domain);
        if (domain.find('@') != std::string::npos || domain.find('.') == std::string::npos)
            return invalid("allowed_domains must be domains like example.com");
    }
    TRY(check_words("allowed_domains", wanted.allowed_domains));
    if (wanted.groups_claim.empty() || wanted.groups_claim.size() > longest_word ||
        !is_printable_ascii(wanted.groups_claim))
        return invalid("groups_claim must be the name of a claim");
    if (wanted.mappings.size() > most_mappings)
        return invalid("mappings must be at most " + std::to_string(most_mappings));
    for (GroupMapping& mapping : wanted.mappings) {
        if (mapping.group.empty() || mapping.group.size() > longest_word || !is_valid_utf8(mapping.group))
            return invalid("mappings: group must be 1 to 255 bytes long");
        mapping.space = TRY(m_access.spaces.find(caller, mapping.space)).id.text();
        TRY(access::require_may_grant(caller, access::SpaceId(mapping.space), mapping.role));
    }
    return wanted;
}

Result<Provider> Providers::create(const access::Caller& caller, const NewProvider& wanted) {
    TRY(require_owner(caller));
    Provider made;
    made.name = TRY(checked_provider_name(wanted.name));
    made.title = wanted.title.value_or(made.name);
    made.issuer = wanted.issuer;
    made.client_id = wanted.client_id;
    made.scopes = wanted.scopes.value_or(std::vector<std::string>{"openid", "email", "profile"});
    made.allowed_domains = wanted.allowed_domains.value_or(std::vector<std::string>());
    made.groups_claim = wanted.groups_claim.value_or("groups");
    made.mappings = wanted.mappings.value_or(std::vector<GroupMapping>());
    made.link_by_email = wanted.link_by_email.value_or(false);
    made.enabled = wanted.enabled.value_or(true);
    made = TRY(checked(caller, std::move(made)));
    if (wanted.client_secret) TRY(check_secret(*wanted.client_secret));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM identity_providers"));
        if (static_cast<size_t>(count.front().integer(0)) >= most_providers)
            return conflict("there can be at most " + std::to_string(most_providers) + " providers");
        const Time now = m_clock.now();
        const int64_t added = TRY(transaction.execute(
            "INSERT INTO identity_providers (name, title, issuer, client_id, scopes, allowed_domains, groups_claim, "
            "mappings, link_by_email, enabled, created_by_name, created_at, updated_at) VALUES "
            "(?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (name) DO NOTHING",
            made.name, made.title, made.issuer, made.client_id, joined(made.scopes), json::write(made.allowed_domains),
            made.groups_claim, json::write(made.mappings), made.link_by_email, made.enabled, caller.name, now, now));
        if (added == 0) return conflict("there is a provider named " + made.name + " already");
        if (wanted.client_secret)
            TRY(m_vault.keep(transaction, {}, vault_owner(made.name), "client_secret",
                             secret::SecretBytes(std::string_view(*wanted.client_secret))));
        return m_access.audit.record(transaction, caller,
                                     {"identity_provider_create",
                                      {},
                                      made.name,
                                      {{"issuer", made.issuer},
                                       {"client_id", made.client_id},
                                       {"mappings", json::to_value(made.mappings)},
                                       {"link_by_email", made.link_by_email},
                                       {"enabled", made.enabled}}});
    }));
    return read(made.name);
}

Result<Provider> Providers::update(const access::Caller& caller, const std::string& name,
                                   const ProviderChange& change) {
    TRY(require_owner(caller));
    const Provider before = TRY(read(name));
    Provider wanted = before;
    wanted.title = change.title.value_or(before.title);
    wanted.issuer = change.issuer.value_or(before.issuer);
    wanted.client_id = change.client_id.value_or(before.client_id);
    wanted.scopes = change.scopes.value_or(before.scopes);
    wanted.allowed_domains = change.allowed_domains.value_or(before.allowed_domains);
    wanted.groups_claim = change.groups_claim.value_or(before.groups_claim);
    wanted.mappings = change.mappings.value_or(std::vector<GroupMapping>());
    wanted.link_by_email = change.link_by_email.value_or(before.link_by_email);
    wanted.enabled = change.enabled.value_or(before.enabled);
    wanted = TRY(checked(caller, std::move(wanted)));
    if (!change.mappings) wanted.mappings = before.mappings; // a space of theirs may have been deleted
    const bool new_secret = change.client_secret && *change.client_secret;
    // The old secret must not be sent to another server.
    if (wanted.issuer != before.issuer && before.has_client_secret && !change.client_secret)
        return invalid("another issuer needs another client_secret, or null for none");
    if (new_secret) TRY(check_secret(**change.client_secret));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t changed = TRY(transaction.execute(
            "UPDATE identity_providers SET title = ?, issuer = ?, client_id = ?, scopes = ?, allowed_domains = ?, "
            "groups_claim = ?, mappings = ?, link_by_email = ?, enabled = ?, updated_at = ? WHERE name = ?",
            wanted.title, wanted.issuer, wanted.client_id, joined(wanted.scopes), json::write(wanted.allowed_domains),
            wanted.groups_claim, json::write(wanted.mappings), wanted.link_by_email, wanted.enabled, m_clock.now(),
            name));
        if (changed == 0) return not_found("provider " + name);
        if (new_secret)
            TRY(m_vault.keep(transaction, {}, vault_owner(name), "client_secret",
                             secret::SecretBytes(std::string_view(**change.client_secret))));
        else if (change.client_secret)
            TRY(m_vault.forget(transaction, vault_owner(name)));
        return m_access.audit.record(transaction, caller,
                                     {"identity_provider_update",
                                      {},
                                      name,
                                      {{"issuer", wanted.issuer},
                                       {"client_id", wanted.client_id},
                                       {"mappings", json::to_value(wanted.mappings)},
                                       {"link_by_email", wanted.link_by_email},
                                       {"enabled", wanted.enabled},
                                       {"new_client_secret", change.client_secret.has_value()}}});
    }));
    m_client.forget(before.issuer);
    return read(name);
}

Result<> Providers::remove(const access::Caller& caller, const std::string& name) {
    TRY(require_owner(caller));
    const Provider before = TRY(read(name));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(m_vault.forget(transaction, vault_owner(name)));
        TRY(transaction.execute("DELETE FROM identity_providers WHERE name = ?", name));
        TRY(transaction.execute("DELETE FROM sign_ons WHERE provider = ?", name));
        TRY(transaction.execute("DELETE FROM identity_groups WHERE provider = ?", name));
        TRY(transaction.execute("DELETE FROM identities WHERE issuer = ? AND NOT EXISTS (SELECT 1 FROM "
                                "identity_providers WHERE issuer = ?)",
                                before.issuer, before.issuer));
        return m_access.audit.record(transaction, caller,
                                     {"identity_provider_delete", {}, name, {{"issuer", before.issuer}}});
    });
}

Result<ProviderCheck> Providers::check(const access::Caller& caller, const std::string& name) {
    TRY(require_owner(caller));
    const Provider provider = TRY(read(name));
    ProviderCheck outcome;
    outcome.redirect_uri = provider.redirect_uri;
    const auto report = m_client.check(provider.issuer);
    if (!report.ok()) {
        outcome.problem = report.error().message;
        return outcome;
    }
    outcome.authorization_endpoint = report.value().metadata.authorization_endpoint;
    outcome.end_session_endpoint = report.value().metadata.end_session_endpoint;
    outcome.sends_issuer = report.value().metadata.sends_issuer;
    outcome.keys = static_cast<int64_t>(report.value().keys);
    outcome.provider_date = truncate_utf8(repair_utf8(report.value().server_date), 60);
    if (outcome.redirect_uri.empty())
        outcome.problem = "set public_url, the address of this server: the provider sends people back to it";
    else if (outcome.keys == 0)
        outcome.problem = "the provider publishes no key for RS256, PS256, ES256 or EdDSA";
    outcome.ok = outcome.problem.empty();
    return outcome;
}

Result<bool> has_enabled_provider(sql::Database& database) {
    return !TRY(database.query("SELECT 1 FROM identity_providers WHERE enabled = 1 LIMIT 1")).empty();
}

} // namespace hone::identity
