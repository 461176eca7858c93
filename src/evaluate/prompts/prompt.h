// A prompt: a template with model settings. Its versions are immutable; tags point at versions. Values only; any
// thread.
#pragma once

#include "access/caller.h"
#include "json/json.h"

namespace hone::evaluate {

struct PromptTag {
    static constexpr std::string_view kind = "prompt";
};
struct PromptVersionTag {
    static constexpr std::string_view kind = "promptversion";
};
struct PromptMarkTag {
    static constexpr std::string_view kind = "prompttag";
};
using PromptId = Id<PromptTag>;
using PromptVersionId = Id<PromptVersionTag>;
using PromptMarkId = Id<PromptMarkTag>;

struct Prompt {
    PromptId id;
    access::SpaceId space_id;
    std::string name;
    std::string description;
    json::Value metadata = json::Object{};
    std::optional<PromptId> source_id;
    Time created_at{};
};

struct PromptVersion {
    PromptVersionId id;
    PromptId prompt_id;
    int64_t number = 0;
    json::Value content; // model_provider, model_name, template, …; without null
    std::string created_by;
    Time created_at{};
};

struct NewPrompt {
    std::string name;
    std::optional<std::string> description{};
    json::Value metadata = json::Object{};
    std::optional<PromptId> source{};
};

struct PromptChange {
    std::optional<std::string> description{};
    std::optional<json::Value> metadata{};
};

struct PromptMark {
    PromptMarkId id;
    std::string name;
    std::string description;
};

struct PromptTagMoveTag {
    static constexpr std::string_view kind = "tagmove";
};

// A tag that was set, moved to another version or removed.
struct PromptTagMove {
    Id<PromptTagMoveTag> id;
    std::string tag;
    std::optional<int64_t> from_version;
    std::optional<int64_t> to_version;
    std::string moved_by;
    Time moved_at{};
    static constexpr Pack fields{
        Field{"id", &PromptTagMove::id, "Id."},
        Field{"tag", &PromptTagMove::tag, "Name of the tag."},
        Field{"from_version", &PromptTagMove::from_version, "Number of the version that had it; null: none had it."},
        Field{"to_version", &PromptTagMove::to_version,
              "Number of the version that has it since; null: it was removed."},
        Field{"moved_by", &PromptTagMove::moved_by, "Name of the user or key; empty: not recorded then."},
        Field{"moved_at", &PromptTagMove::moved_at, "Time of the change."},
    };
};

struct ProtectedPromptTag {
    std::string name;
    std::string created_by;
    Time created_at{};
    static constexpr Pack fields{
        Field{"name", &ProtectedPromptTag::name, "Name of the tag, in all prompts of the space."},
        Field{"created_by", &ProtectedPromptTag::created_by, "Name of the user or key that protected it."},
        Field{"created_at", &ProtectedPromptTag::created_at, "Time of the protection."},
    };
};

} // namespace hone::evaluate
