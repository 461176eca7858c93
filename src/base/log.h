// The log: a fixed English phrase first, the facts as fields after it: greppable, countable, text or JSON.
//   log(Level::info, "run finished", {{"run", id.text()}, {"took_ms", took_ms}});
// The one global of the program beside metrics.h. Thread-safe. Control characters in values are escaped.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace hone {

enum class Level { debug, info, warning, error };

struct LogField {
    std::string_view name;
    std::variant<std::string, int64_t, double, bool> value;

    LogField(std::string_view field, std::string text) : name(field), value(std::move(text)) {}
    LogField(std::string_view field, std::string_view text) : name(field), value(std::string(text)) {}
    LogField(std::string_view field, const char* text) : name(field), value(std::string(text)) {}
    LogField(std::string_view field, double number) : name(field), value(number) {}
    LogField(std::string_view field, std::same_as<bool> auto flag) : name(field), value(flag) {}
    template <class Integer>
    requires(std::is_integral_v<Integer> && !std::same_as<Integer, bool>)
        LogField(std::string_view field, Integer number)
        : name(field),
          value(static_cast<int64_t>(number)) {}
};

void log(Level level, std::string_view phrase, std::initializer_list<LogField> fields = {});

enum class LogFormat { text, json };
// Called once in main, before threads start. Until then: text, info and above, to standard error.
void set_log(LogFormat format, Level at_least);

// What a line looks like, without the time; for tests.
std::string format_log_line(LogFormat format, Level level, std::string_view phrase,
                            std::initializer_list<LogField> fields);

} // namespace hone
