#include "broker/wire/http_head.h"
#include "broker/wire/client_hello.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;

namespace {

std::string host_of(std::string_view text) {
    const auto parsed = parse_host_port(text, 443);
    return parsed.ok() ? parsed.value().text() : "refused";
}

bool takes(std::string_view head) {
    return parse_request_head(head).ok();
}

} // namespace

TEST_CASE("hosts are brought into one spelling") {
    CHECK(host_of("Api.GitHub.COM") == "api.github.com:443");
    CHECK(host_of("api.github.com.") == "api.github.com:443");
    CHECK(host_of("api.github.com:8443") == "api.github.com:8443");
    CHECK(host_of("1.2.3.4:80") == "1.2.3.4:80");
    CHECK(host_of("[2606:4700:0:0::1111]") == "[2606:4700::1111]:443");
    CHECK(parse_host_port("1.2.3.4", 443).value().is_address);
    CHECK_FALSE(parse_host_port("a1.b2", 443).value().is_address);
}

TEST_CASE("hosts that two readers could read differently are refused") {
    for (const std::string_view text :
         {"",           ".",          "a..b",       "a b",        "user@host",     "user:pass@host", "host:0",
          "host:65536", "host:",      "host:+1",    "host:1:2",   "h\xc3\xa9.com", "%61.com",        "a\\b",
          "a/b",        "-a.com",     "a-.com",     "[::1",       "::1",           "[::1%eth0]",     "[1.2.3.4]",
          "[::1]x",     "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001",  "127.1",          "0177.0.0.1",
          "127.0.0.1.", "127.0.0.01", "256.1.1.1",  "1.2.3.4.5",  "example.1",     "a.0x1",          "host name",
          "a,b",        "a;b",        "a?b",        "a#b"}) {
        INFO(text);
        // A trailing dot after an address is taken off like any other: it is the same address.
        if (text == "127.0.0.1.")
            CHECK(host_of(text) == "127.0.0.1:443");
        else
            CHECK(host_of(text) == "refused");
    }
    CHECK(host_of(std::string_view("attacker\0.google.com", 20)) == "refused");
    CHECK(host_of(std::string(64, 'a') + ".com") == "refused");
    std::string longest;
    for (int i = 0; i < 60; ++i) longest += "abcd.";
    CHECK(host_of(longest + "com") == "refused");
    CHECK_FALSE(parse_host_port("api.github.com", 0).ok());
}

TEST_CASE("a request's form follows its method and target") {
    const auto connect = parse_request_head("CONNECT Api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n").value();
    CHECK(connect.form == TargetForm::authority);
    CHECK(connect.target->text() == "api.test:443");
    CHECK(connect.host->port == 0);
    const auto plain = parse_request_head("GET HTTP://a.test:8080?x=1 HTTP/1.1\r\nHost: a.test:8080\r\n\r\n").value();
    CHECK(plain.form == TargetForm::absolute);
    CHECK(plain.target->port == 8080);
    CHECK(plain.path == "/?x=1");
    CHECK(plain.path_without_query() == "/");
    CHECK(plain.host->port == 8080);
    CHECK(parse_request_head("GET /a?b HTTP/1.0\r\n\r\n").value().path_without_query() == "/a");
    CHECK(parse_request_head("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").value().form == TargetForm::asterisk);
    for (const std::string_view line :
         {"CONNECT api.test HTTP/1.1", "CONNECT http://api.test:443 HTTP/1.1", "GET api.test:443 HTTP/1.1",
          "GET * HTTP/1.1", "GET ftp://a/ HTTP/1.1", "GET http:///x HTTP/1.1", "GET http://u@a/ HTTP/1.1",
          "GET / HTTP/2.0", "GET / HTTP/1.1 ", "GET  / HTTP/1.1", "GET /", "G@T / HTTP/1.1", "GET /a#b HTTP/1.1",
          "GET /a\\b HTTP/1.1", "GET /\xc3\xa9 HTTP/1.1", "GET http://a.test\\@b.test/ HTTP/1.1", " GET / HTTP/1.1"}) {
        INFO(line);
        CHECK_FALSE(takes(std::string(line) + "\r\nHost: a\r\n\r\n"));
    }
}

TEST_CASE("framing that could be read in two ways is refused") {
    const std::string start = "POST / HTTP/1.1\r\nHost: a\r\n";
    CHECK(parse_request_head(start + "Content-Length: 5\r\n\r\n").value().framing == Framing::length);
    CHECK(parse_request_head(start + "Transfer-Encoding: Chunked\r\n\r\n").value().framing == Framing::chunked);
    CHECK(parse_request_head(start + "Content-Length: 0\r\n\r\n").value().declared_length == 0);
    for (const std::string_view lines : {"Content-Length: 5\r\nContent-Length: 5\r\n",
                                         "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                                         "Content-Length: +5\r\n",
                                         "Content-Length: 5, 5\r\n",
                                         "Content-Length: 0x5\r\n",
                                         "Content-Length:\r\n",
                                         "Content-Length: 9999999999999999999\r\n",
                                         "Transfer-Encoding: gzip, chunked\r\n",
                                         "Transfer-Encoding: identity\r\n",
                                         "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                                         "Transfer-Encoding : chunked\r\n",
                                         " folded: x\r\n",
                                         "A: b\r\n c\r\n",
                                         "A: b\nB: c\r\n",
                                         "A: b\rB: c\r\n",
                                         "NoColon\r\n",
                                         ": empty\r\n",
                                         "A\tB: c\r\n",
                                         "Host: b\r\n",
                                         "Expect: 200-maybe\r\n"}) {
        INFO(lines);
        CHECK_FALSE(takes(start + std::string(lines) + "\r\n"));
    }
    CHECK_FALSE(takes(start + std::string("A: b\0c\r\n\r\n", 10)));
    CHECK_FALSE(takes("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"));
    CHECK_FALSE(takes("GET / HTTP/1.1\r\n\r\n"));
    CHECK_FALSE(takes("CONNECT a:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"));
    std::string many = start;
    for (int i = 0; i < 300; ++i) many += "A: b\r\n";
    CHECK(parse_request_head(many + "\r\n").error().code == Code::too_large);
}

TEST_CASE("hop headers and what Connection names go, framing and host stay") {
    std::vector<Header> headers{{"Connection", "close, X-Secret, Host, content-length"},
                                {"X-Secret", "1"},
                                {"Host", "a"},
                                {"Content-Length", "3"},
                                {"Proxy-Authorization", "x"},
                                {"TE", "trailers"},
                                {"Accept", "*/*"}};
    remove_hop_headers(headers);
    REQUIRE(headers.size() == 3);
    CHECK(headers[0].name == "Host");
    CHECK(headers[1].name == "Content-Length");
    CHECK(headers[2].name == "Accept");
}

TEST_CASE("responses keep their length headers") {
    const auto head =
        parse_response_head("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n", "HEAD");
    CHECK(head.value().framing == Framing::none);
    CHECK(write_response_head(head.value()) ==
          "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 12\r\n\r\n");
    CHECK(parse_response_head("HTTP/1.1 200\r\n\r\n", "GET").value().framing == Framing::until_close);
    CHECK(parse_response_head("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "GET").value().framing ==
          Framing::none);
    CHECK_FALSE(parse_response_head("HTTP/1.1 2000 OK\r\n\r\n", "GET").ok());
    CHECK_FALSE(parse_response_head("HTTP/1.1 099 OK\r\n\r\n", "GET").ok());
    CHECK_FALSE(parse_response_head("ICY 200 OK\r\n\r\n", "GET").ok());
    CHECK_FALSE(parse_response_head("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "GET").ok());
}

TEST_CASE("bodies are framed in chunks that the decoder can decode") {
    std::string framed;
    frame(Framing::chunked, "hello ", false, framed);
    frame(Framing::chunked, "", false, framed);
    frame(Framing::chunked, std::string(300, 'x'), true, framed);
    net::BodyDecoder decoder(Framing::chunked, 0);
    std::string body;
    CHECK(decoder.feed(framed, body) == framed.size());
    CHECK(decoder.is_done());
    CHECK(body == "hello " + std::string(300, 'x'));
}

namespace {

std::string number(size_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
    return text;
}

std::string counted(const std::string& body, int bytes) {
    return number(body.size(), bytes) + body;
}

std::string make_hello(const std::string& extensions) {
    const std::string hello = "\x03\x03" + std::string(32, 'r') + counted("", 1) + counted("\x13\x01", 2) +
                              counted(std::string(1, '\0'), 1) + counted(extensions, 2);
    return "\x01" + counted(hello, 3);
}

std::string record(const std::string& body) {
    return "\x16\x03\x01" + counted(body, 2);
}

std::string name_extension(const std::string& name) {
    return number(0, 2) + counted(counted(number(0, 1) + counted(name, 2), 2), 2);
}

} // namespace

TEST_CASE("the server name of a TLS client is found, in one record or in many") {
    const std::string message = make_hello(number(10, 2) + counted("abcd", 2) + name_extension("Api.TEST"));
    ClientHello hello;
    REQUIRE(parse_client_hello(record(message), hello) == HelloState::complete);
    CHECK(hello.server_name == "api.test");
    CHECK_FALSE(hello.hides_its_name);
    std::string pieces;
    for (size_t at = 0; at < message.size(); at += 7) pieces += record(message.substr(at, 7));
    for (size_t size = 0; size < pieces.size(); ++size) {
        CHECK(parse_client_hello(std::string_view(pieces).substr(0, size), hello) == HelloState::more);
    }
    REQUIRE(parse_client_hello(pieces, hello) == HelloState::complete);
    CHECK(hello.server_name == "api.test");
}

TEST_CASE("what is no plain TLS hello is refused") {
    ClientHello hello;
    CHECK(parse_client_hello("GET / HTTP/1.1\r\n", hello) == HelloState::bad);
    CHECK(parse_client_hello("SSH-2.0-OpenSSH\r\n", hello) == HelloState::bad);
    const auto state = [&](const std::string& extensions) {
        return parse_client_hello(record(make_hello(extensions)), hello);
    };
    CHECK(state("") == HelloState::complete);
    CHECK(hello.server_name.empty());
    CHECK(state(name_extension("a.test") + name_extension("b.test")) == HelloState::bad);
    CHECK(state(name_extension(std::string("a\0b", 3))) == HelloState::bad);
    CHECK(state(name_extension("")) == HelloState::bad);
    CHECK(state(number(0, 2) + counted("xx", 2)) == HelloState::bad);
    CHECK(state(name_extension("a.test") + number(0xfe0d, 2) + counted("", 2)) == HelloState::complete);
    CHECK(hello.hides_its_name);
    CHECK(parse_client_hello(record(make_hello("") + "x"), hello) == HelloState::bad);
    CHECK(parse_client_hello(record("\x01" + number(1 << 20, 3)), hello) == HelloState::bad);
}
