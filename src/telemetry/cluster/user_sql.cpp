#include "telemetry/cluster/user_sql.h"

namespace hone::telemetry {

namespace {

bool is_plain(const std::string& name) {
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
           std::string::npos;
}

} // namespace

Result<std::vector<std::string>> user_statements(const ClickHouseUsers& users) {
    if (users.user.empty()) return invalid("clickhouse_user names no user");
    for (const std::string& name : {users.user, users.reader, users.cluster})
        if (!is_plain(name)) return invalid("a name of letters, digits and _-. is needed, not " + name);
    if (users.user == users.reader) return invalid("clickhouse_user and clickhouse_reader_user must be two users");
    const std::string everywhere = users.cluster.empty() ? "" : " ON CLUSTER `" + users.cluster + "`";
    std::vector<std::string> statements;
    const auto create = [&](const std::string& name) {
        statements.push_back("CREATE USER IF NOT EXISTS `" + name + "`" + everywhere + " IDENTIFIED BY 'PASSWORD'");
    };
    const auto grant = [&](const std::string& rights, const std::string& name) {
        statements.push_back("GRANT" + everywhere + " " + rights + " TO `" + name + "`");
    };
    create(users.user);
    grant("SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, SHOW, SYSTEM MERGES, SYSTEM SYNC REPLICA ON hone.*",
          users.user);
    grant("CREATE DATABASE, KILL QUERY ON *.*", users.user);
    grant("SELECT ON system.*", users.user);
    const std::string replicated = users.cluster.empty() ? "" : "Replicated";
    for (const char* engine : {"MergeTree", "ReplacingMergeTree", "AggregatingMergeTree"})
        grant("TABLE ENGINE ON " + replicated + engine, users.user);
    if (!users.cluster.empty()) grant("CLUSTER ON *.*", users.user);
    if (users.reader.empty()) return statements;
    create(users.reader);
    grant("SELECT ON hone_project_*.*", users.reader);
    grant("SELECT, INSERT, CREATE, DROP, SHOW ON hone_project_*.*", users.user);
    grant("CREATE ROW POLICY, ALTER ROW POLICY ON hone.*", users.user);
    grant("SHOW ROW POLICIES ON *.*", users.user);
    grant("SELECT ON system.row_policies", users.user);
    return statements;
}

} // namespace hone::telemetry
