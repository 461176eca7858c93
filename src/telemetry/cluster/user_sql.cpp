#include "telemetry/cluster/user_sql.h"

#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace hone::telemetry {

namespace {

bool is_plain(const std::string& name) {
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
           std::string::npos;
}

std::string everywhere(const ClickHouseUsers& users) {
    return users.cluster.empty() ? "" : " ON CLUSTER `" + users.cluster + "`";
}

std::string grant_sql(const ClickHouseUsers& users, const std::string& rights, const std::string& on,
                      const std::string& name) {
    return "GRANT" + everywhere(users) + " " + rights + " ON " + on + " TO `" + name + "`";
}

// A group contains rights that only all databases can have: a server that shows none of them as granted to one
// database would report the whole group as missing.
std::vector<std::string> parts_of(std::string_view right, std::string_view on) {
    if (on == "*.*") return {std::string(right)};
    if (right == "CREATE") return {"CREATE DATABASE", "CREATE TABLE", "CREATE VIEW"};
    if (right == "DROP") return {"DROP DATABASE", "DROP TABLE", "DROP VIEW"};
    if (right == "SHOW") return {"SHOW TABLES", "SHOW COLUMNS"};
    if (right == "ALTER")
        return {"ALTER UPDATE",     "ALTER DELETE",   "ALTER COLUMN",    "ALTER INDEX",
                "ALTER CONSTRAINT", "ALTER SETTINGS", "ALTER PROJECTION"};
    return {std::string(right)};
}

// `GRANT a, b ON place TO name [WITH GRANT OPTION]`, as SHOW GRANTS prints it.
struct ShownGrant {
    std::vector<std::string> rights;
    std::string on;
    bool can_be_passed_on = false;
};

std::optional<ShownGrant> read_grant(std::string_view line) {
    ShownGrant grant;
    if (!line.starts_with("GRANT ")) return std::nullopt;
    line.remove_prefix(6);
    const size_t on = line.find(" ON "), to = line.rfind(" TO ");
    if (on == line.npos || to == line.npos || to < on) return std::nullopt; // a role, or another statement
    grant.on = std::string(trim(line.substr(on + 4, to - on - 4)));
    std::erase(grant.on, '`');
    grant.can_be_passed_on = line.substr(to).find(" WITH ") != line.npos;
    for (const std::string_view right : split(line.substr(0, on), ',')) grant.rights.emplace_back(trim(right));
    return grant;
}

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool is_needed_by_user(const ShownGrant& grant) {
    const auto all_in = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::all_of(grant.rights, [&](const std::string& right) { return is_among(right, words); });
    };
    if (grant.can_be_passed_on) return false;
    if (is_among(grant.on, {"hone.*", "hone_project_*.*"})) return true;
    if (grant.on == "system.*" || grant.on == "system.row_policies")
        return all_in({"SELECT", "SHOW", "SHOW DATABASES", "SHOW TABLES", "SHOW COLUMNS", "SHOW DICTIONARIES"});
    if (grant.on == "*.*")
        return all_in({"CREATE DATABASE", "KILL QUERY", "SHOW ROW POLICIES", "CLUSTER", "USAGE", "NONE"});
    return all_in({"TABLE ENGINE"});
}

template <class Needed>
std::vector<std::string> lines_without(std::string_view shown, const Needed& is_needed) {
    std::vector<std::string> excess;
    for (std::string_view line : split(shown, '\n')) {
        line = trim(line);
        if (line.empty()) continue;
        const auto grant = read_grant(line);
        if (!grant || !is_needed(*grant)) excess.emplace_back(line);
    }
    return excess;
}

} // namespace

std::string identified_by(const std::string& password, const std::string& salt) {
    crypto::Sha256 hash;
    hash.add(password);
    hash.add(salt);
    return "WITH sha256_hash BY '" + to_hex(hash.finish()) + "' SALT '" + salt + "'";
}

std::vector<ClickHouseGrant> grants_of_user(const ClickHouseUsers& users) {
    std::vector<ClickHouseGrant> grants;
    const auto add = [&](const std::string& rights, const std::string& on) {
        ClickHouseGrant grant{rights, on, {}, grant_sql(users, rights, on, users.user)};
        for (const std::string_view right : split(rights, ','))
            for (const std::string& part : parts_of(trim(right), on)) grant.checks.push_back(part + " ON " + on);
        grants.push_back(std::move(grant));
    };
    add("SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, SHOW, SYSTEM MERGES, SYSTEM SYNC REPLICA", "hone.*");
    add("CREATE DATABASE, KILL QUERY", "*.*");
    add("SELECT", "system.*");
    const std::string replicated = users.cluster.empty() ? "" : "Replicated";
    for (const char* engine : {"MergeTree", "ReplacingMergeTree", "AggregatingMergeTree"})
        add("TABLE ENGINE", replicated + engine);
    if (!users.cluster.empty()) add("CLUSTER", "*.*");
    if (users.reader.empty()) return grants;
    add("SELECT, INSERT, CREATE, DROP, SHOW", "hone_project_*.*");
    add("CREATE ROW POLICY, ALTER ROW POLICY, DROP ROW POLICY", "hone.*");
    add("SHOW ROW POLICIES", "*.*");
    add("SELECT", "system.row_policies");
    return grants;
}

std::vector<std::string> excess_of_reader(std::string_view shown) {
    return lines_without(shown, [](const ShownGrant& grant) {
        const bool is_nothing =
            grant.on == "*.*" && grant.rights.size() == 1 && is_among(grant.rights[0], {"USAGE", "NONE"});
        const bool is_views = grant.on == "hone_project_*.*" && grant.rights.size() == 1 && grant.rights[0] == "SELECT";
        return !grant.can_be_passed_on && (is_nothing || is_views);
    });
}

std::vector<std::string> excess_of_user(std::string_view shown) {
    return lines_without(shown, is_needed_by_user);
}

Result<std::vector<std::string>> user_statements(const ClickHouseUsers& users, const UserCredentials& credentials) {
    if (users.user.empty()) return invalid("clickhouse_user names no user");
    for (const std::string& name : {users.user, users.reader, users.cluster})
        if (!is_plain(name)) return invalid("a name of letters, digits and _-. is needed, not " + name);
    if (users.user == users.reader) return invalid("clickhouse_user and clickhouse_reader_user must be two users");
    std::vector<std::string> statements;
    const auto create = [&](const std::string& name, const std::string& identified) {
        statements.push_back("CREATE USER IF NOT EXISTS `" + name + "`" + everywhere(users) + " IDENTIFIED " +
                             identified);
    };
    create(users.user, credentials.user);
    if (!users.reader.empty()) create(users.reader, credentials.reader);
    for (const ClickHouseGrant& grant : grants_of_user(users)) statements.push_back(grant.statement);
    if (!users.reader.empty()) statements.push_back(grant_sql(users, "SELECT", "hone_project_*.*", users.reader));
    return statements;
}

} // namespace hone::telemetry
