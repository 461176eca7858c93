// The way from a directory through tools/embed.py into the program and out of a socket.
#include "base/file.h"
#include "net/http/compress.h"
#include "net/static_files.h"
#include "net/testing/raw_client.h"

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

std::span<const StaticFile> embedded_test_site();

TEST_CASE("files embedded at build time come out of the server as they went in") {
    const StaticFiles site = StaticFiles::embedded(embedded_test_site());
    LambdaHandler handler;
    handler.on_plan = [&](const RequestHead& head) {
        Plan plan;
        plan.response = site.serve(head).value_or(error_response(not_found("page")));
        return plan;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    const std::string page = read_file(HONE_SOURCE_DIR "/src/net/testing/site/index.html").value();
    RawResponse plain = client.get("/");
    CHECK(plain.body == page);
    CHECK(plain.headers["content-type"] == "text/html; charset=utf-8");
    RawResponse gzipped = client.get("/some/route", "Accept-Encoding: gzip\r\n");
    CHECK(gzipped.headers["content-encoding"] == "gzip");
    CHECK(gunzip(gzipped.body, 1 << 20).value() == page);
    RawResponse brotlied = client.get("/", "Accept-Encoding: gzip, br\r\n");
    CHECK(brotlied.headers["content-encoding"] == "br");
    CHECK(brotlied.body.size() < page.size());
    CHECK(client.get("/", "If-None-Match: " + plain.headers["etag"] + "\r\n").status == 304);
    RawResponse script = client.get("/app-0a1b2c3d.js");
    CHECK(script.headers["cache-control"].find("immutable") != std::string::npos);
    CHECK(script.body == "console.log(\"hello\");\n");
    CHECK(client.get("/none.js").status == 404);
}
