// `hone clickhouse setup` and `check`: the users and the rights that an outside ClickHouse needs: as statements for its
// administrator, made, and verified.
#include "base/log.h"
#include "config/config.h"
#include "crypto/crypto.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "telemetry/cluster/user_sql.h"
#include "telemetry/outside/store_check.h"
#include "telemetry/outside/store_setup.h"
#include "json/json.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

namespace hone::server {

namespace {

constexpr const char* administrator_password = "HONE_CLICKHOUSE_ADMIN_PASSWORD";

constexpr const char* clickhouse_help =
    "Usage: hone clickhouse setup [--apply] [--admin-user NAME] [--json] [options of hone serve]\n"
    "       hone clickhouse check [--json] [options of hone serve]\n\n"
    "setup prints the statements that an administrator of a ClickHouse runs before Hone uses it: two users and their\n"
    "rights. Replace PASSWORD in each of them. With --apply it runs them at clickhouse_url, as an administrator whose\n"
    "password is in HONE_CLICKHOUSE_ADMIN_PASSWORD, with the passwords of HONE_CLICKHOUSE_PASSWORD and\n"
    "HONE_CLICKHOUSE_READER_PASSWORD; a user that is there keeps its password. Then it makes the tables and row "
    "policies\n"
    "as a server does at its start, and verifies everything as check does.\n\n"
    "check connects to each address of clickhouse_url with the server's two users, and verifies the version, the "
    "rights\n"
    "of both users, the tables, what makes repeated and late inserts harmless, the row policies, the limits of "
    "queries,\n"
    "the free space that disks keep, and the clocks. As an attacker with the reader's user it tries to get the row of "
    "a\n"
    "project that does not exist; what it makes for that (databases hone_project_check_…, a table hone.check_…) it "
    "drops\n"
    "again, also what an earlier check left that was killed more than an hour ago. The exit code is 1 when something "
    "is\n"
    "wrong.\n\n"
    "  --apply                         runs the statements\n"
    "  --admin-user NAME               of the administrator, for --apply; default if not given\n"
    "  --clickhouse-url URL            address of the ClickHouse, or several separated by commas\n"
    "  --clickhouse-user NAME          of the server; hone if not given\n"
    "  --clickhouse-reader-user NAME   that runs SQL of people; hone_reader if not given, for check: none\n"
    "  --clickhouse-cluster NAME       the users and rights are made on all servers of this cluster\n"
    "  --json                          prints findings as JSON\n\n"
    "Example: hone clickhouse setup > users.sql\n"
    "Example: hone clickhouse check --clickhouse-url https://clickhouse:8443 --clickhouse-reader-user hone_reader\n";

struct ClickHouseArguments {
    enum class Action { print, apply, check } action = Action::print;
    std::string administrator = "default";
    bool as_json = false;
    config::Config config;
};

Result<ClickHouseArguments> clickhouse_arguments(int argc, char** argv) {
    ClickHouseArguments found;
    const std::string_view action = argc > 1 ? argv[1] : "";
    if (action != "setup" && action != "check")
        return invalid("it is not given what to do: hone clickhouse setup or check (--help explains)");
    if (action == "check") found.action = ClickHouseArguments::Action::check;
    std::vector<const char*> rest;
    for (int i = 2; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--json")
            found.as_json = true;
        else if (argument == "--apply" && action == "setup")
            found.action = ClickHouseArguments::Action::apply;
        else if (argument == "--admin-user" && action == "setup" && i + 1 < argc)
            found.administrator = argv[++i];
        else if (argument.starts_with("--admin-user=") && action == "setup")
            found.administrator = argument.substr(13);
        else
            rest.push_back(argv[i]);
    }
    const auto flags = TRY(config::parse_flags(rest));
    found.config = TRY(config::load(flags, environment)).config;
    config::Config& config = found.config;
    if (config.clickhouse_user.empty()) config.clickhouse_user = "hone";
    if (found.action == ClickHouseArguments::Action::print) {
        if (config.clickhouse_reader_user.empty()) config.clickhouse_reader_user = "hone_reader";
        return found;
    }
    if (!config.clickhouse_url.starts_with("http://") && !config.clickhouse_url.starts_with("https://"))
        return invalid("set clickhouse_url, the address of the ClickHouse, such as http://host:8123");
    if (found.action == ClickHouseArguments::Action::check) return found;
    if (config.clickhouse_reader_user.empty()) config.clickhouse_reader_user = "hone_reader";
    for (const auto& [password, name] :
         {std::pair(&config.clickhouse_password, "HONE_CLICKHOUSE_PASSWORD"),
          std::pair(&config.clickhouse_reader_password, "HONE_CLICKHOUSE_READER_PASSWORD")})
        if (password->empty()) return invalid(std::string(name) + " is not set: the password that the new user gets");
    if (config.clickhouse_password == config.clickhouse_reader_password)
        return invalid("HONE_CLICKHOUSE_PASSWORD and HONE_CLICKHOUSE_READER_PASSWORD must be two passwords");
    return found;
}

Result<> print_statements(const config::Config& config) {
    telemetry::ClickHouseUsers users;
    users.user = config.clickhouse_user;
    users.reader = config.clickhouse_reader_user;
    users.cluster = config.clickhouse_cluster;
    for (const std::string& statement : TRY(telemetry::user_statements(users))) std::printf("%s;\n", statement.c_str());
    return {};
}

void print_findings(const std::vector<telemetry::StoreFinding>& findings) {
    const bool colour = isatty(1) != 0 && std::getenv("NO_COLOR") == nullptr;
    std::string address;
    for (const telemetry::StoreFinding& finding : findings) {
        if (finding.address != address) std::printf("%s\n", finding.address.c_str());
        address = finding.address;
        const char* shade = finding.state == "ok" ? "\033[32m" : finding.state == "warning" ? "\033[33m" : "\033[31m";
        std::printf("%s%-8s%s %-18s %s\n", colour ? shade : "", finding.state.c_str(), colour ? "\033[0m" : "",
                    finding.name.c_str(), finding.detail.c_str());
        if (!finding.advice.empty()) std::printf("         %-18s → %s\n", "", finding.advice.c_str());
    }
}

Result<int> run_clickhouse(const ClickHouseArguments& given) {
    using Action = ClickHouseArguments::Action;
    if (given.action == Action::print) {
        TRY(print_statements(given.config));
        return 0;
    }
    if (given.action == Action::apply) {
        telemetry::StoreSetup setup;
        setup.server = clickhouse_options(given.config);
        setup.administrator = given.administrator;
        setup.administrator_password = environment(administrator_password).value_or("");
        setup.made = [](const std::string& what) { std::fprintf(stderr, "made %s\n", what.c_str()); };
        TRY(telemetry::set_up_store(setup));
    }
    const auto findings = telemetry::check_store(clickhouse_options(given.config), SystemClock());
    if (given.as_json)
        std::printf("%s\n", json::write(findings).c_str());
    else
        print_findings(findings);
    return telemetry::has_problem(findings) ? 1 : 0;
}

} // namespace

int clickhouse_main(int argc, char** argv) {
    if (wants_help(argc, argv)) {
        std::fputs(clickhouse_help, stdout);
        return 0;
    }
    crypto::start();
    set_log(LogFormat::text, Level::warning);
    const auto given = clickhouse_arguments(argc, argv);
    if (!given.ok()) return report_failure(invalid(given.error().message), wants_json(argc, argv));
    const auto done = run_clickhouse(given.value());
    if (!done.ok()) return report_failure(done.error(), given.value().as_json);
    return done.value();
}

} // namespace hone::server
