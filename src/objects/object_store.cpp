#include "objects/object_store.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace hone::objects {

namespace {

constexpr size_t longest_part = 200;
constexpr size_t longest_key = 700;
constexpr size_t file_piece = 256 << 10;

bool is_key_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.=+@").find(c) != std::string_view::npos;
}

bool is_area(std::string_view part) {
    return std::find(std::begin(areas), std::end(areas), part) != std::end(areas);
}

} // namespace

Result<> check_key(std::string_view key) {
    const std::vector<std::string_view> parts = split(key, '/');
    if (key.size() > longest_key || parts.size() < 2 || !is_area(parts.front()))
        return invalid("not a key of an object: " + std::string(truncate_utf8(key, 100)));
    for (const std::string_view part : parts)
        if (part.empty() || part.size() > longest_part || part.front() == '.' || part.ends_with(".new") ||
            !std::all_of(part.begin(), part.end(), is_key_character))
            return invalid("not a key of an object: " + std::string(truncate_utf8(key, 100)));
    return {};
}

Result<> check_prefix(std::string_view prefix) {
    // The prefix of a valid key: with one more character behind it, it is one.
    if (!prefix.ends_with(".new") && check_key(std::string(prefix) + "0").ok()) return {};
    return invalid("not a prefix of keys: " + std::string(truncate_utf8(prefix, 100)));
}

Result<> check_list_limit(int limit) {
    if (limit < 1 || limit > 1000) return invalid("a page has 1 to 1000 objects");
    return {};
}

Pieces pieces_of(std::string text) {
    return [left = std::make_shared<std::string>(std::move(text))]() -> Result<std::string> {
        return std::exchange(*left, {});
    };
}

Result<Pieces> pieces_of_file(const std::string& path) {
    // Shared, since a std::function must be copyable.
    auto file = std::make_shared<Fd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file->is_open()) return system_error("open " + path, errno);
    return Pieces([file, path]() -> Result<std::string> {
        std::string piece(file_piece, '\0');
        const ssize_t count = ::read(file->get(), piece.data(), piece.size());
        if (count < 0) return system_error("read " + path, errno);
        piece.resize(static_cast<size_t>(count));
        return piece;
    });
}

Result<std::string> get_text(ObjectStore& store, const std::string& key, size_t limit) {
    std::string text;
    TRY(store.get(key, {}, [&](std::string_view piece) -> Result<> {
        if (text.size() + piece.size() > limit)
            return too_large(key + " is larger than " + std::to_string(limit) + " bytes");
        text += piece;
        return {};
    }));
    return text;
}

Result<> probe(ObjectStore& store) {
    const std::string key = "check/" + crypto::random_token(12);
    const std::string content = crypto::random_token(48);
    TRY(store.put(key, pieces_of(content)));
    const auto read = get_text(store, key, 1024);
    const auto listed = store.list(key, "");
    TRY(store.remove(key)); // before anything else can fail
    if (!read.ok()) return read.error();
    if (read.value() != content) return corrupt("what was read is not what was written");
    if (!listed.ok()) return listed.error();
    if (listed.value().objects.size() != 1 || listed.value().objects.front().key != key)
        return corrupt("an object that was written is not in the list of objects");
    if (TRY(store.head(key))) return corrupt("an object that was removed is still there");
    return {};
}

} // namespace hone::objects
