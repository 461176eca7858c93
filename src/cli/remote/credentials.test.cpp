#include "cli/remote/credentials.h"

#include "cli/remote/target.h"
#include "cli/testing/scripted_server.h"

#include <sys/stat.h>

using namespace hone;
using namespace hone::cli;
using namespace hone::cli::testing;

namespace {

mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777;
}

} // namespace

TEST_CASE("credentials are stored for their owner only and read back") {
    const TemporaryDirectory home;
    const std::string path = home.path() + "/config/hone/credentials.json";
    Credentials credentials;
    credentials.default_url = "http://a:1";
    credentials.servers["http://a:1"] = {"hone_abc", "key_1", "ada@example.com", "/etc/ca.pem"};
    REQUIRE(write_credentials(path, credentials).ok());
    CHECK(mode_of(path) == 0600);
    CHECK(mode_of(home.path() + "/config/hone") == 0700);
    const Credentials read = read_credentials(path).value();
    REQUIRE(read.find("http://a:1") != nullptr);
    CHECK(read.find("http://a:1")->api_key == "hone_abc");
    CHECK(read.find("http://a:1")->ca_file == "/etc/ca.pem");
    CHECK(read.find("http://b:1") == nullptr);
    CHECK(read.default_url == "http://a:1");
}

TEST_CASE("credentials that others can read are refused, damaged ones too, missing ones are none") {
    const TemporaryDirectory home;
    const std::string path = home.path() + "/credentials.json";
    CHECK(read_credentials(path).value().servers.empty());
    REQUIRE(write_credentials(path, {}).ok());
    REQUIRE(chmod(path.c_str(), 0640) == 0);
    CHECK(read_credentials(path).error().message.find("chmod 600") != std::string::npos);
    REQUIRE(write_file(path, "{\"servers\": 5}").ok());
    CHECK(read_credentials(path).error().code == Code::corrupt);
}

TEST_CASE("forgetting the default server leaves the only other one as default") {
    Credentials credentials{"http://a:1", {{"http://a:1", {}}, {"http://b:1", {}}}};
    credentials.remove("http://a:1");
    CHECK(credentials.default_url == "http://b:1");
    credentials.remove("http://b:1");
    CHECK_FALSE(credentials.default_url);
}

TEST_CASE("one server has one spelling") {
    CHECK(canonical_url("HTTPS://Example.com:443/").value() == "https://example.com");
    CHECK(canonical_url("http://127.0.0.1:7070").value() == "http://127.0.0.1:7070");
    CHECK(canonical_url("http://[::1]:80").value() == "http://[::1]");
    CHECK(canonical_url("https://example.com/hone/").value() == "https://example.com/hone");
    CHECK_FALSE(canonical_url("http://user:secret@example.com").ok());
    CHECK_FALSE(canonical_url("ftp://example.com").ok());
    CHECK_FALSE(canonical_url("http://example.com/?a=1").ok());
    CHECK_FALSE(canonical_url("unix:/run/hone.sock:/").ok());
}
