#include "net/http/head_parser.h"

#include "base/text.h"

#include <boost/beast/http/basic_parser.hpp>

#include <charconv>
#include <cstring>
#include <optional>

namespace hone::net {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

std::string_view view(Text text) {
    return {text.data(), text.size()};
}

// Collects the fields of either kind of message and the facts about its framing.
struct Fields {
    std::vector<Header> headers;
    unsigned lengths = 0;
    unsigned transfer_encodings = 0;
    unsigned hosts = 0;
    std::optional<uint64_t> length;
    bool chunked = false;
    std::string_view problem; // empty: none

    void add(http::field field, std::string_view name, std::string_view value) {
        if (!is_token(name)) problem = "a header name contains a character that is not allowed";
        if (!is_field_value(value)) problem = "a header value contains a control character";
        if (field == http::field::content_length) add_length(value);
        if (field == http::field::transfer_encoding) {
            ++transfer_encodings;
            chunked = equals_ignoring_case(value, "chunked");
        }
        if (field == http::field::host) ++hosts;
        headers.push_back({std::string(name), std::string(value)});
    }
    void add_length(std::string_view value) {
        ++lengths;
        uint64_t number = 0;
        const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (value.empty() || value.size() > 18 || failed != std::errc() || end != value.data() + value.size())
            problem = "Content-Length is not a number";
        else
            length = number;
    }
    std::string_view framing_problem() const {
        if (!problem.empty()) return problem;
        if (lengths > 1) return "Content-Length is given twice";
        if (lengths > 0 && transfer_encodings > 0) return "both Content-Length and Transfer-Encoding are given";
        if (transfer_encodings > 1) return "Transfer-Encoding is given twice";
        return {};
    }
};

// Beast calls these while it parses; only heads are given to it, so the body's functions have nothing to do.
template <bool is_request>
class Collector final : public http::basic_parser<is_request> {
public:
    Fields fields;
    std::string method;
    std::string target;
    int version = 0;
    int status = 0;

private:
    void on_request_impl(http::verb, Text method_text, Text target_text, int version_number, error_code&) override {
        method = std::string(view(method_text));
        target = std::string(view(target_text));
        version = version_number;
    }
    void on_response_impl(int code, Text, int version_number, error_code&) override {
        status = code;
        version = version_number;
    }
    void on_field_impl(http::field field, Text name, Text value, error_code&) override {
        fields.add(field, view(name), view(value));
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(Text body, error_code&) override { return body.size(); }
    void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code&) override { return body.size(); }
    void on_finish_impl(error_code&) override {}
};

template <bool is_request>
std::optional<HeadError> run(Collector<is_request>& collector, std::string_view head) {
    collector.header_limit(static_cast<uint32_t>(head.size() + 1));
    collector.body_limit(boost::none);
    error_code failed;
    const size_t used = collector.put(boost::asio::const_buffer(head.data(), head.size()), failed);
    if (failed == http::error::bad_version) return HeadError{505, "only HTTP/1.1 and HTTP/1.0 are supported"};
    if (failed) return HeadError{400, "the message header is malformed: " + failed.message()};
    if (!collector.is_header_done() || used != head.size()) return HeadError{400, "the message header is malformed"};
    if (const std::string_view problem = collector.fields.framing_problem(); !problem.empty())
        return HeadError{400, std::string(problem)};
    return std::nullopt;
}

// "/path?query", "http://host/path?query" or "*".
bool take_target(std::string target, RequestHead& head) {
    std::string_view rest = target;
    if (rest.starts_with("http://") || rest.starts_with("https://")) {
        rest.remove_prefix(rest.find("://") + 3);
        const size_t slash = rest.find_first_of("/?");
        rest = slash == std::string_view::npos ? std::string_view("/") : rest.substr(slash);
    }
    if (!rest.starts_with('/') && !(rest == "*" && head.method == "OPTIONS")) return false;
    for (const char c : rest)
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#') return false;
    const size_t mark = rest.find('?');
    head.path = std::string(rest.substr(0, mark));
    if (mark != std::string_view::npos) head.query = std::string(rest.substr(mark + 1));
    head.target = std::move(target);
    return true;
}

} // namespace

HeadScanner::Outcome HeadScanner::fail(int status, std::string message) {
    m_error = {status, std::move(message)};
    return Outcome::bad;
}

HeadScanner::Outcome HeadScanner::scan(std::string_view bytes, const HeadLimits& limits) {
    while (m_position < bytes.size()) {
        const void* found = std::memchr(bytes.data() + m_position, '\n', bytes.size() - m_position);
        if (!found) {
            m_position = bytes.size();
            break;
        }
        const size_t end = static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
        if (end == m_line_start || bytes[end - 1] != '\r') return fail(400, "a line does not end with CR LF");
        const bool empty = end == m_line_start + 1;
        const char first = bytes[m_line_start];
        m_position = end + 1;
        if (end + 1 > limits.bytes) return fail(431, "the header section is too large");
        if (m_lines == 0 && end > limits.target_bytes) return fail(414, "the request line is too long");
        if (m_lines > 0 && (first == ' ' || first == '\t')) return fail(400, "a header line is folded");
        m_line_start = m_position;
        if (empty && m_lines > 0) return Outcome::complete;
        if (empty) return fail(400, "the message starts with an empty line");
        if (m_lines++ > limits.count) return fail(431, "there are too many header fields");
    }
    if (m_lines == 0 && bytes.size() > limits.target_bytes) return fail(414, "the request line is too long");
    if (bytes.size() > limits.bytes) return fail(431, "the header section is too large");
    return Outcome::more;
}

std::variant<ParsedRequest, HeadError> parse_request_head(std::string_view head, const HeadLimits& limits) {
    Collector<true> collector;
    if (auto problem = run(collector, head)) return std::move(*problem);
    const Fields& fields = collector.fields;
    if (fields.headers.size() > limits.count) return HeadError{431, "there are too many header fields"};
    ParsedRequest parsed;
    parsed.http_1_0 = collector.version == 10;
    if (fields.transfer_encodings > 0 && (!fields.chunked || parsed.http_1_0))
        return HeadError{fields.chunked ? 400 : 501, "this transfer encoding is not supported"};
    if (fields.hosts > 1 || (fields.hosts == 0 && !parsed.http_1_0))
        return HeadError{400, "exactly one Host header is needed"};
    parsed.head.method = std::move(collector.method);
    if (!take_target(std::move(collector.target), parsed.head))
        return HeadError{400, "the request target is malformed"};
    parsed.head.headers = std::move(collector.fields.headers);
    parsed.keep_alive = collector.keep_alive();
    if (const std::string_view expectation = parsed.head.header("Expect"); !expectation.empty()) {
        if (!equals_ignoring_case(expectation, "100-continue")) return HeadError{417, "this expectation cannot be met"};
        parsed.expects_continue = !parsed.http_1_0;
    }
    if (fields.chunked) {
        parsed.framing = Framing::chunked;
    } else if (fields.length.value_or(0) > 0) {
        parsed.framing = Framing::length;
        parsed.length = *fields.length;
    }
    return parsed;
}

std::variant<ParsedResponse, HeadError> parse_response_head(std::string_view head, bool to_head) {
    Collector<false> collector;
    if (auto problem = run(collector, head)) return HeadError{502, std::move(problem->message)};
    const Fields& fields = collector.fields;
    if (fields.transfer_encodings > 0 && !fields.chunked)
        return HeadError{502, "the transfer encoding of the response is not supported"};
    ParsedResponse parsed;
    parsed.status = collector.status;
    parsed.headers = std::move(collector.fields.headers);
    const bool bare = to_head || parsed.status / 100 == 1 || parsed.status == 204 || parsed.status == 304;
    if (bare) {
        parsed.framing = Framing::none;
    } else if (fields.chunked) {
        parsed.framing = Framing::chunked;
    } else if (fields.length) {
        parsed.framing = *fields.length == 0 ? Framing::none : Framing::length;
        parsed.length = *fields.length;
    } else {
        parsed.framing = Framing::until_close;
    }
    parsed.keep_alive = collector.version == 11 && parsed.framing != Framing::until_close &&
                        !equals_ignoring_case(header_value(parsed.headers, "Connection"), "close");
    return parsed;
}

} // namespace hone::net
