#include "sandbox/image/tar_reader.h"

#include "base/text.h"

#include <algorithm>

namespace hone::sandbox {

namespace {

constexpr size_t block_bytes = 512;
constexpr int64_t most_name_bytes = 1 << 20; // of a long name or a pax record
constexpr size_t most_path_bytes = 4096;
constexpr size_t most_path_parts = 256;

// A field of the header: up to its first NUL.
std::string_view text_field(std::string_view block, size_t offset, size_t length) {
    const std::string_view field = block.substr(offset, length);
    return field.substr(0, std::min(field.size(), field.find('\0')));
}

// Octal digits, or, with the first bit set, a big-endian number.
Result<int64_t> number_field(std::string_view block, size_t offset, size_t length) {
    const std::string_view field = block.substr(offset, length);
    int64_t value = 0;
    if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
        if (static_cast<unsigned char>(field[0]) != 0x80) return invalid("tar: a negative or too large number");
        for (const char c : field.substr(1)) {
            if (value > INT64_MAX >> 8) return invalid("tar: a number is too large");
            value = value << 8 | static_cast<unsigned char>(c);
        }
        return value;
    }
    for (const char c : trim(text_field(block, offset, length))) {
        if (c < '0' || c > '7' || value > INT64_MAX >> 3) return invalid("tar: a number is not octal");
        value = value << 3 | (c - '0');
    }
    return value;
}

Result<> check_sum(std::string_view block) {
    constexpr size_t sum_offset = 148, sum_length = 8;
    const auto stated = number_field(block, sum_offset, sum_length);
    int64_t plain = 0, with_sign = 0; // old writers summed signed characters
    for (size_t i = 0; i < block.size(); ++i) {
        const char c = i >= sum_offset && i < sum_offset + sum_length ? ' ' : block[i];
        plain += static_cast<unsigned char>(c);
        with_sign += static_cast<signed char>(c);
    }
    if (!stated.ok() || (stated.value() != plain && stated.value() != with_sign))
        return corrupt("not a tar archive, or a damaged one");
    return {};
}

TarEntry::Kind kind_of(char type) {
    switch (type) {
    case '0':
    case '\0':
    case '7':
        return TarEntry::file;
    case '1':
        return TarEntry::hard_link;
    case '2':
        return TarEntry::symbolic_link;
    case '5':
        return TarEntry::directory;
    default:
        return TarEntry::other;
    }
}

} // namespace

Result<std::string> clean_archive_path(std::string_view path) {
    if (path.find('\0') != std::string_view::npos) return invalid("tar: a name contains a NUL");
    std::string clean;
    size_t parts = 0;
    for (const std::string_view part : split(path, '/')) {
        if (part.empty() || part == ".") continue;
        if (part == "..")
            return invalid("tar: a name leads out of the archive: " + quote_json(truncate_utf8(path, 80)));
        if (part.size() > 255 || ++parts > most_path_parts) return invalid("tar: a name is too long or too deep");
        clean += (clean.empty() ? "" : "/") + std::string(part);
    }
    if (clean.size() > most_path_bytes) return invalid("tar: a name is too long");
    return clean;
}

Result<> TarReader::feed(std::string_view bytes) {
    while (!bytes.empty() && m_state != State::done) {
        size_t used = 0;
        switch (m_state) {
        case State::header: {
            used = std::min(bytes.size(), block_bytes - m_block.size());
            m_block += bytes.substr(0, used);
            if (m_block.size() < block_bytes) break;
            const std::string block = std::move(m_block);
            m_block.clear();
            TRY(take_header(block));
            break;
        }
        case State::name:
            used = static_cast<size_t>(std::min<int64_t>(m_left, static_cast<int64_t>(bytes.size())));
            m_block += bytes.substr(0, used);
            m_left -= static_cast<int64_t>(used);
            if (m_left == 0) TRY(take_name());
            break;
        case State::content:
            used = TRY(take_content(bytes));
            break;
        case State::padding:
            used = static_cast<size_t>(std::min<int64_t>(m_left, static_cast<int64_t>(bytes.size())));
            m_left -= static_cast<int64_t>(used);
            if (m_left == 0) m_state = State::header;
            break;
        case State::done:
            break;
        }
        bytes.remove_prefix(used);
    }
    return {};
}

Result<> TarReader::finish() const {
    // Some writers leave the closing blocks out; a whole header's worth of nothing in between is a whole archive.
    if (m_state == State::done || (m_state == State::header && m_block.empty() && m_entries > 0)) return {};
    return corrupt(m_entries == 0 && m_state == State::header ? "not a tar archive, or an empty one"
                                                              : "the archive ends in the middle");
}

void TarReader::skip_padding(int64_t size) {
    m_left = (static_cast<int64_t>(block_bytes) - size % static_cast<int64_t>(block_bytes)) %
             static_cast<int64_t>(block_bytes);
    m_state = m_left == 0 ? State::header : State::padding;
}

Result<> TarReader::take_header(std::string_view block) {
    if (std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; })) {
        if (++m_empty_blocks == 2) m_state = State::done;
        return {};
    }
    m_empty_blocks = 0;
    TRY(check_sum(block));
    const char type = block[156];
    const int64_t size = TRY(number_field(block, 124, 12));
    if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
        if (size > most_name_bytes) return too_large("tar: a name or a header is over 1 MiB");
        m_block_type = type;
        m_left = size;
        m_padding = size;
        m_state = State::name;
        return size == 0 ? take_name() : Result<>();
    }
    return begin_entry(block, type, m_next_size >= 0 ? m_next_size : size);
}

Result<> TarReader::take_name() {
    if (m_block_type == 'L' || m_block_type == 'K') {
        std::string& name = m_block_type == 'L' ? m_next_path : m_next_target;
        name = m_block.substr(0, std::min(m_block.size(), m_block.find('\0')));
    } else if (m_block_type == 'x') {
        TRY(take_pax());
    } // 'g' holds for all that follows; nothing in it matters here
    m_block.clear();
    skip_padding(m_padding);
    return {};
}

// Records of "LENGTH KEY=VALUE\n", the length counting itself.
Result<> TarReader::take_pax() {
    std::string_view rest = m_block;
    while (!rest.empty()) {
        const size_t space = rest.find(' ');
        if (space == 0 || space == std::string_view::npos || space > 7) return corrupt("tar: a damaged pax header");
        const int64_t stated = TRY(parse_integer(rest.substr(0, space)));
        if (stated <= static_cast<int64_t>(space) + 1 || stated > static_cast<int64_t>(rest.size()) ||
            rest[static_cast<size_t>(stated) - 1] != '\n')
            return corrupt("tar: a damaged pax header");
        const auto length = static_cast<size_t>(stated);
        const std::string_view record = rest.substr(space + 1, length - space - 2);
        rest.remove_prefix(length);
        const size_t equals = record.find('=');
        if (equals == std::string_view::npos) return corrupt("tar: a damaged pax header");
        const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
        if (key == "path") m_next_path = value;
        if (key == "linkpath") m_next_target = value;
        if (key == "size") {
            m_next_size = TRY(parse_integer(value));
            if (m_next_size < 0) return invalid("tar: a negative size");
        }
        if (key.starts_with("GNU.sparse.")) return invalid("tar: files with holes in pax form are not supported");
    }
    return {};
}

Result<> TarReader::begin_entry(std::string_view block, char type, int64_t size) {
    if (++m_entries > m_limits.most_entries) return too_large("the archive has too many entries");
    TarEntry entry;
    entry.kind = kind_of(type);
    std::string path(text_field(block, 0, 100));
    if (block.substr(257, 6) == std::string_view("ustar\0", 6))
        if (const std::string_view prefix = text_field(block, 345, 155); !prefix.empty())
            path = std::string(prefix) + "/" + path;
    entry.path = TRY(clean_archive_path(m_next_path.empty() ? std::string_view(path) : m_next_path));
    const std::string target =
        m_next_target.empty() ? std::string(text_field(block, 157, 100)) : std::move(m_next_target);
    m_next_path.clear();
    m_next_target.clear();
    m_next_size = -1;
    if (target.size() > most_path_bytes || target.find('\0') != std::string::npos)
        return invalid("tar: the target of a link is too long");
    if (entry.kind == TarEntry::symbolic_link) entry.target = target;
    if (entry.kind == TarEntry::hard_link) entry.target = TRY(clean_archive_path(target));
    entry.mode = static_cast<unsigned>(TRY(number_field(block, 100, 8)) & 0777);
    const auto seconds = number_field(block, 136, 12);
    entry.seconds = seconds.ok() ? seconds.value() : 0;
    // Only files have content; writers disagree about the size of links and directories.
    if (entry.kind != TarEntry::file && entry.kind != TarEntry::other) size = 0;
    m_in_sink = entry.kind == TarEntry::file;
    if (m_in_sink) {
        if (size > m_limits.most_bytes - m_bytes) return too_large("the files of the archive are too large");
        m_bytes += size;
        entry.size = size;
    }
    TRY(m_sink.begin(entry));
    m_left = size;
    m_padding = size;
    m_state = State::content;
    if (size > 0) return {};
    skip_padding(0);
    return m_sink.end();
}

Result<size_t> TarReader::take_content(std::string_view bytes) {
    const auto used = static_cast<size_t>(std::min<int64_t>(m_left, static_cast<int64_t>(bytes.size())));
    if (m_in_sink) TRY(m_sink.data(bytes.substr(0, used)));
    m_left -= static_cast<int64_t>(used);
    if (m_left == 0) {
        skip_padding(m_padding);
        TRY(m_sink.end());
    }
    return used;
}

} // namespace hone::sandbox
