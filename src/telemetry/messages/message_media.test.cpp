#include "telemetry/messages/message_media.h"

#include "telemetry/messages/message_json.h"

#include <doctest/doctest.h>
#include <string>

using namespace hone::telemetry;

namespace {

// "kind mime source" of the part.
std::string media(const std::string& json, std::string_view kind = {}) {
    simdjson::dom::parser parser;
    simdjson::dom::object part;
    REQUIRE(parser.parse(json).get(part) == simdjson::SUCCESS);
    const MessageMedia found = read_media(part, kind);
    return found.kind + " " + found.mime + " " + found.source;
}

constexpr const char* data = "iVBORw0KGgoAAAANSUhEUg==";

} // namespace

TEST_CASE("media of every framework's parts become an address that a browser can show") {
    const std::string png = "data:image/png;base64," + std::string(data);
    CHECK(media(R"({"type":"image_url","image_url":{"url":"https://example.com/a.png"}})", "image") ==
          "image image/png https://example.com/a.png");
    CHECK(media(R"({"type":"input_image","image_url":")" + png + "\"}", "image") == "image image/png " + png);
    CHECK(media(R"({"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":")" + std::string(data) +
                    "\"}}",
                "image") == "image image/jpeg data:image/jpeg;base64," + std::string(data));
    CHECK(media(R"({"type":"input_audio","input_audio":{"data":")" + std::string(data) + R"(","format":"mp3"}})",
                "audio") == "audio audio/mp3 data:audio/mp3;base64," + std::string(data));
    CHECK(media(R"({"mime_type":"image/png","data":")" + std::string(data) + "\"}") == "image image/png " + png);
    CHECK(media(R"({"fileUri":"https://example.com/a.pdf","mimeType":"application/pdf"})") ==
          "file application/pdf https://example.com/a.pdf");
    CHECK(media(R"({"url":")" + png + R"(","contentType":"image/png"})") == "image image/png " + png);
    CHECK(media(R"({"type":"image","image":")" + std::string(data) + R"(","mediaType":"image/png"})", "image") ==
          "image image/png " + png);
    CHECK(media(R"({"type":"blob","modality":"image","mime_type":"image/png","content":")" + std::string(data) + "\"}",
                "file") == "image image/png " + png);
    CHECK(media(R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}})",
                "file") == "file application/pdf data:application/pdf;base64,AAAA");
}

TEST_CASE("a reply as sound has its words and its data, which are beside the content") {
    const auto messages = read_messages(R"([{"role":"assistant","content":null,"audio":{"id":"audio_1","data":")" +
                                            std::string(data) + R"(","transcript":"Good day."}}])",
                                        "assistant");
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].content == "Good day.\n[audio]");
    REQUIRE(messages[0].media.size() == 1);
    CHECK(messages[0].media[0].kind == "audio");
    CHECK(messages[0].media[0].source == "data:audio/wav;base64," + std::string(data));
}

TEST_CASE("a part without its data has no address, and other schemes are no address") {
    CHECK(media(R"({"type":"image"})", "image") == "image  ");
    CHECK(media(R"({"type":"image","image":"[redacted]"})", "image") == "image image/png ");
    CHECK(media(R"x({"type":"image_url","image_url":{"url":"javascript:alert(1)"}})x", "image") == "image image/png ");
    CHECK(media(R"({"type":"file","file":{"file_id":"file-17"}})", "file") == "file  ");
    CHECK(media(R"({"url":"file:///etc/passwd"})") == "file application/octet-stream ");
    CHECK(media(R"({"type":"image","image":")" + std::string(9 << 20, 'A') + "\"}", "image") == "image image/png ");
    std::string nested = R"({"type":"image"})";
    for (int i = 0; i < 100; ++i) nested = R"({"source":)" + nested + "}";
    CHECK(media(nested, "image") == "image  ");
}
