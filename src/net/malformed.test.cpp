// Malformed requests: each is rejected with the right status, the error envelope and a closed connection.
#include "net/testing/raw_client.h"

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

namespace {

struct Bad {
    std::string what;
    std::string bytes;
    int status;
};

} // namespace

TEST_CASE("malformed and ambiguous requests are refused, each on its own connection") {
    const std::string start = "POST / HTTP/1.1\r\nHost: t\r\n";
    const std::vector<Bad> all = {
        {"no HTTP at all", "\x16\x03\x01\x02\x01 hello\r\n\r\n", 400},
        {"no version", "GET /\r\n\r\n", 400},
        {"another version", "GET / HTTP/2.0\r\nHost: t\r\n\r\n", 505},
        {"a target without slash", "GET foo HTTP/1.1\r\nHost: t\r\n\r\n", 400},
        {"a target with a fragment", "GET /a#b HTTP/1.1\r\nHost: t\r\n\r\n", 400},
        {"CONNECT", "CONNECT host:443 HTTP/1.1\r\nHost: t\r\n\r\n", 400},
        {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
        {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        {"a bare line feed", "GET / HTTP/1.1\nHost: t\n\n", 400},
        {"a bare line feed inside", "GET / HTTP/1.1\r\nHost: t\nX: y\r\n\r\n", 400},
        {"a folded line", start + "X-A: b\r\n c\r\n\r\n", 400},
        {"a blank before the colon", start + "X-A : b\r\n\r\n", 400},
        {"a blank before the first name", "POST / HTTP/1.1\r\n Host: t\r\n\r\n", 400},
        {"no colon", start + "X-A\r\n\r\n", 400},
        {"an empty name", start + ": b\r\n\r\n", 400},
        {"NUL in a value", start + std::string("X-A: a\0b\r\n\r\n", 12), 400},
        {"NUL in a name", start + std::string("X-\0A: b\r\n\r\n", 11), 400},
        {"a bare carriage return in a value", start + "X-A: a\rb\r\n\r\n", 400},
        {"both lengths", start + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"both lengths, the other way", start + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
         400},
        {"two lengths", start + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400},
        {"twice the same length", start + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
        {"a list of lengths", start + "Content-Length: 3, 3\r\n\r\nabc", 400},
        {"a signed length", start + "Content-Length: +3\r\n\r\nabc", 400},
        {"a hexadecimal length", start + "Content-Length: 0x3\r\n\r\nabc", 400},
        {"an empty length", start + "Content-Length: \r\n\r\nabc", 400},
        {"a huge length", start + "Content-Length: 99999999999999999999\r\n\r\nabc", 400},
        {"twice chunked", start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"an unknown encoding", start + "Transfer-Encoding: gzip\r\n\r\n", 501},
        {"chunked not last", start + "Transfer-Encoding: chunked, identity\r\n\r\n", 501},
        {"a disguised chunked",
         start + "Transfer-Encoding: \x0b"
                 "chunked\r\n\r\n0\r\n\r\n",
         400},
        {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"a chunk size that is no number", start + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
        {"a negative chunk size", start + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400},
        {"a chunk size too large", start + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400},
        {"an empty chunk size", start + "Transfer-Encoding: chunked\r\n\r\n\r\n", 400},
        {"a chunk with a bare line feed", start + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n", 400},
        {"a chunk without its end", start + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n", 400},
        {"a chunk line without end", start + "Transfer-Encoding: chunked\r\n\r\n3;" + std::string(5000, 'x'), 400},
        {"trailers without end",
         start + "Transfer-Encoding: chunked\r\n\r\n0\r\n" +
             [] {
                 std::string many;
                 for (int i = 0; i < 200; ++i) many += "T" + std::to_string(i) + ": " + std::string(100, 'x') + "\r\n";
                 return many;
             }(),
         400},
        {"a trailer without a name", start + "Transfer-Encoding: chunked\r\n\r\n0\r\n: x\r\n\r\n", 400},
        {"too many fields",
         start +
             [] {
                 std::string many;
                 for (int i = 0; i < 200; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
                 return many + "\r\n";
             }(),
         431},
        {"one field too large", start + "X-Big: " + std::string(70'000, 'x') + "\r\n\r\n", 431},
        {"a header without end", start + "X-Big: " + std::string(70'000, 'x'), 431},
        {"a target too long", "GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: t\r\n\r\n", 414},
        {"a request line without end", "GET /" + std::string(20'000, 'x'), 414},
        {"a declared body too large", start + "Content-Length: 1001\r\n\r\n", 413},
        {"a chunked body too large",
         start + "Transfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'x') + "\r\n", 413},
    };
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.limits.body_bytes = 1000;
    auto server = start_server(handler, options);
    for (const Bad& bad : all) {
        CAPTURE(bad.what);
        RawClient client(server->addresses()[0]);
        client.send(bad.bytes);
        RawResponse response = client.read_response();
        CHECK(response.status == bad.status);
        CHECK(response.headers["connection"] == "close");
        CHECK(response.headers["content-type"] == "application/json");
        CHECK(response.headers["x-request-id"].starts_with("req_"));
        CHECK(response.body.starts_with("{\"error\":{\"code\":\""));
        client.half_close();
        CHECK(client.is_ended());
    }
    CHECK(server->counts().requests_bad == all.size());
    CHECK(RawClient(server->addresses()[0]).get("/").status == 200);
}

TEST_CASE("odd but lawful requests are served") {
    LambdaHandler handler;
    handler.on_handle = [](Request&& request) {
        return text_response(200, request.path + "|" + request.query + "|" + request.body);
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("\r\nGET / HTTP/1.1\r\nHost:\r\n\r\n");
    CHECK(client.read_response().body == "/||");
    client.send("GET http://elsewhere:80/x?y HTTP/1.1\r\nHost: elsewhere\r\n\r\n");
    CHECK(client.read_response().body == "/x|y|");
    client.send("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(client.read_response().body == "*||");
    client.send("GET /%2e%2e/?a=%00 HTTP/1.1\r\nhOST: t\r\nX-Empty:\r\nX-Utf: \xc3\xa4\r\n\r\n");
    CHECK(client.read_response().body == "/%2e%2e/|a=%00|");
    client.send("PATCH / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: Chunked\r\n\r\n0003;a=\"b\"\r\nabc\r\n0\r\n\r\n");
    CHECK(client.read_response().body == "/||abc");
    client.send("DELETE / HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n");
    CHECK(client.read_response().body == "/||");
}

TEST_CASE("the end of one chunked body is the start of the next request") {
    LambdaHandler handler;
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("POST /1 HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
                "POST /2 HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\nb"
                "GET /3 HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(client.read_response().body == "POST /1 a");
    CHECK(client.read_response().body == "POST /2 b");
    CHECK(client.read_response().body == "GET /3 ");
}

TEST_CASE("slow headers, slow bodies and silence end by their time-outs") {
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.limits.header_timeout = 1s;
    options.limits.body_timeout = 1s;
    options.limits.idle_timeout = 1s; // also the time a new connection has for its first byte
    auto server = start_server(handler, options);
    RawClient header(server->addresses()[0]), body(server->addresses()[0]), silent(server->addresses()[0]),
        idle(server->addresses()[0]);
    header.send("GET / HTTP/1.1\r\nHost:");
    body.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nabc");
    CHECK(idle.get("/").status == 200);
    RawResponse late = header.read_response();
    CHECK(late.status == 408);
    CHECK(late.body.find("\"timeout\"") != std::string::npos);
    CHECK(body.read_response().status == 408);
    CHECK(silent.is_ended());
    CHECK(idle.is_ended());
}

TEST_CASE("a header that drips is cut although bytes keep coming") {
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.limits.header_timeout = 200ms;
    auto server = start_server(handler, options);
    RawClient client(server->addresses()[0]);
    client.send("GET / HTTP/1.1\r\nHost: t\r\n");
    bool cut = false;
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!cut && std::chrono::steady_clock::now() < until) {
        client.send("X-A: b\r\n");
        pollfd poll{client.descriptor(), POLLIN, 0};
        cut = ::poll(&poll, 1, 5) == 1;
    }
    CHECK(cut);
    CHECK(client.read_response().status == 408);
}

TEST_CASE("bodies of all requests together are bounded") {
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.limits.body_memory = 100'000;
    auto server = start_server(handler, options);
    RawClient first(server->addresses()[0]), second(server->addresses()[0]);
    first.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 90000\r\n\r\n" + std::string(80'000, 'x'));
    CHECK(eventually([&] { return server->counts().body_memory == 80'000; }));
    second.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 90000\r\n\r\n" + std::string(80'000, 'x'));
    CHECK(second.read_response().status == 503);
    first.send(std::string(10'000, 'x'));
    CHECK(first.read_response().status == 200);
    CHECK(eventually([&] { return server->counts().body_memory == 0; }));
}
