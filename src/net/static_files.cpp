#include "net/static_files.h"

#include "base/file.h"
#include "base/text.h"
#include "net/http/compress.h"
#include "net/http/url.h"

#include <algorithm>
#include <array>
#include <sys/stat.h>

namespace hone::net {

namespace {

constexpr size_t max_file = 64 << 20;

// If-None-Match: a list of tags, or '*'. Weak comparison, as the RFC requires.
bool matches(std::string_view header, std::string_view etag) {
    for (std::string_view candidate : split(header, ',')) {
        candidate = trim(candidate);
        if (candidate.starts_with("W/")) candidate.remove_prefix(2);
        if (candidate == etag || candidate == "*") return true;
    }
    return false;
}

Response not_modified(std::string_view etag) {
    Response response;
    response.status = 304;
    response.set_header("ETag", std::string(etag));
    return response;
}

void set_caching(Response& response, bool immutable) {
    response.set_header("Cache-Control", immutable ? "public, max-age=31536000, immutable" : "no-cache");
}

// Files lie at the top; what is deeper is a page, and its last name may have a dot: /s/default/projects/shop.example
bool is_route(std::string_view path) {
    return path.rfind('/') != 0 || path.find('.') == std::string_view::npos;
}

} // namespace

std::optional<std::string> resolve_static_path(std::string_view path) {
    if (path == "/") return "/index.html";
    const bool slash = path.size() > 1 && path.ends_with('/');
    Result<std::vector<std::string>> segments = split_path(slash ? path.substr(0, path.size() - 1) : path);
    if (!segments.ok() || segments.value().empty()) return std::nullopt;
    std::string resolved;
    for (const std::string& segment : segments.value()) {
        if (segment.starts_with('.')) return std::nullopt; // hidden files are not served
        resolved += '/';
        for (const char c : segment) {
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
            if (c == '/' || c == '\\')
                resolved += c == '/' ? "%2F" : "%5C"; // of a name in the address of a page, never of a file
            else
                resolved += c;
        }
    }
    return resolved;
}

std::string_view content_type_of(std::string_view path) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 17> types{{
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".gif", "image/gif"},
        {".webp", "image/webp"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".txt", "text/plain; charset=utf-8"},
        {".md", "text/plain; charset=utf-8"},
        {".webmanifest", "application/manifest+json"},
        {".wasm", "application/wasm"},
    }};
    for (const auto& [ending, type] : types)
        if (path.ends_with(ending)) return type;
    return "application/octet-stream";
}

StaticFiles StaticFiles::embedded(std::span<const StaticFile> files) {
    StaticFiles served;
    served.m_files = files;
    return served;
}

StaticFiles StaticFiles::directory(std::string path) {
    StaticFiles served;
    served.m_directory = std::move(path);
    return served;
}

std::optional<Response> StaticFiles::serve(const RequestHead& head) const {
    if (head.method != "GET" && head.method != "HEAD") return std::nullopt;
    const std::optional<std::string> path = resolve_static_path(head.path);
    if (!path) return std::nullopt;
    const auto find = [&](const std::string& name) {
        return reads_disk() ? serve_disk(head, name) : serve_embedded(head, name);
    };
    std::optional<Response> response = find(*path);
    if (!response && is_route(*path)) response = find("/index.html");
    return response;
}

std::optional<Response> StaticFiles::serve_embedded(const RequestHead& head, const std::string& path) const {
    const auto found =
        std::lower_bound(m_files.begin(), m_files.end(), path,
                         [](const StaticFile& file, const std::string& wanted) { return file.path < wanted; });
    if (found == m_files.end() || found->path != path) return std::nullopt;
    const StaticFile& file = *found;
    const bool fresh = matches(head.header("If-None-Match"), file.etag);
    Response response = fresh ? not_modified(file.etag) : Response{};
    set_caching(response, file.immutable);
    const bool varies = !file.brotli.empty() || !file.gzip.empty();
    if (varies) response.set_header("Vary", "Accept-Encoding");
    if (fresh) return response;
    response.set_header("ETag", std::string(file.etag));
    response.content_type = std::string(file.content_type);
    const Acceptable acceptable = parse_accept_encoding(head.header("Accept-Encoding"));
    if (acceptable.brotli && !file.brotli.empty()) {
        response.borrowed_body = file.brotli;
        response.set_header("Content-Encoding", "br");
    } else if (acceptable.gzip && !file.gzip.empty()) {
        response.borrowed_body = file.gzip;
        response.set_header("Content-Encoding", "gzip");
    } else if (!file.identity.empty() || file.gzip.empty()) {
        response.borrowed_body = file.identity;
    } else {
        Result<std::string> plain = gunzip(file.gzip, max_file);
        if (!plain.ok()) return error_response(internal("an embedded file is damaged"));
        response.body = std::move(plain).value();
    }
    return response;
}

std::optional<Response> StaticFiles::serve_disk(const RequestHead& head, const std::string& path) const {
    const std::string file = m_directory + path;
    struct stat facts {};
    if (::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    const std::string etag = "\"" + std::to_string(facts.st_mtim.tv_sec) + "-" + std::to_string(facts.st_mtim.tv_nsec) +
                             "-" + std::to_string(facts.st_size) + "\"";
    if (matches(head.header("If-None-Match"), etag)) {
        Response response = not_modified(etag);
        set_caching(response, false);
        return response;
    }
    Result<std::string> content = read_file(file, max_file);
    if (!content.ok()) return std::nullopt;
    Response response;
    response.body = std::move(content).value();
    response.content_type = std::string(content_type_of(path));
    response.set_header("ETag", etag);
    set_caching(response, false);
    return response;
}

} // namespace hone::net
