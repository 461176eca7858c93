// A comparison of two experiments, as the API returns it, for people: text, Markdown for a pull request, JUnit for
// continuous integration. Names come from outside and are made harmless. Pure; any thread.
#pragma once

#include "json/json.h"

#include <string>

namespace hone::cli {

std::string comparison_text(const json::Value& comparison);
std::string comparison_markdown(const json::Value& comparison);
std::string comparison_junit(const json::Value& comparison);
// Why the gate failed, in one line.
std::string first_reason(const json::Value& comparison);

} // namespace hone::cli
