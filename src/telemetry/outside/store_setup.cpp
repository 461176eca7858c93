#include "telemetry/outside/store_setup.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "telemetry/cluster/user_sql.h"
#include "telemetry/engine/isolation.h"
#include "telemetry/engine/schema.h"
#include "telemetry/records/record_tables.h"

namespace hone::telemetry {

namespace {

// Up to what a password stands behind, or its hash.
std::string without_secrets(const std::string& statement) {
    return statement.substr(0, statement.find(" IDENTIFIED "));
}

std::string new_salt() {
    return to_hex(crypto::random_bytes(16));
}

} // namespace

Result<> set_up_store(const StoreSetup& setup) {
    const ClickHouseUsers users{setup.server.user, setup.server.reader_user, setup.server.cluster};
    const UserCredentials credentials{identified_by(setup.server.password, new_salt()),
                                      identified_by(setup.server.reader_password, new_salt())};
    ClickHouseOptions connection = setup.server;
    connection.user = setup.administrator;
    connection.password = setup.administrator_password;
    connection.reader_user.clear();
    connection.reader_password.clear();
    ClickHouse administrator(connection);
    for (const std::string& statement : TRY(user_statements(users, credentials))) {
        ClickHouseQuery query(statement);
        query.database.clear(); // `hone` is not there yet
        query.deadline = std::chrono::seconds(30);
        if (const auto done = administrator.query(query); !done.ok()) {
            Error error = done.error();
            error.message = "could not run " + without_secrets(statement) + ": " + error.message;
            error.trail.clear(); // the server repeats the statement in it
            return error;
        }
        setup.made(without_secrets(statement));
    }
    ClickHouse server(setup.server);
    TRY(create_schema(server));
    TRY(create_record_tables(server));
    setup.made("the tables of hone");
    if (setup.server.reader_user.empty()) return {};
    TRY(create_policies(server));
    setup.made("the row policies of hone");
    return {};
}

} // namespace hone::telemetry
