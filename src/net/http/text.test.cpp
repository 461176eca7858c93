// The pure parts: URLs, queries, cookies, events, compression, static files.
#include "base/file.h"
#include "net/http/body_decoder.h"
#include "net/http/compress.h"
#include "net/http/http.h"
#include "net/http/sse.h"
#include "net/http/url.h"
#include "net/static_files.h"
#include "net/testing/raw_client.h"

#include <brotli/decode.h>
#include <filesystem>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

namespace {

std::string unbrotli(std::string_view bytes) {
    std::string out(10 << 20, '\0');
    size_t size = out.size();
    REQUIRE(BrotliDecoderDecompress(bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()), &size,
                                    reinterpret_cast<uint8_t*>(out.data())) == BROTLI_DECODER_RESULT_SUCCESS);
    out.resize(size);
    return out;
}

RequestHead request_for(std::string path, std::vector<Header> headers = {}) {
    RequestHead head;
    head.method = "GET";
    head.path = std::move(path);
    head.headers = std::move(headers);
    return head;
}

} // namespace

TEST_CASE("queries are decoded in order, bad ones are errors") {
    const QueryPairs pairs = parse_query("a=1&b=x+y%21&&flag&a=%C3%A4&=v").value();
    CHECK(pairs == QueryPairs{{"a", "1"}, {"b", "x y!"}, {"flag", ""}, {"a", "ä"}, {"", "v"}});
    CHECK(parse_query("").value().empty());
    for (const char* bad : {"a=%", "a=%4", "a=%zz", "a=%00", "%00=a", "a=%ff", "a=%C3"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_query(bad).ok());
    }
    std::string many;
    for (int i = 0; i < 300; ++i) many += "a&";
    CHECK_FALSE(parse_query(many).ok());
}

TEST_CASE("paths are split into decoded segments, tricks are errors") {
    CHECK(split_path("/").value().empty());
    CHECK(split_path("/v1/team%2Fapp/a%5cb").value() == std::vector<std::string>{"v1", "team/app", "a\\b"});
    CHECK(split_path("/v1/my%20app/%C3%A4+b").value() == std::vector<std::string>{"v1", "my app", "ä+b"});
    for (const char* bad : {"", "a", "//", "/a//b", "/a/", "/../a", "/a/..", "/./a", "/%2e%2e/a", "/%2E/a", "/..%2fb",
                            "/a%2F..", "/a%5c.%5cb", "/a%2f..%5cb", "/a%00", "/%ff", "/%", "*"}) {
        CAPTURE(bad);
        CHECK_FALSE(split_path(bad).ok());
    }
}

TEST_CASE("URLs are parsed") {
    const Url url = parse_url("https://user:p%40@Example.ORG:8443/a/b?c=d#e").value();
    CHECK(url.tls);
    CHECK(url.host == "example.org");
    CHECK(url.port == 8443);
    CHECK(url.user_info == "user:p@");
    CHECK(url.target == "/a/b?c=d");
    CHECK(url.origin() == "https://example.org:8443");
    CHECK(parse_url("http://[::1]?q").value().host_header() == "[::1]");
    CHECK(parse_url("http://[::1]?q").value().target == "/?q");
    CHECK(parse_url("http://a:80").value().host_header() == "a");
    const Url unix_url = parse_url("unix:/run/x.sock:/v1/y").value();
    CHECK(unix_url.unix_path == "/run/x.sock");
    CHECK(unix_url.target == "/v1/y");
    for (const char* bad : {"http://a:0/", "http://::1/", "http://[::1", "http://a:b/", "http:///x",
                            "unix:", "http://a\nb/", "gopher://a"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_url(bad).ok());
    }
    const Url base = parse_url("http://a/b/c?d").value();
    CHECK(resolve_url(base, "/x").value().target == "/x");
    CHECK(resolve_url(base, "x?y").value().target == "/b/x?y");
    CHECK(resolve_url(base, "?z").value().target == "/b/c?z");
    CHECK(resolve_url(base, "//other/x").value().host == "other");
    CHECK(resolve_url(base, "https://o:1/").value().origin() == "https://o:1");
    CHECK_FALSE(resolve_url(base, "/a\r\nb").ok());
}

TEST_CASE("cookies are found among others") {
    CHECK(find_cookie("a=1; session=abc; b=2", "session") == "abc");
    CHECK(find_cookie("session=\"quoted\"", "session") == "quoted");
    CHECK(find_cookie("xsession=1;session=2", "session") == "2");
    CHECK(find_cookie("session", "session").empty());
    CHECK(find_cookie(";;=;session==x=", "session") == "=x=");
    CHECK(find_cookie("", "session").empty());
}

TEST_CASE("an event that is written is read again, however it is cut") {
    const std::string stream = "\xEF\xBB\xBF: hello\r\nretry: 1500\n\n" +
                               format_event("step", "7", "one\ntwo\r\nthree") + format_event("", "", "") +
                               "id: 8\rdata:x\r\rdata\n\nevent: lost\n\nunknown: 1\ndata:  y\n\ndata: unfinished";
    for (size_t step = 1; step <= stream.size(); ++step) {
        EventParser parser;
        std::vector<ServerEvent> events;
        for (size_t at = 0; at < stream.size(); at += step)
            REQUIRE(parser
                        .feed(std::string_view(stream).substr(at, step),
                              [&](ServerEvent&& event) -> Result<> {
                                  events.push_back(std::move(event));
                                  return {};
                              })
                        .ok());
        REQUIRE(events.size() == 5);
        CHECK(events[0].event == "step");
        CHECK(events[0].data == "one\ntwo\nthree");
        CHECK(events[0].id == "7");
        CHECK(events[1].data.empty());
        CHECK(events[2].data == "x");
        CHECK(events[2].id == "8");
        CHECK(events[3].event == "message");
        CHECK(events[4].data == " y");
        CHECK(parser.retry_ms() == 1500);
    }
    CHECK(format_event("a\nb", "1\r2", "x") == "id: 12\nevent: ab\ndata: x\n\n");
}

TEST_CASE("an endless event is an error") {
    EventParser parser(1000);
    const auto ignore = [](ServerEvent&&) -> Result<> { return {}; };
    CHECK(parser.feed("data: " + std::string(900, 'x') + "\n", ignore).ok());
    CHECK(parser.feed("data: " + std::string(200, 'x'), ignore).error().code == Code::too_large);
    CHECK_FALSE(parser.feed("\n\n", ignore).ok());
}

TEST_CASE("chunked bodies are decoded the same however they are cut") {
    const std::string wire = "4;x=y\r\nWiki\r\n5 \r\npedia\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\nNEXT";
    for (size_t step = 1; step <= wire.size(); ++step) {
        BodyDecoder decoder(Framing::chunked, 0);
        std::string out;
        size_t used = 0;
        while (!decoder.is_done()) {
            REQUIRE_FALSE(decoder.is_failed());
            used += decoder.feed(std::string_view(wire).substr(used, step), out);
        }
        CHECK(out == "Wikipedia0123456789");
        CHECK(wire.substr(used) == "NEXT");
    }
}

TEST_CASE("Accept-Encoding is read with its weights") {
    const auto read = [](std::string_view header) {
        const Acceptable acceptable = parse_accept_encoding(header);
        return std::string(acceptable.gzip ? "g" : "") + (acceptable.brotli ? "b" : "");
    };
    CHECK(read("") == "");
    CHECK(read("gzip, deflate, br") == "gb");
    CHECK(read("GZIP;q=0.5") == "g");
    CHECK(read("gzip;q=0, br;q=0.000") == "");
    CHECK(read("*") == "gb");
    CHECK(read("*;q=0.1, gzip;q=0") == "b");
    CHECK(read("identity") == "");
}

TEST_CASE("large compressible bodies are compressed for those who accept it") {
    LambdaHandler handler;
    const std::string text(50'000, 'a');
    handler.on_handle = [&](Request&& request) {
        Response response = json_response(200, request.path == "/small" ? "tiny" : text);
        if (request.path == "/binary") response.content_type = "application/octet-stream";
        if (request.path == "/etag") response.set_header("ETag", "\"x\"");
        return response;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    RawResponse brotlied = client.get("/", "Accept-Encoding: gzip, br\r\n");
    CHECK(brotlied.headers["content-encoding"] == "br");
    CHECK(brotlied.headers["vary"] == "Accept-Encoding");
    CHECK(unbrotli(brotlied.body) == text);
    RawResponse gzipped = client.get("/etag", "Accept-Encoding: gzip\r\n");
    CHECK(gzipped.headers["content-encoding"] == "gzip");
    CHECK(gzipped.headers["etag"] == "W/\"x\"");
    CHECK(gunzip(gzipped.body, 1 << 20).value() == text);
    RawResponse plain = client.get("/");
    CHECK_FALSE(plain.headers.contains("content-encoding"));
    CHECK(plain.headers["vary"] == "Accept-Encoding");
    CHECK(plain.body == text);
    CHECK_FALSE(client.get("/binary", "Accept-Encoding: br\r\n").headers.contains("content-encoding"));
    CHECK_FALSE(client.get("/small", "Accept-Encoding: br\r\n").headers.contains("content-encoding"));
}

TEST_CASE("gunzip is bounded and refuses damage") {
    const std::string bomb = gzip(std::string(10 << 20, '\0'));
    CHECK(bomb.size() < 20'000);
    CHECK(gunzip(bomb, 1 << 20).error().code == Code::too_large);
    CHECK(gunzip(bomb, 10 << 20).value().size() == 10 << 20);
    CHECK_FALSE(gunzip(bomb.substr(0, 100), 100 << 20).ok());
    CHECK_FALSE(gunzip("not gzip", 100).ok());
    CHECK_FALSE(gunzip("", 100).ok());
    CHECK(gunzip(gzip("a") + gzip("b"), 100).value() == "ab");
}

TEST_CASE("embedded files are served with the right form, tag and cache time") {
    const std::string page = "<html>" + std::string(2000, ' ');
    const std::string page_gzip = gzip(page), page_brotli = brotli(page);
    const std::array<StaticFile, 3> files{{
        {"/app-1a2b3c4d.js", "text/javascript; charset=utf-8", "code", "", "", "\"j\"", true},
        {"/index.html", "text/html; charset=utf-8", "", page_gzip, page_brotli, "\"p\"", false},
        {"/logo.png", "image/png", "PNG", "", "", "\"l\"", false},
    }};
    const StaticFiles served = StaticFiles::embedded(files);
    auto index = served.serve(request_for("/", {{"Accept-Encoding", "br"}}));
    REQUIRE(index);
    CHECK(index->borrowed_body == page_brotli);
    CHECK(index->header("Content-Encoding") == "br");
    CHECK(index->header("Cache-Control") == "no-cache");
    CHECK(index->header("Vary") == "Accept-Encoding");
    CHECK(served.serve(request_for("/", {{"Accept-Encoding", "gzip"}}))->borrowed_body == page_gzip);
    CHECK(served.serve(request_for("/"))->body == page);
    CHECK(served.serve(request_for("/app-1a2b3c4d.js"))->header("Cache-Control").find("immutable") !=
          std::string_view::npos);
    CHECK(served.serve(request_for("/index.html", {{"If-None-Match", "\"x\", W/\"p\""}}))->status == 304);
    CHECK(served.serve(request_for("/projects/prj_1/traces"))->content_type.starts_with("text/html"));
    CHECK_FALSE(served.serve(request_for("/missing.js")));
    CHECK_FALSE(served.serve(request_for("/../index.html")));
    CHECK_FALSE(served.serve(request_for("//")));
    RequestHead post = request_for("/");
    post.method = "POST";
    CHECK_FALSE(served.serve(post));
}

TEST_CASE("a directory is served while developing, and nothing outside it") {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-static-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    REQUIRE(make_directories(pattern + "/root/sub").ok());
    REQUIRE(write_file(pattern + "/secret.txt", "secret").ok());
    REQUIRE(write_file(pattern + "/root/index.html", "home").ok());
    REQUIRE(write_file(pattern + "/root/sub/a b.css", "style").ok());
    REQUIRE(write_file(pattern + "/root/.hidden", "hidden").ok());
    const StaticFiles served = StaticFiles::directory(pattern + "/root");
    CHECK(served.reads_disk());
    auto home = served.serve(request_for("/"));
    REQUIRE(home);
    CHECK(home->body == "home");
    CHECK(served.serve(request_for("/", {{"If-None-Match", std::string(home->header("ETag"))}}))->status == 304);
    CHECK(served.serve(request_for("/sub/a%20b.css"))->content_type.starts_with("text/css"));
    CHECK(served.serve(request_for("/sub"))->body == "home"); // a route, not a listing
    // Names in the addresses of pages have dots and slashes.
    CHECK(served.serve(request_for("/s/default/projects/shop.example"))->body == "home");
    CHECK(served.serve(request_for("/s/default/projects/team%2Fapp.js"))->body == "home");
    CHECK_FALSE(served.serve(request_for("/missing.js")));
    for (const char* bad : {"/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/sub/../../secret.txt",
                            "//etc/passwd", "/.hidden", "/sub%00.css", "/sub\\..\\x"}) {
        CAPTURE(bad);
        const auto response = served.serve(request_for(bad));
        CHECK((!response || response->body == "home"));
        if (response) CHECK(response->body != "secret");
    }
    std::filesystem::remove_all(pattern);
}

TEST_CASE("security headers are added once") {
    Response response = json_response(200, "{}");
    response.set_header("X-Frame-Options", "SAMEORIGIN");
    add_security_headers(response, api_content_security_policy);
    CHECK(response.header("X-Frame-Options") == "SAMEORIGIN");
    CHECK(response.header("Content-Security-Policy") == api_content_security_policy);
    CHECK(response.header("X-Content-Type-Options") == "nosniff");
}
