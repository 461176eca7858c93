#include "sandbox/image/tar_writer.h"

#include "base/file.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr int64_t block = 512;
constexpr size_t short_name = 100;

void put(std::string& head, size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), head.begin() + static_cast<std::ptrdiff_t>(at));
}

// Octal digits; sizes from 8 GiB on do not occur.
std::string octal(int64_t number, int digits) {
    return fmt::format("{:0{}o}", number, digits);
}

// A record of an extended header: its own length, a space, name=value, a line break.
std::string extended(std::string_view name, std::string_view value) {
    const std::string rest = fmt::format(" {}={}\n", name, value);
    size_t length = rest.size();
    while (length != rest.size() + std::to_string(length).size()) length = rest.size() + std::to_string(length).size();
    return std::to_string(length) + rest;
}

} // namespace

Result<> TarWriter::write(std::string_view bytes) {
    TRY(write_all(m_into, bytes));
    m_written += static_cast<int64_t>(bytes.size());
    return {};
}

Result<> TarWriter::fill(int64_t bytes) {
    while (bytes > 0) {
        const auto part = static_cast<size_t>(std::min<int64_t>(bytes, 64 << 10));
        TRY(write(std::string(part, '\0')));
        bytes -= static_cast<int64_t>(part);
    }
    return {};
}

Result<> TarWriter::header(const std::string& name, char type, int64_t bytes, Time modified) {
    const bool is_plain = name.size() <= short_name && is_printable_ascii(name);
    if (!is_plain && type != 'x') {
        const std::string record = extended("path", name);
        TRY(header("path", 'x', static_cast<int64_t>(record.size()), modified));
        TRY(write(record));
        TRY(fill((block - m_written % block) % block));
    }
    std::string head(static_cast<size_t>(block), '\0');
    put(head, 0, is_plain ? std::string_view(name) : std::string_view("long-name"));
    put(head, 100, type == '5' ? "0000755" : "0000644");
    put(head, 108, "0001750");
    put(head, 116, "0001750");
    put(head, 124, octal(bytes, 11));
    put(head, 136, octal(std::max<int64_t>(0, to_ns(modified) / 1'000'000'000), 11));
    put(head, 148, "        ");
    head[156] = type;
    put(head, 257, std::string_view("ustar\00000", 8));
    int64_t sum = 0;
    for (const char c : head) sum += static_cast<unsigned char>(c);
    put(head, 148, octal(sum, 6) + std::string("\0 ", 2));
    return write(head);
}

Result<> TarWriter::folder(const std::string& name, Time modified) {
    return header(name + "/", '5', 0, modified);
}

Result<> TarWriter::file(const std::string& name, int from, int64_t bytes, Time modified) {
    TRY(header(name, '0', bytes, modified));
    std::string buffer(static_cast<size_t>(std::min<int64_t>(bytes, 1 << 20)), '\0');
    int64_t rest = bytes;
    while (rest > 0) {
        const ssize_t got = ::read(from, buffer.data(), static_cast<size_t>(std::min<int64_t>(rest, 1 << 20)));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read " + name, errno);
        if (got == 0) break;
        TRY(write(std::string_view(buffer.data(), static_cast<size_t>(got))));
        rest -= got;
    }
    TRY(fill(rest));
    return fill((block - m_written % block) % block);
}

Result<int64_t> TarWriter::end() {
    TRY(fill(2 * block));
    return m_written;
}

} // namespace hone::sandbox
