// What a command reads besides its words: a file or standard input, whole, by lines, or in pieces. One thread.
#pragma once

#include "base/file.h"
#include "cli/remote/context.h"

#include <cstdint>
#include <optional>
#include <string>

namespace hone::cli {

class Input {
public:
    // "-" is standard input, which must then not be a person's terminal.
    static Result<Input> open(const Context& context, const std::string& file);

    // Up to 256 KB; empty at the end.
    Result<std::string> read();
    // The next line without its end, blank ones too; nothing at the end. Lines above `limit` are errors.
    Result<std::optional<std::string>> read_line(size_t limit);
    Result<std::string> read_all(size_t limit);
    // Of a regular file; unknown for pipes.
    std::optional<uint64_t> size() const { return m_size; }

private:
    Fd m_owned;
    int m_descriptor = -1;
    std::optional<uint64_t> m_size;
    std::string m_buffer; // read ahead by read_line
    size_t m_at = 0;
    bool m_ended = false;
};

} // namespace hone::cli
