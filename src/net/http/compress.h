// Content encodings: which one a client takes, gzip and brotli of whole bodies, gunzip with a bound. Any thread.
#pragma once

#include "base/result.h"
#include "net/http/http.h"

#include <string>
#include <string_view>

namespace hone::net {

enum class Encoding { identity, gzip, brotli };

struct Acceptable {
    bool gzip = false;
    bool brotli = false;
};
// Reads an Accept-Encoding header, q-values and '*' included.
Acceptable parse_accept_encoding(std::string_view header);

std::string gzip(std::string_view bytes);
std::string brotli(std::string_view bytes);
// Refuses to grow beyond `limit`.
Result<std::string> gunzip(std::string_view bytes, size_t limit);

// Text, JSON, scripts, SVG…
bool is_compressible(std::string_view content_type);
// Compresses an in-memory body above 1 KB if type, caller and headers allow, and sets Content-Encoding and Vary.
void compress_response(std::string_view accept_encoding, Response& response);

} // namespace hone::net
