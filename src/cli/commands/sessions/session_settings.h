// The settings of a session that has no preset, from the options of `session start`, and the limits of a run. One
// thread.
#pragma once

#include "cli/remote/context.h"
#include "json/json.h"

namespace hone::cli {

// Whether an option states settings, which a preset has all of.
bool has_own_settings(const Context& context);
Result<json::Object> own_settings(const Context& context);
// Of --skill: presets and settings want ids, people know names.
Result<json::Array> skill_ids(const Context& context);

// The limits of the manifest as one text, in the field `limits` of the run.
void add_limits(const json::Value& manifest, json::Object& run);

} // namespace hone::cli
