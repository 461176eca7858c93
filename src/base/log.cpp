#include "base/log.h"

#include "base/mutex.h"
#include "base/text.h"
#include "base/time.h"

#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>

namespace hone {

namespace {

struct Logger {
    LogFormat format = LogFormat::text;
    Level at_least = Level::info;
    Mutex writing; // one line after the other, also where a write takes only a part
};

Logger& logger() {
    static Logger& instance = *new Logger; // never destroyed: threads log until the process ends
    return instance;
}

const char* level_name(Level level) {
    switch (level) {
    case Level::debug:
        return "debug";
    case Level::info:
        return "info";
    case Level::warning:
        return "warning";
    case Level::error:
        return "error";
    }
    return "error";
}

std::string value_text(const LogField& field, LogFormat format) {
    if (const auto* text = std::get_if<std::string>(&field.value)) {
        const bool plain = format == LogFormat::text && !text->empty() &&
                           text->find_first_of(" \"=\\") == std::string::npos && is_printable_ascii(*text);
        return plain ? *text : quote_json(*text);
    }
    if (const auto* number = std::get_if<int64_t>(&field.value)) return std::to_string(*number);
    if (const auto* flag = std::get_if<bool>(&field.value)) return *flag ? "true" : "false";
    return fmt::format("{}", std::get<double>(field.value));
}

// A line that standard error does not take is lost: it is the last place to report to.
void write_line(Logger& to, std::string_view line) {
    const Lock lock(to.writing);
    while (!line.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        line.remove_prefix(static_cast<size_t>(written));
    }
}

} // namespace

std::string format_log_line(LogFormat format, Level level, std::string_view phrase,
                            std::initializer_list<LogField> fields) {
    std::string line;
    if (format == LogFormat::json) {
        line = std::string("\"level\":\"") + level_name(level) + "\",\"message\":" + quote_json(phrase);
        for (const auto& field : fields) line += "," + quote_json(field.name) + ":" + value_text(field, format);
        return line + "}";
    }
    line = fmt::format("{:<7} {}", level_name(level), phrase);
    for (const auto& field : fields) line += fmt::format(" {}={}", field.name, value_text(field, format));
    return line;
}

void log(Level level, std::string_view phrase, std::initializer_list<LogField> fields) {
    Logger& to = logger();
    if (level < to.at_least) return;
    const std::string stamp = to_text(SystemClock().now());
    const std::string line = format_log_line(to.format, level, phrase, fields);
    write_line(to,
               to.format == LogFormat::json ? "{\"time\":\"" + stamp + "\"," + line + "\n" : stamp + " " + line + "\n");
}

void set_log(LogFormat format, Level at_least) {
    logger().format = format;
    logger().at_least = at_least;
}

} // namespace hone
