// Fills the variables of a prompt's template. Mustache: {{name}}, {{a.b}}, sections and inverted sections, comments;
// nothing is escaped. F-string: {name}, with {{ and }} for braces. Strings are put in as they are, other values as
// JSON. A variable that is missing is an error, never an empty text. Pure: any thread.
#pragma once

#include "json/json.h"

#include <vector>

namespace hone::evaluate {

enum class TemplateFormat { mustache, f_string, none };
constexpr auto enum_names(TemplateFormat) {
    return std::array{EnumName{TemplateFormat::mustache, "MUSTACHE"}, EnumName{TemplateFormat::f_string, "F_STRING"},
                      EnumName{TemplateFormat::none, "NONE"}};
}

constexpr size_t largest_rendered = 8 << 20; // bytes of one rendered text

// Errors: malformed template, missing variables (all of them are named), a text that grows too large.
Result<std::string> render_template(TemplateFormat format, std::string_view text, const json::Object& variables);
// Whether it is well-formed.
Result<> check_template(TemplateFormat format, std::string_view text);

} // namespace hone::evaluate
