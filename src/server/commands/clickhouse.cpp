// `hone clickhouse setup`: the users and the rights that an outside ClickHouse needs, as statements for its
// administrator.
#include "config/config.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "telemetry/cluster/user_sql.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace hone::server {

namespace {

constexpr const char* clickhouse_help =
    "Usage: hone clickhouse setup [options of hone serve]\n\n"
    "Prints the statements that an administrator of a ClickHouse runs before Hone uses it: two users and their "
    "rights.\n"
    "Replace PASSWORD in each of them. The server verifies what the second user can read before it runs SQL of "
    "people.\n\n"
    "  --clickhouse-user NAME          of the server; hone if not given\n"
    "  --clickhouse-reader-user NAME   that runs SQL of people; hone_reader if not given\n"
    "  --clickhouse-cluster NAME       the users and rights are made on all servers of this cluster\n\n"
    "Example: hone clickhouse setup > users.sql\n";

Result<std::vector<std::string>> statements(int argc, char** argv) {
    if (argc < 2 || std::strcmp(argv[1], "setup") != 0)
        return invalid("it is not given what to do: hone clickhouse setup (--help explains)");
    const auto flags = TRY(config::parse_flags(std::vector<const char*>(argv + 2, argv + argc)));
    const config::Config config = TRY(config::load(flags, environment)).config;
    telemetry::ClickHouseUsers users;
    if (!config.clickhouse_user.empty()) users.user = config.clickhouse_user;
    if (!config.clickhouse_reader_user.empty()) users.reader = config.clickhouse_reader_user;
    users.cluster = config.clickhouse_cluster;
    return telemetry::user_statements(users);
}

} // namespace

int clickhouse_main(int argc, char** argv) {
    if (wants_help(argc, argv)) {
        std::fputs(clickhouse_help, stdout);
        return 0;
    }
    const auto made = statements(argc, argv);
    if (!made.ok()) return report_failure(made.error(), wants_json(argc, argv));
    for (const std::string& statement : made.value()) std::printf("%s;\n", statement.c_str());
    return 0;
}

} // namespace hone::server
