#include "base/log.h"

#include "base/text.h"
#include "base/time.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace hone {

namespace {

struct Logger {
    LogFormat format = LogFormat::text;
    Level at_least = Level::info;
    std::shared_ptr<spdlog::logger> out; // shared by spdlog's own interface
};

Logger& logger() {
    static Logger instance = [] {
        Logger made;
        made.out = std::make_shared<spdlog::logger>("hone", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made.out->set_pattern("%v");
        made.out->set_level(spdlog::level::trace);
        made.out->flush_on(spdlog::level::trace);
        return made;
    }();
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
    if (to.format == LogFormat::json)
        to.out->info("{{\"time\":\"{}\",{}", stamp, line);
    else
        to.out->info("{} {}", stamp, line);
}

void set_log(LogFormat format, Level at_least) {
    logger().format = format;
    logger().at_least = at_least;
}

} // namespace hone
