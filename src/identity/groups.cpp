#include "identity/groups.h"

#include <algorithm>
#include <set>

namespace hone::identity {

namespace {

constexpr size_t longest_group = 255;
constexpr int64_t most_emails = 20;

bool is_listed(const std::string& name) {
    const bool has_control =
        std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    return !name.empty() && name.size() <= longest_group && is_valid_utf8(name) && !has_control;
}

// Unique, in the order of provider and name, and short enough for a cursor.
std::string place_of(const Group& group) {
    return group.provider + " " + to_hex(std::string_view(group.name).substr(0, 60)) + " " +
           to_hex(crypto::hash(group.name)).substr(0, 16);
}

} // namespace

Result<access::Page<Group>> Groups::list(const access::Caller& caller, const GroupFilter& filter,
                                         const access::PageRequest& page) const {
    TRY(caller.require(access::Permission::user_manage));
    const std::string after = TRY(page.after());
    std::string sql =
        "SELECT g.provider, g.name, COUNT(*), MAX(i.last_login_at) FROM identity_groups g JOIN identities "
        "i ON i.issuer = g.issuer AND i.subject = g.subject WHERE 1 = 1";
    std::vector<sql::Value> values;
    if (filter.provider) {
        sql += " AND g.provider = ?";
        values.push_back(sql::to_value(*filter.provider));
    }
    if (filter.user) {
        sql += " AND i.user_id = ?";
        values.push_back(sql::to_value(*filter.user));
    }
    // Sorted here: databases order texts by their own rules.
    std::map<std::string, Group> found;
    const auto add = [&](Group group) {
        std::string place = place_of(group);
        if (place > after) found.emplace(std::move(place), std::move(group));
    };
    for (const auto& row : TRY(m_database.run_query(sql + " GROUP BY g.provider, g.name", values)))
        add({row.text(0), row.text(1), row.integer(2), {}, {}, row.optional_time(3)});
    if (!filter.user)
        for (const Provider& provider : TRY(m_providers.all()))
            for (const GroupMapping& mapping : provider.mappings)
                if (mapping.group != "*" && (!filter.provider || *filter.provider == provider.name))
                    add({provider.name, mapping.group, 0, {}, {}, {}});
    std::vector<Group> groups;
    for (auto& [place, group] : found) {
        groups.push_back(std::move(group));
        if (groups.size() > static_cast<size_t>(page.limit)) break;
    }
    for (Group& group : groups) TRY(add_emails(group, filter));
    TRY(add_roles(groups));
    return access::make_page(std::move(groups), page, place_of);
}

Result<> Groups::add_emails(Group& group, const GroupFilter& filter) const {
    if (group.people == 0) return {};
    std::string sql = "SELECT i.email FROM identity_groups g JOIN identities i ON i.issuer = g.issuer AND i.subject = "
                      "g.subject WHERE g.provider = ? AND g.name = ?";
    std::vector<sql::Value> values{sql::to_value(group.provider), sql::to_value(group.name)};
    if (filter.user) {
        sql += " AND i.user_id = ?";
        values.push_back(sql::to_value(*filter.user));
    }
    values.push_back(sql::to_value(most_emails));
    for (const auto& row : TRY(m_database.run_query(sql + " ORDER BY i.email LIMIT ?", values)))
        group.emails.push_back(row.text(0));
    return {};
}

Result<> Groups::add_roles(std::vector<Group>& groups) const {
    std::map<std::string, std::vector<GroupMapping>> mappings;
    for (Provider& provider : TRY(m_providers.all())) mappings.emplace(provider.name, std::move(provider.mappings));
    const auto names = TRY(m_access.spaces.all_names());
    for (Group& group : groups)
        for (const GroupMapping& mapping : mappings[group.provider]) {
            if (mapping.group != group.name) continue;
            const auto name = names.find(access::SpaceId(mapping.space));
            group.roles.push_back({mapping.space, name == names.end() ? std::string() : name->second, mapping.role});
        }
    return {};
}

Result<> Groups::record(sql::Transaction& transaction, const std::string& provider, const std::string& issuer,
                        const std::string& subject, const std::vector<std::string>& names) const {
    std::set<std::string> wanted;
    for (const std::string& name : names)
        if (is_listed(name)) wanted.insert(name);
    const auto rows =
        TRY(transaction.query("SELECT name FROM identity_groups WHERE provider = ? AND issuer = ? AND subject = ?",
                              provider, issuer, subject));
    for (const auto& row : rows) {
        if (wanted.erase(row.text(0)) != 0) continue;
        TRY(transaction.execute("DELETE FROM identity_groups WHERE provider = ? AND issuer = ? AND subject = ? AND "
                                "name = ?",
                                provider, issuer, subject, row.text(0)));
    }
    for (const std::string& name : wanted)
        TRY(transaction.execute("INSERT INTO identity_groups (provider, issuer, subject, name) VALUES (?,?,?,?)",
                                provider, issuer, subject, name));
    return {};
}

} // namespace hone::identity
