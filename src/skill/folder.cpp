#include "skill/folder.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "net/http/compress.h"

#include <algorithm>

namespace hone::skill {

namespace {

constexpr size_t block = 512;
// Headers and padding of the most files beside their content.
constexpr size_t largest_tar = largest_folder + (most_files + 64) * 4 * block;

Error bad_tar(std::string_view why) {
    return invalid("the archive is not a sound tar.gz: " + std::string(why));
}

std::string_view text_field(std::string_view header, size_t at, size_t size) {
    const auto field = header.substr(at, size);
    return field.substr(0, field.find('\0'));
}

Result<size_t> octal_field(std::string_view header, size_t at, size_t size) {
    size_t value = 0;
    bool any = false;
    for (const char c : trim(text_field(header, at, size))) {
        if (c < '0' || c > '7' || value > (size_t{1} << 40)) return bad_tar("a number is broken");
        value = value * 8 + static_cast<size_t>(c - '0');
        any = true;
    }
    if (!any) return bad_tar("a number is missing");
    return value;
}

Result<> check_sum(std::string_view header) {
    const size_t given = TRY(octal_field(header, 148, 8));
    size_t sum = 0;
    for (size_t i = 0; i < block; ++i)
        sum += i >= 148 && i < 156 ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(header[i]);
    if (sum != given) return bad_tar("a checksum is wrong");
    return {};
}

// "30 path=long/name\n" records; only the path matters.
Result<std::string> path_of_pax(std::string_view records) {
    std::string path;
    while (!records.empty()) {
        const size_t blank = records.find(' ');
        if (blank > 8) return bad_tar("an extended header is broken"); // or there is none
        const auto length = parse_integer(records.substr(0, blank));
        if (!length.ok() || length.value() < static_cast<int64_t>(blank) + 2 ||
            static_cast<size_t>(length.value()) > records.size())
            return bad_tar("an extended header is broken");
        const auto record = records.substr(blank + 1, static_cast<size_t>(length.value()) - blank - 2);
        if (record.starts_with("path=")) path = record.substr(5);
        records.remove_prefix(static_cast<size_t>(length.value()));
    }
    return path;
}

bool is_litter(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return name.starts_with("._") || name == ".DS_Store" || path.starts_with("__MACOSX/") ||
           path.starts_with(".git/") || path.find("/.git/") != path.npos;
}

Result<> check_path(std::string_view path) {
    const auto wrong = [&](std::string_view why) {
        return invalid("file \"" + repair_utf8(truncate_utf8(path, 100)) + "\": " + std::string(why));
    };
    if (path.empty() || path.size() > 200) return wrong("a path has 1 to 200 bytes");
    if (!is_valid_utf8(path)) return wrong("a path must be UTF-8");
    for (const char c : path)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\' || c == ':')
            return wrong("a path must not hold control characters, \\ or :");
    const auto parts = split(path, '/');
    if (parts.size() > 8) return wrong("at most 8 folders deep");
    for (const auto part : parts)
        if (part.empty() || part == "." || part == ".." || part == ".git")
            return wrong("a path must stay inside the folder");
    return {};
}

// my-skill/SKILL.md, my-skill/x → SKILL.md, x
void drop_common_top(std::vector<FolderFile>& files) {
    if (files.empty()) return;
    const std::string top = files.front().path.substr(0, files.front().path.find('/') + 1);
    if (top.empty()) return;
    for (const auto& file : files)
        if (!file.path.starts_with(top) || file.path.size() == top.size()) return;
    for (auto& file : files) file.path.erase(0, top.size());
}

} // namespace

Result<std::vector<FolderFile>> read_tar(std::string_view bytes) {
    std::vector<FolderFile> files;
    std::string long_path;
    while (bytes.size() >= block) {
        const auto header = bytes.substr(0, block);
        if (header.find_first_not_of('\0') == header.npos) return files;
        TRY(check_sum(header));
        const size_t size = TRY(octal_field(header, 124, 12));
        const size_t padded = (size + block - 1) / block * block;
        if (size > largest_file) return too_large("a file of a skill must be at most 1 MiB");
        if (bytes.size() - block < padded) return bad_tar("it ends too early");
        const auto content = bytes.substr(block, size);
        bytes.remove_prefix(block + padded);
        const char kind = header[156];
        if (kind == 'x') {
            long_path = TRY(path_of_pax(content));
            continue;
        }
        if (kind == 'L') {
            long_path = content.substr(0, content.find('\0'));
            continue;
        }
        if (kind == 'g' || kind == '5') { // settings for all, and folders: those of the files are enough
            long_path.clear();
            continue;
        }
        std::string path(text_field(header, 0, 100));
        if (header.substr(257, 5) == "ustar")
            if (const auto prefix = text_field(header, 345, 155); !prefix.empty())
                path = std::string(prefix) + "/" + path;
        if (!long_path.empty()) path = std::exchange(long_path, "");
        while (path.starts_with("./")) path.erase(0, 2);
        if (kind != '0' && kind != '\0' && kind != '7')
            return invalid("file \"" + repair_utf8(truncate_utf8(path, 100)) +
                           "\": a skill holds files and folders only, no links or devices");
        if (is_litter(path)) continue;
        const size_t mode = TRY(octal_field(header, 100, 8));
        files.push_back({path, std::string(content), (mode & 0111) != 0});
        if (files.size() > most_files) return too_large("a skill must have at most 256 files");
    }
    return bad_tar("it has no end");
}

Result<std::vector<FolderFile>> read_tar_gz(std::string_view bytes) {
    auto plain = net::gunzip(bytes, largest_tar);
    if (!plain.ok()) {
        if (plain.error().code == Code::too_large) return too_large("a skill must be at most 4 MiB unpacked");
        return bad_tar(plain.error().message);
    }
    return read_tar(plain.value());
}

Result<FolderInfo> check_folder(std::vector<FolderFile>& files) {
    if (files.size() > most_files) return too_large("a skill must have at most 256 files");
    for (const auto& file : files) TRY(check_path(file.path));
    drop_common_top(files);
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    FolderInfo info;
    const FolderFile* skill_md = nullptr;
    crypto::Hasher hasher;
    std::string_view before;
    for (const auto& file : files) {
        if (file.content.size() > largest_file) return too_large("a file of a skill must be at most 1 MiB");
        if (file.path == before) return invalid("file \"" + file.path + "\" is there twice");
        // "a" and "a/b" cannot both be files.
        if (!before.empty() && file.path.starts_with(std::string(before) + "/"))
            return invalid("\"" + std::string(before) + "\" is a file and a folder");
        before = file.path;
        if (file.path == "SKILL.md") skill_md = &file;
        info.bytes += static_cast<int64_t>(file.content.size());
        hasher.add(std::to_string(file.path.size()) + ":" + file.path + (file.executable ? "x" : "-") +
                   std::to_string(file.content.size()) + ":");
        hasher.add(file.content);
    }
    if (info.bytes > static_cast<int64_t>(largest_folder)) return too_large("a skill must be at most 4 MiB");
    if (skill_md == nullptr) return invalid("there is no SKILL.md at the top of the folder");
    const auto front = TRY(parse_front_matter(skill_md->content));
    info.name = front.name;
    info.description = front.description;
    info.files = static_cast<int64_t>(files.size());
    info.hash = to_hex(hasher.finish());
    return info;
}

} // namespace hone::skill
