// Prompts of spaces with their versions and tags. Thread-safe.
#pragma once

#include "access/access.h"
#include "evaluate/prompts/prompt.h"

namespace hone::evaluate {

constexpr size_t largest_prompt = 1 << 20; // bytes of JSON of one version

class Prompts {
public:
    Prompts(sql::Database& database, const Clock& clock, access::Access& access)
        : m_database(database),
          m_clock(clock),
          m_access(access) {}

    // Newest first.
    Result<access::Page<Prompt>> list(const access::Caller& caller, const access::SpaceId& space,
                                      const access::PageRequest& page) const;
    // By id, or by name within `space`.
    Result<Prompt> find(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name,
                        access::Permission permission = access::Permission::dataset_read) const;
    // Adds a version; makes the prompt when there is none with this name, else its description and metadata stay.
    Result<PromptVersion> add_version(const access::Caller& caller, const access::SpaceId& space,
                                      const NewPrompt& prompt, json::Value content);
    Result<Prompt> update(const access::Caller& caller, const PromptId& id, const PromptChange& change);
    Result<> remove(const access::Caller& caller, const PromptId& id);

    // Newest first.
    Result<access::Page<PromptVersion>> versions(const access::Caller& caller, const PromptId& id,
                                                 const access::PageRequest& page) const;
    Result<PromptVersion> latest(const access::Caller& caller, const PromptId& id) const;
    Result<PromptVersion> tagged(const access::Caller& caller, const PromptId& id, std::string_view tag) const;
    Result<PromptVersion> numbered(const access::Caller& caller, const PromptId& id, int64_t number) const;
    Result<PromptVersion> version(const access::Caller& caller, const PromptVersionId& id,
                                  access::Permission permission = access::Permission::dataset_read) const;

    // By name.
    Result<access::Page<PromptMark>> tags(const access::Caller& caller, const PromptVersionId& id,
                                          const access::PageRequest& page) const;
    // Moves the tag when another version of the prompt has it.
    Result<> set_tag(const access::Caller& caller, const PromptVersionId& id, const std::string& name,
                     const std::string& description);
    Result<> remove_tag(const access::Caller& caller, const PromptVersionId& id, const std::string& name);

    // Who moved tags of the prompt, from which version to which; newest first. `tag` empty: of all tags.
    Result<access::Page<PromptTagMove>> tag_moves(const access::Caller& caller, const PromptId& id,
                                                  const std::string& tag, const access::PageRequest& page) const;

    // Tags that only holders of space_update set, move and remove, in all prompts of a space. By name.
    Result<std::vector<ProtectedPromptTag>> protected_tags(const access::Caller& caller,
                                                           const access::SpaceId& space) const;
    Result<ProtectedPromptTag> protect_tag(const access::Caller& caller, const access::SpaceId& space,
                                           const std::string& name);
    Result<> unprotect_tag(const access::Caller& caller, const access::SpaceId& space, const std::string& name);

    // The content of a version as it would be stored.
    static Result<json::Value> checked_content(json::Value content);

private:
    Result<> record_move(sql::Transaction& transaction, const access::Caller& caller, const PromptId& id,
                         const std::string& tag, std::optional<int64_t> from, std::optional<int64_t> to) const;
    Result<Prompt> prompt(const access::Caller& caller, const PromptId& id, access::Permission permission) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
};

} // namespace hone::evaluate
