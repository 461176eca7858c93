#include "cli/terminal/console.h"

#include "base/file.h"

#include <cerrno>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace hone::cli {

namespace {

constexpr size_t max_line = 4096;

Error cancelled_input() {
    return conflict("cancelled");
}

// One byte; nothing at the end of input.
Result<std::optional<char>> read_byte(int descriptor) {
    for (;;) {
        char byte = 0;
        const ssize_t got = ::read(descriptor, &byte, 1);
        if (got == 1) return std::optional<char>(byte);
        if (got == 0) return std::optional<char>();
        if (errno != EINTR) return system_error("read standard input", errno);
    }
}

// Takes the terminal out of line mode and turns echo and signals off: Ctrl-C arrives as a byte, so that the terminal is
// always put back as it was.
class QuietTerminal {
public:
    explicit QuietTerminal(int descriptor) : m_descriptor(descriptor) {
        if (tcgetattr(descriptor, &m_before) != 0) return;
        m_changed = true;
        termios quiet = m_before;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
        quiet.c_cc[VMIN] = 1;
        quiet.c_cc[VTIME] = 0;
        tcsetattr(descriptor, TCSAFLUSH, &quiet);
    }
    ~QuietTerminal() {
        if (m_changed) tcsetattr(m_descriptor, TCSAFLUSH, &m_before);
    }
    QuietTerminal(const QuietTerminal&) = delete;
    QuietTerminal& operator=(const QuietTerminal&) = delete;

private:
    int m_descriptor;
    bool m_changed = false;
    termios m_before{};
};

void erase_character(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
}

Result<std::string> read_secret(int descriptor) {
    constexpr char interrupt = 3, end = 4, backspace = 8, kill_line = 21, quit = 28, rubout = 127;
    std::string text;
    for (;;) {
        const auto byte = TRY(read_byte(descriptor));
        if (!byte || *byte == interrupt || *byte == quit || (*byte == end && text.empty())) return cancelled_input();
        if (*byte == '\n' || *byte == '\r' || *byte == end) return text;
        if (*byte == backspace || *byte == rubout)
            erase_character(text);
        else if (*byte == kill_line)
            text.clear();
        else if (text.size() < max_line)
            text += *byte;
    }
}

} // namespace

Console::Console(int in, int out, int err, const Environment& environment)
    : m_in(in),
      m_out(out),
      m_err(err),
      m_in_terminal(isatty(in) == 1),
      m_out_terminal(isatty(out) == 1),
      m_err_terminal(isatty(err) == 1) {
    const auto no_color = environment("NO_COLOR");
    m_colour = !(no_color && !no_color->empty()) && environment("TERM").value_or("") != "dumb";
}

void Console::print(std::string_view text) {
    if (m_output_gone || m_output_error) return;
    errno = 0;
    auto written = write_all(m_out, text);
    if (written.ok()) return;
    if (errno == EPIPE)
        m_output_gone = true;
    else
        m_output_error = std::move(written).error();
}

void Console::note(std::string_view text) {
    // If standard error cannot be written, there is no place to report it.
    static_cast<void>(write_all(m_err, text).ok());
}

size_t Console::width() const {
    winsize size{};
    if (!m_out_terminal || ioctl(m_out, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col == 0 ? 80 : size.ws_col;
}

std::string Console::paint_if(bool yes, Style style, std::string_view text) const {
    if (!yes || !m_colour) return std::string(text);
    const char* code = style == Style::bold    ? "1"
                       : style == Style::dim   ? "2"
                       : style == Style::red   ? "31"
                       : style == Style::green ? "32"
                                               : "33";
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string Console::paint(Style style, std::string_view text) const {
    return paint_if(m_out_terminal, style, text);
}

std::string Console::paint_note(Style style, std::string_view text) const {
    return paint_if(m_err_terminal, style, text);
}

Result<std::string> Console::read_line() {
    std::string text;
    for (;;) {
        const auto byte = TRY(read_byte(m_in));
        if (!byte && text.empty()) return cancelled_input();
        if (!byte || *byte == '\n') break;
        if (text.size() == max_line) return too_large("the line is longer than " + std::to_string(max_line) + " bytes");
        text += *byte;
    }
    if (text.ends_with('\r')) text.pop_back();
    return text;
}

Result<std::string> Console::prompt(std::string_view text) {
    note(text);
    return read_line();
}

Result<std::string> Console::prompt_secret(std::string_view text) {
    Result<std::string> typed = cancelled_input();
    {
        const QuietTerminal quiet(m_in);
        note(text);
        typed = read_secret(m_in);
    }
    note("\n");
    return typed;
}

} // namespace hone::cli
