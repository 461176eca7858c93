// The history of the tags of prompts.
#include "access/page.h"
#include "base/text.h"
#include "evaluate/prompts/prompts.h"

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission;

Result<> Prompts::record_move(sql::Transaction& transaction, const Caller& caller, const PromptId& id,
                              const std::string& tag, std::optional<int64_t> from, std::optional<int64_t> to) const {
    TRY(transaction.execute("INSERT INTO prompt_tag_moves (id, prompt_id, tag, from_number, to_number, moved_by_name, "
                            "created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                            make_id<PromptTagMoveTag>(m_clock), id, tag, from, to, caller.name, m_clock.now()));
    return {};
}

Result<Page<PromptTagMove>> Prompts::tag_moves(const Caller& caller, const PromptId& id, const std::string& tag,
                                               const PageRequest& page) const {
    TRY(prompt(caller, id, Permission::dataset_read));
    if (!is_valid_utf8(tag) || tag.find('\0') != std::string::npos) return invalid("tag must be UTF-8 text");
    // "time:id" of the last one before.
    const std::string after = TRY(page.after());
    int64_t before_ns = INT64_MAX;
    std::string before_id;
    if (const size_t colon = after.find(':'); colon != std::string::npos) {
        const auto time = parse_integer(std::string_view(after).substr(0, colon));
        if (!time.ok()) return invalid("cursor is not valid for this list");
        before_ns = time.value();
        before_id = after.substr(colon + 1);
    } else if (!after.empty()) {
        return invalid("cursor is not valid for this list");
    }
    std::vector<PromptTagMove> found;
    for (const auto& row : TRY(m_database.query(
             "SELECT id, tag, from_number, to_number, moved_by_name, created_at FROM prompt_tag_moves WHERE prompt_id "
             "= "
             "? AND (? = '' OR tag = ?) AND (created_at < ? OR (created_at = ? AND id < ?)) ORDER BY created_at DESC, "
             "id DESC LIMIT ?",
             id, tag, tag, before_ns, before_ns, before_id, page.limit + 1)))
        found.push_back({row.id<PromptTagMoveTag>(0), row.text(1), row.optional_integer(2), row.optional_integer(3),
                         row.text(4), row.time(5)});
    return access::make_page(std::move(found), page, [](const PromptTagMove& one) {
        return std::to_string(to_ns(one.moved_at)) + ":" + one.id.text();
    });
}

} // namespace hone::evaluate
