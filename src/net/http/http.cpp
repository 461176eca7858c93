#include "net/http/http.h"

#include "base/status.h"
#include "base/text.h"

#include <algorithm>

namespace hone::net {

namespace {

const Header* find_header(const std::vector<Header>& headers, std::string_view name) {
    for (const Header& header : headers)
        if (equals_ignoring_case(header.name, name)) return &header;
    return nullptr;
}

} // namespace

std::string_view header_value(const std::vector<Header>& headers, std::string_view name) {
    const Header* found = find_header(headers, name);
    return found ? std::string_view(found->value) : std::string_view();
}

bool RequestHead::has_header(std::string_view name) const {
    return find_header(headers, name) != nullptr;
}

std::string RequestHead::cookie(std::string_view name) const {
    for (const Header& header : headers) {
        if (!equals_ignoring_case(header.name, "cookie")) continue;
        if (std::string value = find_cookie(header.value, name); !value.empty()) return value;
    }
    return {};
}

std::string find_cookie(std::string_view cookie_header, std::string_view name) {
    while (!cookie_header.empty()) {
        const size_t end = cookie_header.find(';');
        const std::string_view pair = trim(cookie_header.substr(0, end));
        cookie_header = end == std::string_view::npos ? std::string_view() : cookie_header.substr(end + 1);
        const size_t equals = pair.find('=');
        if (equals == std::string_view::npos || trim(pair.substr(0, equals)) != name) continue;
        std::string_view value = trim(pair.substr(equals + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        return std::string(value);
    }
    return {};
}

Result<std::string> read_all(BodyReader& reader, size_t limit) {
    std::string whole;
    for (;;) {
        std::string piece = TRY(reader.read());
        if (piece.empty()) return whole;
        if (piece.size() > limit - whole.size())
            return too_large("the body is larger than " + std::to_string(limit) + " bytes");
        whole += piece;
    }
}

void Response::set_header(std::string_view name, std::string value) {
    std::erase_if(headers, [&](const Header& header) { return equals_ignoring_case(header.name, name); });
    headers.push_back({std::string(name), std::move(value)});
}

Response json_response(int status, std::string body) {
    Response response;
    response.status = status;
    response.content_type = "application/json";
    response.body = std::move(body);
    return response;
}

Response text_response(int status, std::string body) {
    Response response;
    response.status = status;
    response.content_type = "text/plain; charset=utf-8";
    response.body = std::move(body);
    return response;
}

Response error_response(int status, std::string_view code, std::string_view message) {
    return json_response(status,
                         "{\"error\":{\"code\":" + quote_json(code) + ",\"message\":" + quote_json(message) + "}}");
}

Response error_response(const Error& error) {
    Response response = error_response(http_status(error.code), code_name(error.code), error.message);
    if (response.status == 503 || response.status == 429) response.set_header("Retry-After", "1");
    return response;
}

std::string_view reason_phrase(int status) {
    switch (status) {
    case 100:
        return "Continue";
    case 200:
        return "OK";
    case 201:
        return "Created";
    case 202:
        return "Accepted";
    case 204:
        return "No Content";
    case 206:
        return "Partial Content";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 303:
        return "See Other";
    case 304:
        return "Not Modified";
    case 307:
        return "Temporary Redirect";
    case 308:
        return "Permanent Redirect";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 402:
        return "Payment Required";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 406:
        return "Not Acceptable";
    case 408:
        return "Request Timeout";
    case 409:
        return "Conflict";
    case 410:
        return "Gone";
    case 411:
        return "Length Required";
    case 412:
        return "Precondition Failed";
    case 413:
        return "Content Too Large";
    case 414:
        return "URI Too Long";
    case 415:
        return "Unsupported Media Type";
    case 416:
        return "Range Not Satisfiable";
    case 417:
        return "Expectation Failed";
    case 422:
        return "Unprocessable Content";
    case 428:
        return "Precondition Required";
    case 429:
        return "Too Many Requests";
    case 431:
        return "Request Header Fields Too Large";
    case 500:
        return "Internal Server Error";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    case 505:
        return "HTTP Version Not Supported";
    case 507:
        return "Insufficient Storage";
    default:
        return "Unknown";
    }
}

void add_security_headers(Response& response, std::string_view content_security_policy) {
    const auto add = [&](std::string_view name, std::string_view value) {
        if (!find_header(response.headers, name)) response.headers.push_back({std::string(name), std::string(value)});
    };
    add("Content-Security-Policy", content_security_policy);
    add("X-Content-Type-Options", "nosniff");
    add("X-Frame-Options", "DENY");
    add("Referrer-Policy", "same-origin");
    add("Cross-Origin-Opener-Policy", "same-origin");
    add("Cross-Origin-Resource-Policy", "same-origin");
    add("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()");
}

bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               marks.find(c) != std::string_view::npos;
    });
}

bool is_field_value(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const unsigned char byte = static_cast<unsigned char>(c);
        return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    });
}

} // namespace hone::net
