// What workers read about the skills that Hone has built in: a SKILL.md for each type with something to teach, and one
// about Hone's own tools for every worker. Texts only; any thread.
#pragma once

#include "skill/types.h"

#include <optional>
#include <string>

namespace hone::skill {

struct Instructions {
    std::string_view name; // of its folder: hone-github
    std::string_view text; // SKILL.md, with its front matter
};

// Nothing for model, whose key no worker uses, and for custom, which brings its own folder.
std::optional<Instructions> built_in_instructions(SkillType type);
// How to read traces and save results inside a run.
Instructions trace_instructions();

} // namespace hone::skill
