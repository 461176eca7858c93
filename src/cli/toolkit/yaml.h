// YAML for files that people keep in git: the part of it that means the same as JSON. A plain word that JSON reads as a
// number, true, false or null is that (also `~`, nothing at all, and True or TRUE as YAML 1.2 has them); every other
// one is text: `no`, `2026-01-01` and `1_000` stay what they look like. Anchors, aliases, tags and several documents in
// one file are refused. Wraps libyaml. Any thread.
#pragma once

#include "json/json.h"

namespace hone::cli {

// Errors name the line. Keys that appear twice, bad UTF-8 and nesting beyond json::max_depth are errors.
Result<json::Value> parse_yaml(std::string_view text);

// Text that other programs could read as something else is quoted, several lines become a block, and what must not
// reach a terminal is escaped. What parse_yaml reads back is the same value.
std::string print_yaml(const json::Value& value);

} // namespace hone::cli
