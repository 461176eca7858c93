// Everything that reads text out of a request: queries, paths, cookies, encodings, static paths, URLs.
#include "net/http/compress.h"
#include "net/http/http.h"
#include "net/http/url.h"
#include "net/static_files.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace hone::net;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto pairs = parse_query(text); pairs.ok())
        for (const auto& [name, value] : pairs.value())
            if (name.find('\0') != std::string::npos || value.find('\0') != std::string::npos) std::abort();
    if (const auto segments = split_path(text); segments.ok())
        for (const std::string& segment : segments.value())
            if (segment.empty() || segment == "." || segment == ".." || segment.starts_with("../") ||
                segment.find("/../") != std::string::npos)
                std::abort();
    if (const auto path = resolve_static_path(text)) {
        if (!path->starts_with('/') || path->find("/..") != std::string::npos || path->find("//") != std::string::npos)
            std::abort();
        if (path->find('\0') != std::string::npos) std::abort();
        content_type_of(*path);
    }
    find_cookie(text, "session");
    parse_accept_encoding(text);
    if (const auto url = parse_url(text); url.ok()) {
        // What we would write into a request must not be able to break out of its line.
        for (const std::string& part : {url.value().target, url.value().host_header()})
            if (part.find_first_of("\r\n ") != std::string::npos) std::abort();
        if (const auto next = resolve_url(url.value(), text);
            next.ok() && next.value().target.find('\n') != std::string::npos)
            std::abort();
    }
    return 0;
}
