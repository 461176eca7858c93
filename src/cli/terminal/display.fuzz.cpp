// Whatever bytes a server sends, what reaches a terminal holds no control character, and guarded JSON says the same
// wherever the pieces were cut.
#include "cli/terminal/display.h"
#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <cstdint>

using namespace hone;
using namespace hone::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string line = safe_line(text);
    CHECK_OR_ABORT(is_valid_utf8(line));
    CHECK_OR_ABORT(std::none_of(line.begin(), line.end(),
                                [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
    CHECK_OR_ABORT(safe_line(line) == line);
    const size_t width = size % 50;
    CHECK_OR_ABORT(display_width(cut_to_width(line, width)) <= width);

    JsonGuard guard;
    std::string pieces = guard.feed(text.substr(0, size / 2));
    pieces += guard.feed(text.substr(size / 2));
    pieces += guard.finish();
    if (is_valid_utf8(text)) CHECK_OR_ABORT(pieces == safe_json(text));
    if (const auto parsed = json::parse(text); parsed.ok())
        CHECK_OR_ABORT(json::parse(safe_json(text)).value() == parsed.value());
    return 0;
}
