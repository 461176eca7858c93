#include "objects/location.h"

#include "objects/object_store.h"

#include <doctest/doctest.h>
#include <map>

using namespace hone;
using namespace hone::objects;

TEST_CASE("the setting names a directory or a bucket") {
    CHECK(!parse_location("file").value().is_s3);
    CHECK(parse_location("file:///srv/objects/").value().directory == "/srv/objects");
    const Location amazon = parse_location("s3://my-bucket?region=eu-central-1").value();
    CHECK(amazon.endpoint == "https://s3.eu-central-1.amazonaws.com");
    CHECK(amazon.is_host_style);
    CHECK(amazon.prefix.empty());
    CHECK(!parse_location("s3://my.bucket").value().is_host_style);
    const Location own = parse_location("s3://hone/team/a/?endpoint=http://127.0.0.1:9000&checksum=sha256&"
                                        "encryption=aws:kms&kms_key=arn:aws:kms:1")
                             .value();
    CHECK(own.endpoint == "http://127.0.0.1:9000");
    CHECK(own.prefix == "team/a/");
    CHECK(!own.is_host_style);
    CHECK(own.has_checksums);
    CHECK(own.kms_key == "arn:aws:kms:1");
    CHECK(parse_location("s3://hone?endpoint=https://minio.example:443&style=host").value().endpoint ==
          "https://minio.example");
}

TEST_CASE("a wrong setting is refused with what is wrong") {
    for (const char* text : {"",
                             "s3",
                             "file:relative",
                             "file:/",
                             "ftp://x",
                             "s3://",
                             "s3://A",
                             "s3://ab",
                             "s3://a..b",
                             "s3://-abc",
                             "s3://bucket/../x",
                             "s3://bucket/a b",
                             "s3://bucket/.hidden",
                             "s3://bucket?region=",
                             "s3://bucket?region=a/b",
                             "s3://bucket?style=other",
                             "s3://bucket?checksum=md5",
                             "s3://bucket?endpoint=http://user:secret@host",
                             "s3://bucket?endpoint=http://host/path",
                             "s3://bucket?endpoint=unix:/x:/",
                             "s3://bucket?other=1",
                             "s3://bucket?kms_key=x"}) {
        INFO(text);
        const auto location = parse_location(text);
        REQUIRE(!location.ok());
        CHECK(location.error().code == Code::invalid);
        CHECK(location.error().message.find("secret") == std::string::npos);
    }
}

TEST_CASE("credentials come from the file or the environment, and no error quotes them") {
    std::string text = "# a comment\n[default]\naws_access_key_id = AKID\naws_secret_access_key=s3cr3t/+=\n";
    const Credentials file = parse_credentials(text).value();
    CHECK(file.key_id == "AKID");
    CHECK(file.secret.reveal() == "s3cr3t/+=");
    CHECK(text.empty());
    for (std::string bad : {"s3cr3t", "aws_access_key_id = s3cr3t", "aws_access_key_id=a\naws_secret_access_key=\n",
                            "[other]\naws_access_key_id=a\naws_secret_access_key=s3cr3t"}) {
        const auto refused = parse_credentials(bad);
        REQUIRE(!refused.ok());
        CHECK(refused.error().message.find("s3cr3t") == std::string::npos);
    }
    std::map<std::string, std::string> variables{
        {"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", "s3cr3t"}, {"AWS_SESSION_TOKEN", "token"}};
    const auto environment = [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    CHECK(find_credentials("", environment).value().session_token.reveal() == "token");
    variables["AWS_SECRET_ACCESS_KEY"] = "s3cr3t\r\nX: y";
    CHECK(find_credentials("", environment).error().message.find("s3cr3t") == std::string::npos);
    variables.clear();
    CHECK(find_credentials("", environment).error().code == Code::invalid);
    CHECK(!find_credentials("/nowhere/credentials", environment).ok());
}

TEST_CASE("keys are an area and plain names") {
    for (const char* key : {"artifacts/ab/abcd", "backups/hone-2026-11-17T17.tar.zst", "check/a_b-c.d=e+f@g"})
        CHECK(check_key(key).ok());
    for (const std::string& key :
         {std::string(""), std::string("artifacts"), std::string("artifacts/"), std::string("/artifacts/a"),
          std::string("hone.db"), std::string("telemetry/a"), std::string("artifacts/../hone.db"),
          std::string("artifacts/./a"), std::string("artifacts//a"), std::string("artifacts/.a"),
          std::string("artifacts/a b"), std::string("artifacts/a\nb"), std::string("artifacts/a\0b", 13),
          std::string("artifacts/a.new"), std::string("artifacts/\xc3\xa9"), "artifacts/" + std::string(201, 'a'),
          std::string("artifacts/a\\b"), std::string("artifacts/a%2e")}) {
        INFO(key);
        CHECK(!check_key(key).ok());
    }
    CHECK(check_prefix("artifacts/").ok());
    CHECK(check_prefix("artifacts/ab").ok());
    for (const char* prefix : {"", "artifacts", "hone", "artifacts/../", "artifacts/.", "/"})
        CHECK(!check_prefix(prefix).ok());
}
