// Where a page of rows ended: the number it is sorted by and the id of its last row, as text that callers hand back.
// Rows that come later never shift the next page. Lists of spans, traces and sessions use it. Pure functions.
#pragma once

#include "base/result.h"
#include "base/text.h"

#include <string>
#include <string_view>

namespace hone::telemetry {

struct Cursor {
    int64_t number = 0;
    std::string id;
};

inline std::string encode_cursor(int64_t number, const std::string& id) {
    return to_base64url(std::to_string(number) + ":" + id);
}

inline Result<Cursor> decode_cursor(const std::string& text) {
    const Error wrong = invalid("the cursor is not valid for this list");
    auto plain = from_base64url(text);
    if (!plain.ok()) return wrong;
    const size_t colon = plain.value().find(':');
    if (colon == std::string::npos) return wrong;
    auto number = parse_integer(std::string_view(plain.value()).substr(0, colon));
    if (!number.ok()) return wrong;
    return Cursor{number.value(), plain.value().substr(colon + 1)};
}

} // namespace hone::telemetry
