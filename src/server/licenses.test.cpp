#include "server/licenses.h"

#include <doctest/doctest.h>

namespace hone::server {

TEST_CASE("the list of licenses has what is shipped, and not what only builds and tests it") {
    const auto all = read_licenses(dependencies_document);
    const auto license_of = [&](std::string_view name) {
        for (const auto& each : all)
            if (each.name.starts_with(name)) return each.license;
        return std::string("none");
    };
    CHECK(license_of("OpenSSL") == "Apache-2.0");
    CHECK(license_of("SQLite") == "public domain");
    CHECK(license_of("chDB") == "Apache-2.0");
    CHECK(license_of("Preact") == "MIT");
    CHECK(license_of("fmt") == "MIT");
    CHECK(license_of("doctest") == "none");
    CHECK(license_of("name") == "none");
    CHECK(license_of("---") == "none");
}

} // namespace hone::server
