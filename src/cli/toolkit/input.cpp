#include "cli/toolkit/input.h"

#include "cli/terminal/display.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::cli {

Result<Input> Input::open(const Context& context, const std::string& file) {
    Input input;
    if (file == "-") {
        if (context.console.is_input_terminal())
            return context.usage("standard input is a terminal: give a file or use a pipe");
        input.m_descriptor = context.console.input();
        return input;
    }
    input.m_owned = Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!input.m_owned.is_open()) return context.fail(Exit::usage, system_error("read " + file, errno).message);
    input.m_descriptor = input.m_owned.get();
    struct stat status {};
    if (::fstat(input.m_descriptor, &status) != 0) return system_error("read " + file, errno);
    if (S_ISDIR(status.st_mode)) return context.usage(safe_line(file) + " is a directory");
    if (S_ISREG(status.st_mode)) input.m_size = static_cast<uint64_t>(status.st_size);
    return input;
}

Result<std::string> Input::read() {
    std::string piece(256 << 10, '\0');
    for (;;) {
        const ssize_t got = ::read(m_descriptor, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read the input", errno);
        piece.resize(static_cast<size_t>(got));
        return piece;
    }
}

Result<std::optional<std::string>> Input::read_line(size_t limit) {
    for (;;) {
        const size_t end = m_buffer.find('\n', m_at);
        if (end != std::string::npos || (m_ended && m_at < m_buffer.size())) {
            std::string line = m_buffer.substr(m_at, end == std::string::npos ? end : end - m_at);
            m_at = end == std::string::npos ? m_buffer.size() : end + 1;
            if (line.ends_with('\r')) line.pop_back();
            return std::optional(std::move(line));
        }
        if (m_ended) return std::optional<std::string>();
        m_buffer.erase(0, m_at);
        m_at = 0;
        if (m_buffer.size() > limit) return too_large("a line is longer than " + std::to_string(limit) + " bytes");
        const std::string piece = TRY(read());
        m_ended = piece.empty();
        m_buffer += piece;
    }
}

Result<std::string> Input::read_all(size_t limit) {
    std::string text;
    for (;;) {
        const std::string piece = TRY(read());
        if (piece.empty()) return text;
        text += piece;
        if (text.size() > limit) return too_large("the input is longer than " + std::to_string(limit) + " bytes");
    }
}

} // namespace hone::cli
