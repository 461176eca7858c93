#include "api/families/phoenix/multipart.h"

#include <doctest/doctest.h>

namespace hone::api {

TEST_CASE("a form is cut into its parts") {
    const std::string body = "--xyz\r\nContent-Disposition: form-data; name=\"action\"\r\n\r\ncreate\r\n"
                             "--xyz\r\nContent-Disposition: form-data; name=file; filename=\"a \\\"b\\\".csv\"\r\n"
                             "Content-Type: text/csv\r\nContent-Encoding: gzip\r\n\r\nline\r\n--xy\r\n\r\n--xyz--\r\n";
    const auto parts = parse_form("multipart/form-data; boundary=xyz", body);
    REQUIRE(parts.ok());
    REQUIRE(parts.value().size() == 2);
    CHECK(parts.value()[0].name == "action");
    CHECK(parts.value()[0].content == "create");
    CHECK(parts.value()[1].file_name == "a \"b\".csv");
    CHECK(parts.value()[1].header("content-encoding") == "gzip");
    CHECK(parts.value()[1].content == "line\r\n--xy\r\n");
    CHECK(parse_form("multipart/form-data; boundary=\"xyz\"", body).ok());
}

TEST_CASE("malformed forms are refused") {
    const char* const type = "multipart/form-data; boundary=xyz";
    for (const char* body : {"", "--", "--xyz", "--xyz\r\n", "--xyz\r\nno headers--xyz--", "--xyz\r\n\r\na\r\n--xyz--",
                             "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nno end",
                             "--xyz\r\nbroken\r\n\r\na\r\n--xyz--", "--abc\r\n"}) {
        INFO(body);
        CHECK(!parse_form(type, body).ok());
    }
    CHECK(!parse_form("multipart/form-data", "--xyz--").ok());
    CHECK(parse_form(type, "--xyz--").ok());
}

} // namespace hone::api
