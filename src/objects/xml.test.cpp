#include "objects/xml.h"

#include "objects/s3_responses.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::objects;

TEST_CASE("elements, text, attributes, prefixes and entities are read") {
    const auto root = parse_xml("\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                "<s3:List xmlns:s3='http://s3.amazonaws.com/doc/'>\n <Key a=\"1\" >a&amp;b&#65;&#x42;"
                                "&lt;\xc3\xa9</Key>\n <Empty/>\n <None></None>\n</s3:List >\n");
    REQUIRE(root.ok());
    CHECK(root.value().name == "List");
    CHECK(root.value().text.empty());
    CHECK(root.value().children.size() == 3);
    CHECK(root.value().text_of("Key") == "a&bAB<\xc3\xa9");
    CHECK(root.value().text_of("Empty").empty());
    CHECK(root.value().find("Other") == nullptr);
    CHECK(parse_xml("<a>" + escape_xml("<&>\"'") + "</a>").value().text == "<&>\"'");
}

TEST_CASE("whatever is not plain XML is refused") {
    std::string deep, wide = "<a>";
    for (int i = 0; i < 9; ++i) deep += "<a>";
    for (int i = 0; i < 9; ++i) deep += "</a>";
    for (int i = 0; i < 50'000; ++i) wide += "<b/>";
    for (const std::string& text : {
             std::string(""),
             std::string("text"),
             std::string("<a>"),
             std::string("<a></b>"),
             std::string("<a"),
             std::string("<a></a><b></b>"),
             std::string("<a></a>text"),
             std::string("<a>x<b></b></a>"),
             std::string("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>"),
             std::string("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a></a>"),
             std::string("<a>&x;</a>"),
             std::string("<a><![CDATA[x]]></a>"),
             std::string("<a><!-- x --></a>"),
             std::string("<a><?php x ?></a>"),
             std::string("<?xml version='1.0' <a></a> ?><a></a>"),
             std::string("<a>&#0;</a>"),
             std::string("<a>&#xd800;</a>"),
             std::string("<a>&#99999999;</a>"),
             std::string("<a>&#x;</a>"),
             std::string("<a>&amp</a>"),
             std::string("<a b></a>"),
             std::string("<a b=c></a>"),
             std::string("<a b='<'></a>"),
             std::string("<a b='1'c='2'></a>"),
             std::string("<a>\x01</a>"),
             std::string("<a>\xff</a>"),
             std::string("<a>\0</a>", 8),
             "<" + std::string(100, 'a') + "/>",
             deep,
             wide + "</a>",
         }) {
        INFO(text.substr(0, 80));
        const auto root = parse_xml(text);
        REQUIRE(!root.ok());
        CHECK(root.error().message.starts_with("malformed XML"));
    }
}

TEST_CASE("lists of objects and uploads are read, or refused when something is missing") {
    const auto page = read_listing(
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>"
        "<Contents><Key>a</Key><Size>3</Size><LastModified>2026-11-17T17:06:50.000Z</LastModified></Contents>"
        "</ListBucketResult>");
    REQUIRE(page.ok());
    CHECK(page.value().next == "more");
    CHECK(page.value().objects.front().bytes == 3);
    for (const char* body :
         {"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
          "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size><LastModified>2026-11-17T17:06:50Z</LastModified>"
          "</Contents></ListBucketResult>",
          "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><LastModified>now</LastModified></Contents>"
          "</ListBucketResult>",
          "<html></html>", ""})
        CHECK(!read_listing(body).ok());
    CHECK(read_upload_id("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
              .value() == "u");
    CHECK(!read_upload_id("<InitiateMultipartUploadResult/>").ok());
    CHECK(read_uploads("<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>u</UploadId><Initiated>"
                       "2026-11-17T17:06:50Z</Initiated></Upload></ListMultipartUploadsResult>")
              .value()
              .uploads.size() == 1);
    CHECK(!read_uploads("<ListMultipartUploadsResult><Upload><Key>k</Key></Upload></ListMultipartUploadsResult>").ok());
    CHECK(read_error("not XML").code.empty());
}
