#include "net/http/compress.h"

#include "base/text.h"

#include <array>
#include <brotli/encode.h>
#include <zlib.h>

namespace hone::net {

namespace {

constexpr size_t worthwhile = 1024;
constexpr int gzip_level = 5;
constexpr int brotli_quality = 4;    // about gzip's speed, smaller
constexpr int gzip_window = 15 + 16; // the 16 selects gzip framing

// "gzip;q=0.5" -> true, "gzip;q=0" -> false.
bool is_wanted(std::string_view parameters) {
    for (const std::string_view part : split(parameters, ';')) {
        const std::string_view text = trim(part);
        if (!text.starts_with("q=") && !text.starts_with("Q=")) continue;
        return text.substr(2).find_first_of("123456789") != std::string_view::npos;
    }
    return true;
}

// One header line listing both: caches must keep the forms apart.
void add_vary(Response& response) {
    for (Header& header : response.headers) {
        if (!equals_ignoring_case(header.name, "Vary")) continue;
        if (lowercase_ascii(header.value).find("accept-encoding") == std::string::npos)
            header.value += ", Accept-Encoding";
        return;
    }
    response.headers.push_back({"Vary", "Accept-Encoding"});
}

} // namespace

Acceptable parse_accept_encoding(std::string_view header) {
    Acceptable named;
    bool gzip_named = false;
    bool brotli_named = false;
    bool any = false;
    for (const std::string_view part : split(header, ',')) {
        const size_t semicolon = part.find(';');
        const std::string_view name = trim(part.substr(0, semicolon));
        const bool wanted =
            is_wanted(semicolon == std::string_view::npos ? std::string_view() : part.substr(semicolon + 1));
        if (equals_ignoring_case(name, "gzip") || equals_ignoring_case(name, "x-gzip")) {
            named.gzip = wanted;
            gzip_named = true;
        } else if (equals_ignoring_case(name, "br")) {
            named.brotli = wanted;
            brotli_named = true;
        } else if (name == "*") {
            any = wanted;
        }
    }
    return {gzip_named ? named.gzip : any, brotli_named ? named.brotli : any};
}

std::string gzip(std::string_view bytes) {
    z_stream stream{};
    CHECK_OR_ABORT(deflateInit2(&stream, gzip_level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    CHECK_OR_ABORT(deflate(&stream, Z_FINISH) == Z_STREAM_END); // the bound is enough by contract
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string brotli(std::string_view bytes) {
    std::string out(BrotliEncoderMaxCompressedSize(bytes.size()), '\0');
    size_t size = out.size();
    const bool done = BrotliEncoderCompress(brotli_quality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.size(),
                                            reinterpret_cast<const uint8_t*>(bytes.data()), &size,
                                            reinterpret_cast<uint8_t*>(out.data()));
    out.resize(done ? size : 0);
    return out;
}

Result<std::string> gunzip(std::string_view bytes, size_t limit) {
    z_stream stream{};
    constexpr int gzip_or_zlib = MAX_WBITS + 32;
    CHECK_OR_ABORT(inflateInit2(&stream, gzip_or_zlib) == Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out;
    std::array<char, 32 << 10> buffer;
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.avail_out = buffer.size();
        state = inflate(&stream, Z_NO_FLUSH);
        const size_t made = buffer.size() - stream.avail_out;
        if (made > limit - out.size()) {
            inflateEnd(&stream);
            return too_large("the content is larger than " + std::to_string(limit) + " bytes when decompressed");
        }
        out.append(buffer.data(), made);
        if (state == Z_STREAM_END && stream.avail_in > 0 && inflateReset(&stream) == Z_OK)
            state = Z_OK; // members may follow
    }
    inflateEnd(&stream);
    if (state != Z_STREAM_END) return invalid("the compressed content is damaged");
    return out;
}

bool is_compressible(std::string_view content_type) {
    const std::string type = lowercase_ascii(trim(content_type.substr(0, content_type.find(';'))));
    return type.starts_with("text/") || type == "application/json" || type == "application/javascript" ||
           type == "image/svg+xml" || type == "application/xml" || type == "application/manifest+json" ||
           type == "application/x-ndjson" || type.ends_with("+json") || type.ends_with("+xml") ||
           type == "application/wasm";
}

void compress_response(std::string_view accept_encoding, Response& response) {
    const bool fits = response.body.size() >= worthwhile && response.body.size() < (1u << 30) &&
                      response.borrowed_body.empty() && is_compressible(response.content_type) &&
                      response.header("Content-Encoding").empty() && response.status != 206 &&
                      response.header("Cache-Control").find("no-transform") == std::string_view::npos;
    if (!fits) return;
    add_vary(response);
    const Acceptable acceptable = parse_accept_encoding(accept_encoding);
    if (!acceptable.brotli && !acceptable.gzip) return;
    std::string smaller = acceptable.brotli ? brotli(response.body) : gzip(response.body);
    if (smaller.empty() || smaller.size() >= response.body.size()) return;
    response.body = std::move(smaller);
    response.headers.push_back({"Content-Encoding", acceptable.brotli ? "br" : "gzip"});
    // The bytes differ now, so a strong tag may only promise equal meaning.
    if (const std::string etag(response.header("ETag")); etag.starts_with('"'))
        response.set_header("ETag", "W/" + etag);
}

} // namespace hone::net
