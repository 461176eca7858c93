#include "broker/wire/http_head.h"

#include "base/status.h"
#include "base/text.h"
#include "net/http/head_parser.h"

#include <algorithm>
#include <charconv>

namespace hone::broker {

namespace {

constexpr size_t max_method = 32;

bool is_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The next line without its CR LF.
std::string_view take_line(std::string_view& rest) {
    const size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
    return line;
}

std::string_view trim_blanks(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

template <class Do>
void each_token(std::string_view list, Do&& act) {
    for (const std::string_view part : split(list, ','))
        if (const auto token = trim_blanks(part); !token.empty()) act(token);
}

// What the header lines say about the message they belong to.
struct Facts {
    std::optional<uint64_t> length;
    bool chunked = false;
    bool close = false;
    bool keep_alive = false;
    bool upgrade = false;
};

Result<uint64_t> parse_length(std::string_view value) {
    uint64_t number = 0;
    if (!is_digits(value) || value.size() > 18) return invalid("Content-Length is not a number");
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
}

Result<> note(Facts& facts, const Header& header) {
    if (equals_ignoring_case(header.name, "content-length")) {
        if (facts.length) return invalid("Content-Length is given twice");
        facts.length = TRY(parse_length(header.value));
    } else if (equals_ignoring_case(header.name, "transfer-encoding")) {
        if (facts.chunked || !equals_ignoring_case(header.value, "chunked"))
            return invalid("this transfer encoding is not supported");
        facts.chunked = true;
    } else if (equals_ignoring_case(header.name, "connection")) {
        each_token(header.value, [&](std::string_view token) {
            facts.close |= equals_ignoring_case(token, "close");
            facts.keep_alive |= equals_ignoring_case(token, "keep-alive");
            facts.upgrade |= equals_ignoring_case(token, "upgrade");
        });
    }
    return {};
}

Result<Facts> parse_headers(std::string_view rest, std::vector<Header>& headers, const HeadLimits& limits) {
    Facts facts;
    for (;;) {
        const std::string_view line = take_line(rest);
        if (line.empty()) break;
        if (headers.size() >= limits.count) return too_large("there are too many header fields");
        const size_t colon = line.find(':');
        if (colon == std::string_view::npos || !net::is_token(line.substr(0, colon)))
            return invalid("a header name contains a character that is not allowed");
        const std::string_view value = trim_blanks(line.substr(colon + 1));
        if (!net::is_field_value(value)) return invalid("a header value contains a control character");
        headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
        TRY(note(facts, headers.back()));
    }
    if (!rest.empty()) return invalid("the head does not end where it should");
    if (facts.length && facts.chunked) return invalid("both Content-Length and Transfer-Encoding are given");
    return facts;
}

Result<> check_path(std::string_view path) {
    for (const char c : path)
        if (c <= 0x20 || c >= 0x7f || c == '#' || c == '\\')
            return invalid("the request target contains a character that is not allowed");
    return {};
}

Result<> take_absolute(std::string_view text, RequestHead& head) {
    const size_t start = text.find("://") + 3;
    const size_t end = std::min(text.find_first_of("/?#", start), text.size());
    head.form = TargetForm::absolute;
    head.target = TRY(parse_host_port(text.substr(start, end - start), head.secure ? 443 : 80));
    const std::string_view path = text.substr(end);
    head.path = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
    return check_path(head.path);
}

Result<> take_target(std::string_view text, RequestHead& head) {
    if (head.method == "CONNECT") {
        head.form = TargetForm::authority;
        head.target = TRY(parse_host_port(text, 0));
        return {};
    }
    if (text == "*") {
        if (head.method != "OPTIONS") return invalid("only OPTIONS may have the target *");
        head.form = TargetForm::asterisk;
        head.path = "*";
        return {};
    }
    if (text.starts_with('/')) {
        head.path = std::string(text);
        return check_path(text);
    }
    const size_t mark = text.find("://");
    const std::string scheme = lowercase_ascii(text.substr(0, mark == std::string_view::npos ? 0 : mark));
    head.secure = scheme == "https";
    if (!head.secure && scheme != "http") return invalid("the request target is malformed");
    return take_absolute(text, head);
}

Result<> take_request_line(std::string_view line, RequestHead& head, const HeadLimits& limits) {
    if (line.size() > limits.line_bytes) return too_large("the request line is too long");
    const size_t first = line.find(' ');
    const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) return invalid("the request line is malformed");
    head.method = std::string(line.substr(0, first));
    const std::string_view version = line.substr(second + 1);
    if (!net::is_token(head.method) || head.method.size() > max_method) return invalid("the method is malformed");
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return invalid("only HTTP/1.1 and HTTP/1.0 are supported");
    head.http_1_0 = version == "HTTP/1.0";
    return take_target(line.substr(first + 1, second - first - 1), head);
}

Result<> take_host(RequestHead& head) {
    for (const Header& header : head.headers) {
        if (!equals_ignoring_case(header.name, "host")) continue;
        if (head.host) return invalid("there are two Host headers");
        const bool has_port = header.value.find(':', header.value.rfind(']') + 1) != std::string::npos;
        // Any default does: it is taken back when the header names no port.
        head.host = TRY(parse_host_port(header.value, 1));
        if (!has_port) head.host->port = 0;
    }
    if (!head.host && !head.http_1_0) return invalid("there is no Host header");
    return {};
}

void take_framing(const Facts& facts, auto& head) {
    head.declared_length = facts.length;
    if (facts.chunked) {
        head.framing = Framing::chunked;
    } else if (facts.length.value_or(0) > 0) {
        head.framing = Framing::length;
        head.length = *facts.length;
    }
}

void write_headers(const auto& head, std::string& out) {
    for (const Header& header : head.headers) {
        if (equals_ignoring_case(header.name, "content-length") ||
            equals_ignoring_case(header.name, "transfer-encoding"))
            continue;
        out.append(header.name).append(": ").append(header.value).append("\r\n");
    }
    switch (head.framing) {
    case Framing::none:
        if (head.declared_length) out += "Content-Length: " + std::to_string(*head.declared_length) + "\r\n";
        break;
    case Framing::length:
        out += "Content-Length: " + std::to_string(head.length) + "\r\n";
        break;
    case Framing::chunked:
        out += "Transfer-Encoding: chunked\r\n";
        break;
    case Framing::until_close:
        break;
    }
    out += "\r\n";
}

// The bytes of the next head, still in the channel's buffer; 0: the peer closed before its first byte.
Result<size_t> await_head(Channel& channel, Deadline deadline, const HeadLimits& limits) {
    net::HeadScanner scanner;
    const net::HeadLimits bounds{limits.bytes, limits.count, limits.line_bytes};
    for (;;) {
        if (!channel.buffer().empty()) {
            const auto outcome = scanner.scan(channel.buffer(), bounds);
            if (outcome == net::HeadScanner::Outcome::complete) return scanner.size();
            if (outcome == net::HeadScanner::Outcome::bad)
                return scanner.error().status == 400 ? invalid(scanner.error().message)
                                                     : too_large(scanner.error().message);
        }
        if (!TRY(channel.fill(deadline))) {
            if (channel.buffer().empty()) return size_t{0};
            return unavailable("the connection ended in the middle of a head");
        }
    }
}

} // namespace

std::string_view RequestHead::path_without_query() const {
    return std::string_view(path).substr(0, path.find('?'));
}

Result<RequestHead> parse_request_head(std::string_view head, const HeadLimits& limits) {
    RequestHead parsed;
    TRY(take_request_line(take_line(head), parsed, limits));
    const Facts facts = TRY(parse_headers(head, parsed.headers, limits));
    if (facts.chunked && parsed.http_1_0) return invalid("HTTP/1.0 has no chunked bodies");
    TRY(take_host(parsed));
    take_framing(facts, parsed);
    if (parsed.method == "CONNECT" && parsed.framing != Framing::none) return invalid("CONNECT has no body");
    parsed.keep_alive = parsed.http_1_0 ? facts.keep_alive && !facts.close : !facts.close;
    if (const std::string_view expectation = header_value(parsed.headers, "expect"); !expectation.empty()) {
        if (!equals_ignoring_case(expectation, "100-continue")) return invalid("this expectation cannot be met");
        parsed.expects_continue = !parsed.http_1_0 && parsed.framing != Framing::none;
    }
    if (facts.upgrade) parsed.upgrade = lowercase_ascii(header_value(parsed.headers, "upgrade"));
    return parsed;
}

Result<ResponseHead> parse_response_head(std::string_view head, std::string_view method, const HeadLimits& limits) {
    ResponseHead parsed;
    const std::string_view line = take_line(head);
    const bool known = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
    const std::string_view status = line.substr(std::min<size_t>(line.size(), 9), 3);
    if (!known || status.size() != 3 || !is_digits(status) || (line.size() > 12 && line[12] != ' '))
        return invalid("the status line is malformed");
    std::from_chars(status.data(), status.data() + 3, parsed.status);
    if (parsed.status < 100 || parsed.status > 599) return invalid("the status is out of range");
    parsed.http_1_0 = line[7] == '0';
    if (line.size() > 13) parsed.reason = std::string(line.substr(13));
    if (!net::is_field_value(parsed.reason)) return invalid("the status line contains a control character");
    const Facts facts = TRY(parse_headers(head, parsed.headers, limits));
    take_framing(facts, parsed);
    const bool bare = method == "HEAD" || parsed.status < 200 || parsed.status == 204 || parsed.status == 304 ||
                      (method == "CONNECT" && parsed.status < 300);
    if (bare)
        parsed.framing = Framing::none;
    else if (parsed.framing == Framing::none && !facts.length)
        parsed.framing = Framing::until_close;
    parsed.keep_alive =
        (parsed.http_1_0 ? facts.keep_alive && !facts.close : !facts.close) && parsed.framing != Framing::until_close;
    return parsed;
}

Result<std::optional<RequestHead>> read_request(Channel& channel, Deadline deadline, const HeadLimits& limits) {
    const size_t size = TRY(await_head(channel, deadline, limits));
    if (size == 0) return std::optional<RequestHead>();
    auto head = TRY(parse_request_head(std::string_view(channel.buffer()).substr(0, size), limits));
    channel.buffer().erase(0, size);
    return std::optional<RequestHead>(std::move(head));
}

Result<std::optional<ResponseHead>> read_response(Channel& channel, std::string_view method, Deadline deadline,
                                                  const HeadLimits& limits) {
    const size_t size = TRY(await_head(channel, deadline, limits));
    if (size == 0) return std::optional<ResponseHead>();
    auto head = TRY(parse_response_head(std::string_view(channel.buffer()).substr(0, size), method, limits));
    channel.buffer().erase(0, size);
    return std::optional<ResponseHead>(std::move(head));
}

void remove_header(std::vector<Header>& headers, std::string_view name) {
    std::erase_if(headers, [&](const Header& header) { return equals_ignoring_case(header.name, name); });
}

void set_header(std::vector<Header>& headers, std::string_view name, std::string value) {
    const auto is_it = [&](const Header& header) { return equals_ignoring_case(header.name, name); };
    const auto first = std::find_if(headers.begin(), headers.end(), is_it);
    if (first == headers.end()) {
        headers.push_back({std::string(name), std::move(value)});
        return;
    }
    first->value = std::move(value);
    headers.erase(std::remove_if(first + 1, headers.end(), is_it), headers.end());
}

void remove_hop_headers(std::vector<Header>& headers) {
    std::vector<std::string> names{
        "connection", "keep-alive", "proxy-authorization", "proxy-authenticate", "te", "proxy-connection",
        "trailer",    "upgrade"};
    for (const Header& header : headers)
        if (equals_ignoring_case(header.name, "connection"))
            each_token(header.value, [&](std::string_view token) {
                // Framing and destination are not a client's to take away.
                if (!equals_ignoring_case(token, "content-length") && !equals_ignoring_case(token, "host") &&
                    !equals_ignoring_case(token, "transfer-encoding"))
                    names.emplace_back(token);
            });
    for (const std::string& name : names) remove_header(headers, name);
}

std::string write_request_head(const RequestHead& head, std::string_view target) {
    std::string out;
    out.reserve(1024);
    out.append(head.method).append(" ").append(target).append(" HTTP/1.1\r\n");
    write_headers(head, out);
    return out;
}

std::string write_response_head(const ResponseHead& head) {
    std::string out;
    out.reserve(1024);
    out.append("HTTP/1.1 ").append(std::to_string(head.status)).append(" ").append(head.reason).append("\r\n");
    write_headers(head, out);
    return out;
}

std::string chunk_start(size_t bytes) {
    char size[20];
    const auto end = std::to_chars(size, size + sizeof size, bytes, 16).ptr;
    return std::string(size, end) + "\r\n";
}

void frame(Framing framing, std::string_view piece, bool last, std::string& out) {
    if (framing != Framing::chunked) {
        out += piece;
        return;
    }
    if (!piece.empty()) {
        out.append(chunk_start(piece.size())).append(piece).append("\r\n");
    }
    if (last) out += last_chunk;
}

std::string refusal(int status, std::string_view code, std::string_view message) {
    const std::string body =
        "{\"error\":{\"code\":" + quote_json(code) + ",\"message\":" + quote_json(message) + "}}\n";
    return "HTTP/1.1 " + std::to_string(status) + " " + std::string(net::reason_phrase(status)) +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nX-Hone-Broker: refused\r\nConnection: close\r\n\r\n" + body;
}

int status_of(const Error& error, Part part) {
    const bool is_large_body = part == Part::body && error.code == Code::too_large;
    return is_large_body ? http_status(error.code) : proxy_status(error.code);
}

} // namespace hone::broker
