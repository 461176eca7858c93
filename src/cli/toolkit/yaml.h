// YAML for files that people keep in git, read by `json::parse_yaml`. Any thread.
#pragma once

#include "json/yaml.h"

namespace hone::cli {

using json::parse_yaml;

// Text that other programs could read as something else is quoted, several lines become a block, and what must not
// reach a terminal is escaped. What parse_yaml reads back is the same value.
std::string print_yaml(const json::Value& value);

} // namespace hone::cli
