// YAML for files that people keep: the part of it that means the same as JSON. A plain word that JSON reads as a
// number, true, false or null is that (also `~`, nothing at all, and True or TRUE as YAML 1.2 has them); every other
// one is text: `no`, `2026-01-01` and `1_000` stay what they look like. Anchors, aliases, tags and several documents in
// one file are refused. Wraps libyaml. Any thread.
#pragma once

#include "json/json.h"

namespace hone::json {

// Errors name the line. Keys that appear twice, bad UTF-8 and nesting beyond max_depth are errors.
Result<Value> parse_yaml(std::string_view text);

} // namespace hone::json
