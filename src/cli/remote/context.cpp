#include "cli/remote/context.h"

#include "base/text.h"
#include "cli/table/error_code.h"
#include "cli/terminal/display.h"

namespace hone::cli {

Error Context::fail(Exit exit, std::string message, std::string hint) const {
    explanation.exit = exit;
    explanation.hint = std::move(hint);
    return {code_of(exit), std::move(message), {}};
}

Error Context::usage(std::string message) const {
    return fail(Exit::usage, std::move(message), "hone help " + parsed.path);
}

Result<std::optional<int64_t>> Context::integer(std::string_view option, int64_t minimum) const {
    const auto text = parsed.value(option);
    if (!text) return std::optional<int64_t>();
    const auto number = parse_integer(*text);
    if (!number.ok() || number.value() < minimum)
        return usage(std::string(option) + " must be a whole number of at least " + std::to_string(minimum));
    return std::optional(number.value());
}

Result<> Context::confirm(const std::string& warning, const std::string& word) const {
    if (parsed.has("--yes")) return {};
    if (!console.is_interactive())
        return fail(Exit::usage, safe_line(warning) + " Not confirmed: standard input is not a terminal.",
                    "add --yes to confirm");
    console.note(console.paint_note(Style::yellow, safe_line(warning)) + "\n");
    const std::string typed = TRY(console.prompt("Type " + safe_line(word) + " to continue: "));
    if (trim(typed) != word) return fail(Exit::usage, "cancelled: not confirmed");
    return {};
}

void Context::print(const std::string& sentence) const {
    if (!json()) console.print(safe_line(sentence) + "\n");
}

} // namespace hone::cli
