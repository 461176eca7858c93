#include "review/branch/diff.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > (64 << 10)) return 0;
    const hone::review::DiffCaps caps{.files = 20, .lines = 200, .file_lines = 50, .line_bytes = 100};
    const auto parsed = hone::review::parse_diff({reinterpret_cast<const char*>(data), size}, caps);
    if (!parsed.ok()) return 0;
    if (parsed.value().files.size() > caps.files) __builtin_trap();
    size_t lines = 0;
    for (const auto& entry : parsed.value().files) {
        if (entry.file.path.empty() && entry.file.old_path.empty()) continue;
        if (!hone::is_valid_utf8(entry.file.path) || !hone::is_valid_utf8(entry.file.old_path)) __builtin_trap();
        for (const auto& hunk : entry.hunks)
            for (const auto& line : hunk.lines) {
                lines += 1;
                if (!hone::is_valid_utf8(line.content)) __builtin_trap();
                if (!line.old_line && !line.new_line) __builtin_trap();
            }
    }
    if (lines > caps.lines) __builtin_trap();
    return 0;
}
