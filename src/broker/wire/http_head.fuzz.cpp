// Any bytes as a request head, a response head, a host and a ClientHello: no crash, and what is taken has one reading.
#include "broker/wire/http_head.h"
#include "broker/egress/policy.h"
#include "broker/wire/client_hello.h"

#include <cstdint>
#include <string_view>

using namespace hone::broker;

namespace {

void require(bool condition) {
    if (!condition) __builtin_trap();
}

void check_request(std::string_view bytes) {
    const auto parsed = parse_request_head(bytes);
    if (!parsed.ok()) return;
    const RequestHead& head = parsed.value();
    if (head.form == TargetForm::authority) return;
    // What we write, we read again as the same thing.
    const std::string written = write_request_head(head, head.path);
    const auto again = parse_request_head(written);
    require(head.http_1_0 || again.ok());
    if (!again.ok()) return;
    require(again.value().path == head.path && again.value().framing == head.framing);
    require(again.value().length == head.length && again.value().headers.size() <= head.headers.size() + 1);
    for (const Header& header : head.headers) require(header.value.find_first_of("\r\n") == std::string::npos);
    if (head.target) {
        const auto same = parse_host_port(head.target->text(), 0);
        require(same.ok() && same.value() == *head.target);
    }
    (void)is_ambiguous_path(head.path);
}

void check_response(std::string_view bytes) {
    const auto parsed = parse_response_head(bytes, "GET");
    if (!parsed.ok()) return;
    const auto again = parse_response_head(write_response_head(parsed.value()), "GET");
    require(again.ok() && again.value().status == parsed.value().status);
    require(again.value().framing == parsed.value().framing && again.value().length == parsed.value().length);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        check_request(bytes);
        break;
    case 1:
        check_response(bytes);
        break;
    case 2:
        if (const auto host = parse_host_port(bytes, 443); host.ok()) {
            const auto again = parse_host_port(host.value().text(), 0);
            require(again.ok() && again.value() == host.value());
        }
        break;
    default: {
        ClientHello hello;
        if (parse_client_hello(bytes, hello) != HelloState::complete) break;
        // Its beginnings were not refused while it arrived.
        require(parse_client_hello(bytes.substr(0, bytes.size() / 2), hello) != HelloState::bad);
    }
    }
    return 0;
}
