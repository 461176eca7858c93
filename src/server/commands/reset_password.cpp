// `hone user reset-password EMAIL --data-dir DIR`: for the person at the machine, without a server and without a login.
// Prints a temporary password that must be changed at the next login.
#include "access/access.h"
#include "base/file.h"
#include "config/config.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "sql/directory_lock.h"
#include "sql/migrate.h"
#include "json/json.h"

#include <cstdio>
#include <unistd.h>

namespace hone::server {

namespace {

struct ResetArguments {
    std::string email;
    std::string data_dir;
    std::string database_url;
    bool as_json = false;
};

Result<ResetArguments> read_reset_arguments(int argc, char** argv) {
    ResetArguments given;
    if (const char* url = std::getenv("HONE_DATABASE_URL")) given.database_url = url;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--json")
            given.as_json = true;
        else if (argument == "--data-dir" && i + 1 < argc)
            given.data_dir = argv[++i];
        else if (argument == "--database-url" && i + 1 < argc)
            given.database_url = argv[++i];
        else if (argument.starts_with("-") || !given.email.empty())
            return invalid("unexpected " + argument + ": hone user reset-password EMAIL --data-dir DIR");
        else
            given.email = argument;
    }
    if (given.email.empty() || given.data_dir.empty())
        return invalid("EMAIL or --data-dir is missing: hone user reset-password EMAIL --data-dir DIR");
    return given;
}

Result<std::string> reset(const ResetArguments& given) {
    if (!file_exists(given.data_dir)) return not_found("the data directory " + given.data_dir);
    crypto::start();
    // The server holds this lock: SQLite belongs to one process at a time.
    auto lock = sql::DirectoryLock::acquire(given.data_dir);
    if (!lock.ok())
        return conflict("a server is running on " + given.data_dir +
                        ". Stop it first, or let an installation owner create a link: hone user reset-password EMAIL");
    sql::Options options;
    options.url = given.database_url.empty() ? "sqlite:" + given.data_dir + "/hone.db" : given.database_url;
    const auto database = TRY(sql::Database::open(options));
    const SystemClock clock;
    TRY(sql::migrate(*database, clock));
    access::Access access(*database, clock, {});
    return access.password_resets.set_temporary(given.email);
}

} // namespace

int reset_password_main(int argc, char** argv) {
    const auto given = read_reset_arguments(argc, argv);
    const auto password = given.ok() ? reset(given.value()) : Result<std::string>(given.error());
    if (!password.ok()) return report_failure(password.error(), wants_json(argc, argv));
    if (given.value().as_json)
        std::printf("%s\n",
                    json::print(json::Object{{"email", given.value().email}, {"password", password.value()}}).c_str());
    else
        std::printf("New password of %s: %s\nIt must be changed at the next login. All logins of the account have "
                    "ended.\n",
                    given.value().email.c_str(), password.value().c_str());
    return 0;
}

} // namespace hone::server
