#include "net/trusted_proxies.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::net;

namespace {

RequestHead request_from(const std::string& peer, std::vector<Header> headers) {
    RequestHead head;
    head.peer = peer;
    head.headers = std::move(headers);
    return head;
}

std::string client_of(const TrustedProxies& proxies, const std::string& peer, std::vector<Header> headers) {
    RequestHead head = request_from(peer, std::move(headers));
    proxies.apply(head);
    return head.peer + (head.tls ? " tls" : "");
}

} // namespace

TEST_CASE("headers of addresses that are not trusted are ignored") {
    const auto proxies = TrustedProxies::parse("10.0.0.0/8, ::1", ProxyHeader::x_forwarded).value();
    const std::vector<Header> spoofed{{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "https"}};
    CHECK(client_of(proxies, "198.51.100.7", spoofed) == "198.51.100.7");
    CHECK(client_of(TrustedProxies(), "127.0.0.1", spoofed) == "127.0.0.1");
    CHECK(client_of(proxies, "10.1.2.3", spoofed) == "192.0.2.1 tls");
    CHECK(client_of(proxies, "::ffff:10.1.2.3", spoofed) == "192.0.2.1 tls");
    CHECK(client_of(proxies, "::1", spoofed) == "192.0.2.1 tls");
}

TEST_CASE("a client cannot choose its address by sending the header itself") {
    const auto proxies = TrustedProxies::parse("10.0.0.0/8", ProxyHeader::x_forwarded).value();
    // The proxy appends the address that it saw; what stands before it came from the client.
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, 203.0.113.9"}}) == "203.0.113.9");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1"}, {"x-forwarded-for", "203.0.113.9"}}) ==
          "203.0.113.9");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, 203.0.113.9, 10.0.0.2"}}) == "203.0.113.9");
    // The other header passes through a proxy that does not know it.
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "203.0.113.9"}, {"Forwarded", "for=192.0.2.1"}}) ==
          "203.0.113.9");
    CHECK(client_of(proxies, "10.0.0.1", {{"Forwarded", "for=192.0.2.1;proto=https"}}) == "10.0.0.1");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, unknown"}}) == "10.0.0.1");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", ""}}) == "10.0.0.1");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", ",,,"}}) == "10.0.0.1");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "203.0.113.9"}, {"X-Forwarded-Proto", "https, http"}}) ==
          "203.0.113.9");
}

TEST_CASE("Forwarded is read in all its forms") {
    const auto proxies = TrustedProxies::parse("10.0.0.0/8,fd00::/8", ProxyHeader::forwarded).value();
    const auto of = [&](const std::string& value) { return client_of(proxies, "10.0.0.1", {{"Forwarded", value}}); };
    CHECK(of("for=192.0.2.60;proto=https;by=203.0.113.43") == "192.0.2.60 tls");
    CHECK(of("For=\"[2001:db8:cafe::17]:4711\"") == "2001:db8:cafe::17");
    CHECK(of("for=192.0.2.43, for=198.51.100.17") == "198.51.100.17");
    CHECK(of("for=\"192.0.2.43:80\"; Proto=HTTPS, for=\"[fd00::1]\"") == "192.0.2.43");
    CHECK(of("for=_hidden") == "10.0.0.1");
    CHECK(of("proto=https") == "10.0.0.1 tls");
    CHECK(of(";;=,;") == "10.0.0.1");
    CHECK(client_of(proxies, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1"}}) == "10.0.0.1");
}

TEST_CASE("ranges are parsed strictly") {
    for (const char* bad : {"example.com", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "fd00::/129", "10.0.0.0/", ",",
                            "10.0.0.1 10.0.0.2", "*"})
        CHECK_FALSE(TrustedProxies::parse(bad, ProxyHeader::x_forwarded).ok());
    const auto odd = TrustedProxies::parse("192.0.2.128/25", ProxyHeader::x_forwarded).value();
    CHECK(odd.contains("192.0.2.128"));
    CHECK(odd.contains("192.0.2.255"));
    CHECK_FALSE(odd.contains("192.0.2.127"));
    CHECK_FALSE(odd.contains("nonsense"));
    CHECK(TrustedProxies::parse("0.0.0.0/0", ProxyHeader::x_forwarded).value().contains("203.0.113.1"));
    CHECK_FALSE(TrustedProxies::parse("0.0.0.0/0", ProxyHeader::x_forwarded).value().contains("2001:db8::1"));
}
