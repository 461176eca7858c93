#include "base/path.h"

#include "base/text.h"

#include <algorithm>
#include <filesystem>

namespace hone {

namespace {

// SQLite opens no file whose whole name has more than 512 bytes.
constexpr size_t longest_directory = 400;

// JSON and XML cannot hold control characters, and the library that reads the span engine's settings takes a backslash
// for a slash.
bool has_unusable_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return byte < 0x20 || byte == 0x7f || letter == '\\';
    });
}

} // namespace

Result<std::string> absolute_path(const std::string& path) {
    if (path.empty()) return invalid("a path must not be empty");
    std::error_code failed;
    const auto absolute = std::filesystem::absolute(path, failed);
    if (failed) return system_error("find " + path + " from the working directory", failed.value());
    return absolute.string();
}

Result<std::string> resolve_directory(const std::string& path) {
    const std::string absolute = TRY(absolute_path(path));
    if (!is_valid_utf8(absolute) || has_unusable_character(absolute))
        return invalid("the name of a directory must be UTF-8, without backslashes and control characters");
    if (absolute.size() > longest_directory)
        return invalid("the name of the directory is too long: " + std::to_string(absolute.size()) +
                       " bytes, at most " + std::to_string(longest_directory));
    std::error_code failed;
    std::string resolved = std::filesystem::weakly_canonical(absolute, failed).string();
    if (failed) return system_error("open " + absolute, failed.value());
    while (resolved.size() > 1 && resolved.ends_with('/')) resolved.pop_back();
    return resolved;
}

std::string quote_shell(std::string_view text) {
    const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || std::string_view("/._-+=:@%").find(letter) != std::string_view::npos;
    });
    if (is_plain) return std::string(text);
    std::string out = "'";
    for (const char letter : text) out += letter == '\'' ? "'\\''" : std::string(1, letter);
    return out + "'";
}

} // namespace hone
