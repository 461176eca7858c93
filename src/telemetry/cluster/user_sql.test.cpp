// The statements for an administrator of a ClickHouse: our own engine parses each. It has no users, so none is
// executed.
#include "telemetry/cluster/user_sql.h"

#include "base/file.h"
#include "telemetry/store_fixture.h"

#include <algorithm>

namespace hone::telemetry::testing {

TEST_CASE("the statements for the users of a ClickHouse are those of the document, and ClickHouse can read them") {
    Fixture& f = fixture();
    f.store();
    const auto plain = user_statements({}).value();
    // docs/query-traces.md has those of the reader.
    const std::string document = read_file(HONE_SOURCE_DIR "/docs/query-traces.md").value();
    int found = 0;
    for (const std::string_view line : split(document, '\n')) {
        if (!line.starts_with("GRANT ")) continue;
        std::string wanted(line.substr(0, line.rfind(" TO ")));
        CHECK_MESSAGE(
            std::ranges::any_of(plain, [&](const std::string& one) { return one.starts_with(wanted + " TO "); }),
            wanted);
        ++found;
    }
    CHECK(found == 5);
    const auto clustered = user_statements({"writer-1", "reader.1", "main"}).value();
    for (const auto& statements : {plain, clustered})
        for (const std::string& statement : statements) {
            ClickHouseQuery format("SELECT formatQuery({statement:String})");
            format.bind("statement", statement);
            const auto read = f.telemetry->engine().query(format);
            CHECK_MESSAGE(read.ok(), statement, ": ", (read.ok() ? "" : read.error().message));
        }
    for (const std::string& statement : clustered) CHECK(statement.find(" ON CLUSTER `main`") != std::string::npos);
    CHECK(std::ranges::count(clustered, "GRANT ON CLUSTER `main` CLUSTER ON *.* TO `writer-1`") == 1);
    const auto without_reader = user_statements({"hone", "", ""}).value();
    for (const std::string& statement : without_reader) CHECK(statement.find("reader") == std::string::npos);
    for (const ClickHouseUsers& wrong :
         {ClickHouseUsers{"", "r", ""}, ClickHouseUsers{"a`b", "r", ""}, ClickHouseUsers{"a", "a", ""},
          ClickHouseUsers{"a", "b'", ""}, ClickHouseUsers{"a", "b", "c d"}})
        CHECK(user_statements(wrong).error().code == Code::invalid);
}

} // namespace hone::telemetry::testing
