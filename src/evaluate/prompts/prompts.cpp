#include "evaluate/prompts/prompts.h"

#include "access/page.h"
#include "base/text.h"
#include "sql/columns.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

json::Value parsed(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(json::Object{});
}

constexpr Pack prompt_columns{
    sql::Column{"id", &Prompt::id},
    sql::Column{"space_id", &Prompt::space_id},
    sql::Column{"name", &Prompt::name},
    sql::Column{"description", &Prompt::description},
    sql::Column{"metadata", sql::Converted{[](Prompt& prompt, const sql::Row& row, size_t at) {
                    prompt.metadata = parsed(row.text(at));
                }}},
    sql::Column{"source_id", &Prompt::source_id},
    sql::Column{"created_at", &Prompt::created_at},
};
constexpr Pack prompt_version_columns{
    sql::Column{"id", &PromptVersion::id},
    sql::Column{"prompt_id", &PromptVersion::prompt_id},
    sql::Column{"number", &PromptVersion::number},
    sql::Column{"content", sql::Converted{[](PromptVersion& version, const sql::Row& row, size_t at) {
                    version.content = parsed(row.text(at));
                }}},
    sql::Column{"created_by_name", &PromptVersion::created_by},
    sql::Column{"created_at", &PromptVersion::created_at},
};
const std::string select_prompt = "SELECT " + sql::names(prompt_columns) + " FROM prompts";
const std::string select_prompt_version =
    "SELECT " + sql::names(prompt_version_columns, "v.") + " FROM prompt_versions v";

PromptVersion prompt_version_of(const sql::Row& row) {
    return sql::read<PromptVersion>(prompt_version_columns, row);
}

// ^[a-z0-9]([_a-z0-9-]*[a-z0-9])?$
Result<std::string> checked_identifier(std::string_view what, const std::string& name) {
    const bool is_good = !name.empty() && name.size() <= 200 &&
                         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos &&
                         name.front() != '_' && name.front() != '-' && name.back() != '_' && name.back() != '-';
    if (!is_good)
        return invalid(std::string(what) + " has letters in lower case, digits, - and _, and begins and ends with a "
                                           "letter or digit");
    return name;
}

Result<> check_prompt_text(std::string_view what, const std::string& text) {
    if (text.size() > 10'000 || !is_valid_utf8(text) || text.find('\0') != std::string::npos)
        return invalid(std::string(what) + " must be UTF-8 text of at most 10000 bytes");
    return {};
}

Result<> check_prompt_metadata(const json::Value& metadata) {
    if (!metadata.is_object()) return invalid("metadata must be an object");
    if (json::print(metadata).size() > 64 << 10) return invalid("metadata must be at most 65536 bytes of JSON");
    return {};
}

Result<std::string> text_in(const json::Object& object, std::string_view path, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    if (found == nullptr || !found->is_string()) return invalid(fmt::format("{}.{} must be a string", path, key));
    return std::string(found->get_string());
}

Result<> check_one_of(std::string_view what, std::string_view text, std::span<const std::string_view> choices) {
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
    std::string list;
    for (const std::string_view choice : choices) list += (list.empty() ? "" : ", ") + std::string(choice);
    return invalid(fmt::format("{} must be one of {}", what, list));
}

Result<> check_messages(const json::Object& prompt_template) {
    constexpr std::string_view roles[] = {"user", "assistant", "model", "ai", "tool", "system", "developer"};
    const json::Value* messages = prompt_template.if_contains("messages");
    if (messages == nullptr || !messages->is_array()) return invalid("version.template.messages must be a list");
    for (size_t i = 0; i < messages->get_array().size(); ++i) {
        const std::string path = fmt::format("version.template.messages[{}]", i);
        const json::Value& message = messages->get_array()[i];
        if (!message.is_object()) return invalid(path + " must be an object");
        TRY(check_one_of(path + ".role", TRY(text_in(message.get_object(), path, "role")), roles));
        const json::Value* content = message.get_object().if_contains("content");
        if (content == nullptr || !(content->is_string() || content->is_array()))
            return invalid(path + ".content must be a string or a list of parts");
        if (content->is_array())
            for (const json::Value& part : content->get_array())
                if (!part.is_object() || !part.get_object().contains("type"))
                    return invalid(path + ".content must be a list of parts with a type");
    }
    return {};
}

Result<> check_content(const json::Value& content) {
    constexpr std::string_view providers[] = {"OPENAI", "AZURE_OPENAI", "ANTHROPIC",  "GOOGLE",   "DEEPSEEK",
                                              "XAI",    "OLLAMA",       "AWS",        "CEREBRAS", "FIREWORKS",
                                              "GROQ",   "MOONSHOT",     "PERPLEXITY", "TOGETHER"};
    constexpr std::string_view formats[] = {"MUSTACHE", "F_STRING", "NONE"};
    if (!content.is_object()) return invalid("version must be an object");
    const json::Object& object = content.get_object();
    const std::string provider = TRY(text_in(object, "version", "model_provider"));
    TRY(check_one_of("version.model_provider", provider, providers));
    if (TRY(text_in(object, "version", "model_name")).empty()) return invalid("version.model_name must not be empty");
    TRY(check_one_of("version.template_format", TRY(text_in(object, "version", "template_format")), formats));
    if (TRY(text_in(object, "version", "template_type")) != "CHAT")
        return invalid("version.template_type must be CHAT: only chat templates are stored");
    const json::Value* prompt_template = object.if_contains("template");
    if (prompt_template == nullptr || !prompt_template->is_object())
        return invalid("version.template must be an object");
    if (TRY(text_in(prompt_template->get_object(), "version.template", "type")) != "chat")
        return invalid("version.template.type must be chat");
    TRY(check_messages(prompt_template->get_object()));
    const json::Value* parameters = object.if_contains("invocation_parameters");
    if (parameters == nullptr || !parameters->is_object())
        return invalid("version.invocation_parameters must be an object");
    const std::string type = TRY(text_in(parameters->get_object(), "version.invocation_parameters", "type"));
    if (type != lowercase_ascii(provider))
        return invalid("version.invocation_parameters.type must be " + lowercase_ascii(provider));
    const json::Value* of_provider = parameters->get_object().if_contains(type);
    if (of_provider == nullptr || !of_provider->is_object())
        return invalid("version.invocation_parameters." + type + " must be an object");
    return {};
}

// Clients read a missing key, but not null.
void leave_out_nulls(json::Value& value) {
    if (!value.is_object()) return;
    std::vector<std::string> nulls;
    for (const auto& entry : value.get_object())
        if (entry.value().is_null()) nulls.emplace_back(entry.key());
    for (const std::string& key : nulls) value.get_object().erase(key);
}

// Refuses to touch a protected tag. In the transaction of the change, so that a protection holds from its commit on.
Result<> check_protection(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                          const std::string& tag) {
    const auto rows = TRY(transaction.query(
        "SELECT created_by_name FROM protected_prompt_tags WHERE space_id = ? AND name = ?", space, tag));
    if (rows.empty() || caller.require(Permission::space_update, space).ok()) return {};
    return forbidden(fmt::format("the tag {} is protected (by {}): only members with space_update, which are admins "
                                 "and owners of the space, can set, move or remove it",
                                 tag, rows.front().text(0)));
}

Result<Prompt> allowed_prompt(const Caller& caller, Prompt found, Permission permission, std::string_view what) {
    const auto allowed = caller.require(permission, found.space_id);
    if (allowed.ok()) return found;
    if (allowed.error().code == Code::not_found) return not_found("prompt " + std::string(truncate_utf8(what, 100)));
    return allowed.error();
}

} // namespace

Result<json::Value> Prompts::checked_content(json::Value content) {
    leave_out_nulls(content);
    TRY(check_content(content));
    if (json::print(content).size() > largest_prompt) return too_large("a prompt version has at most 1 MiB of JSON");
    return content;
}

Result<Page<Prompt>> Prompts::list(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::dataset_read, space));
    const std::string after = TRY(page.after());
    std::string sql = select_prompt + " WHERE space_id = ?";
    std::vector<sql::Value> values{sql::to_value(space)};
    if (!after.empty()) {
        sql += " AND id < ?";
        values.push_back(sql::to_value(after));
    }
    sql += " ORDER BY id DESC LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<Prompt> found;
    for (const auto& row : TRY(m_database.run_query(sql, values)))
        found.push_back(sql::read<Prompt>(prompt_columns, row));
    return access::make_page(std::move(found), page, [](const Prompt& one) { return one.id.text(); });
}

Result<Prompt> Prompts::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                             Permission permission) const {
    const auto absent = [&] { return not_found("prompt " + std::string(truncate_utf8(id_or_name, 100))); };
    if (!is_valid_utf8(id_or_name) || id_or_name.find('\0') != id_or_name.npos) return absent();
    const auto rows =
        TRY(m_database.query(select_prompt + " WHERE id = ? OR (space_id = ? AND name = ?) ORDER BY CASE WHEN id = ? "
                                             "THEN 0 ELSE 1 END LIMIT 1",
                             id_or_name, space, id_or_name, id_or_name));
    if (rows.empty()) return absent();
    return allowed_prompt(caller, sql::read<Prompt>(prompt_columns, rows.front()), permission, id_or_name);
}

Result<Prompt> Prompts::prompt(const Caller& caller, const PromptId& id, Permission permission) const {
    const auto rows = TRY(m_database.query(select_prompt + " WHERE id = ?", id));
    if (rows.empty()) return not_found("prompt " + id.text());
    return allowed_prompt(caller, sql::read<Prompt>(prompt_columns, rows.front()), permission, id.text());
}

Result<PromptVersion> Prompts::add_version(const Caller& caller, const SpaceId& space, const NewPrompt& wanted,
                                           json::Value content) {
    TRY(caller.require(Permission::prompt_write, space));
    const std::string name = TRY(checked_identifier("prompt.name", wanted.name));
    TRY(check_prompt_text("prompt.description", wanted.description.value_or("")));
    TRY(check_prompt_metadata(wanted.metadata));
    if (wanted.source && TRY(prompt(caller, *wanted.source, Permission::dataset_read)).space_id != space)
        return not_found("prompt " + wanted.source->text());
    content = TRY(checked_content(std::move(content)));
    const std::string text = json::print(content);
    const PromptId new_id = make_id<PromptTag>(m_clock);
    const PromptVersionId version_id = make_id<PromptVersionTag>(m_clock);
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("INSERT INTO prompts (id, space_id, name, description, metadata, source_id, "
                                "created_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (space_id, name) DO NOTHING",
                                new_id, space, name, wanted.description.value_or(""), json::print(wanted.metadata),
                                wanted.source, now));
        const auto rows = TRY(transaction.query(
            "SELECT p.id, (SELECT COALESCE(MAX(v.number), 0) FROM prompt_versions v WHERE v.prompt_id = p.id) FROM "
            "prompts p WHERE p.space_id = ? AND p.name = ?",
            space, name));
        if (rows.empty()) return busy("the prompt is being changed by another request; try again");
        TRY(transaction.execute("INSERT INTO prompt_versions (id, prompt_id, number, content, created_by, "
                                "created_by_name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                                version_id, rows.front().text(0), rows.front().integer(1) + 1, text, caller.actor(),
                                caller.name, now));
        return m_access.audit.record(
            transaction, caller,
            {"prompt_version", space, rows.front().text(0), {{"name", name}, {"number", rows.front().integer(1) + 1}}});
    }));
    return version(caller, version_id);
}

Result<Prompt> Prompts::update(const Caller& caller, const PromptId& id, const PromptChange& change) {
    Prompt changed = TRY(prompt(caller, id, Permission::prompt_write));
    if (change.description) {
        TRY(check_prompt_text("description", *change.description));
        changed.description = *change.description;
    }
    if (change.metadata) {
        TRY(check_prompt_metadata(*change.metadata));
        changed.metadata = *change.metadata;
    }
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE prompts SET description = ?, metadata = ? WHERE id = ?", changed.description,
                                json::print(changed.metadata), id));
        return m_access.audit.record(transaction, caller,
                                     {"prompt_update", changed.space_id, id.text(), {{"name", changed.name}}});
    }));
    return changed;
}

Result<> Prompts::remove(const Caller& caller, const PromptId& id) {
    const Prompt gone = TRY(prompt(caller, id, Permission::prompt_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const auto& row : TRY(transaction.query("SELECT name FROM prompt_tags WHERE prompt_id = ?", id)))
            TRY(check_protection(transaction, caller, gone.space_id, row.text(0)));
        TRY(transaction.execute("DELETE FROM prompts WHERE id = ?", id));
        return m_access.audit.record(transaction, caller,
                                     {"prompt_delete", gone.space_id, id.text(), {{"name", gone.name}}});
    });
}

Result<Page<PromptVersion>> Prompts::versions(const Caller& caller, const PromptId& id, const PageRequest& page) const {
    TRY(prompt(caller, id, Permission::dataset_read));
    const std::string after = TRY(page.after());
    int64_t below = INT64_MAX;
    if (!after.empty()) {
        const auto number = parse_integer(after);
        if (!number.ok()) return invalid("cursor is not valid for this list");
        below = number.value();
    }
    std::vector<PromptVersion> found;
    for (const auto& row : TRY(m_database.query(
             select_prompt_version + " WHERE v.prompt_id = ? AND v.number < ? ORDER BY v.number DESC LIMIT ?", id,
             below, page.limit + 1)))
        found.push_back(prompt_version_of(row));
    return access::make_page(std::move(found), page,
                             [](const PromptVersion& one) { return std::to_string(one.number); });
}

Result<PromptVersion> Prompts::latest(const Caller& caller, const PromptId& id) const {
    TRY(prompt(caller, id, Permission::dataset_read));
    const auto rows =
        TRY(m_database.query(select_prompt_version + " WHERE v.prompt_id = ? ORDER BY v.number DESC LIMIT 1", id));
    if (rows.empty()) return not_found("a version of prompt " + id.text());
    return prompt_version_of(rows.front());
}

Result<PromptVersion> Prompts::tagged(const Caller& caller, const PromptId& id, std::string_view tag) const {
    const Prompt of = TRY(prompt(caller, id, Permission::dataset_read));
    const auto absent = [&] {
        return not_found("tag " + std::string(truncate_utf8(tag, 100)) + " of prompt " + of.name);
    };
    if (!is_valid_utf8(tag) || tag.find('\0') != tag.npos) return absent();
    const auto rows = TRY(m_database.query(
        select_prompt_version + " JOIN prompt_tags t ON t.version_id = v.id WHERE t.prompt_id = ? AND t.name = ?", id,
        tag));
    if (rows.empty()) return absent();
    return prompt_version_of(rows.front());
}

Result<PromptVersion> Prompts::numbered(const Caller& caller, const PromptId& id, int64_t number) const {
    const Prompt of = TRY(prompt(caller, id, Permission::dataset_read));
    const auto rows =
        TRY(m_database.query(select_prompt_version + " WHERE v.prompt_id = ? AND v.number = ?", id, number));
    if (rows.empty()) return not_found(fmt::format("version {} of prompt {}", number, of.name));
    return prompt_version_of(rows.front());
}

Result<PromptVersion> Prompts::version(const Caller& caller, const PromptVersionId& id, Permission permission) const {
    const auto rows = TRY(m_database.query(select_prompt_version + " WHERE v.id = ?", id));
    if (rows.empty()) return not_found("prompt version " + id.text());
    PromptVersion found = prompt_version_of(rows.front());
    const auto of = prompt(caller, found.prompt_id, permission);
    if (!of.ok()) return of.error().code == Code::not_found ? not_found("prompt version " + id.text()) : of.error();
    return found;
}

Result<Page<PromptMark>> Prompts::tags(const Caller& caller, const PromptVersionId& id, const PageRequest& page) const {
    TRY(version(caller, id));
    std::vector<PromptMark> found;
    for (const auto& row : TRY(m_database.query("SELECT id, name, description FROM prompt_tags WHERE version_id = ? "
                                                "AND name > ? ORDER BY name LIMIT ?",
                                                id, TRY(page.after()), page.limit + 1)))
        found.push_back({row.id<PromptMarkTag>(0), row.text(1), row.text(2)});
    return access::make_page(std::move(found), page, [](const PromptMark& one) { return one.name; });
}

Result<> Prompts::set_tag(const Caller& caller, const PromptVersionId& id, const std::string& name,
                          const std::string& description) {
    const PromptVersion of = TRY(version(caller, id, Permission::prompt_write));
    const Prompt parent = TRY(prompt(caller, of.prompt_id, Permission::prompt_write));
    TRY(checked_identifier("name", name));
    TRY(check_prompt_text("description", description));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(check_protection(transaction, caller, parent.space_id, name));
        const auto before = TRY(transaction.query("SELECT v.number FROM prompt_tags t JOIN prompt_versions v ON v.id = "
                                                  "t.version_id WHERE t.prompt_id = ? AND t.name = ?",
                                                  of.prompt_id, name));
        const auto from = before.empty() ? std::nullopt : std::optional(before.front().integer(0));
        TRY(transaction.execute(
            "INSERT INTO prompt_tags (id, prompt_id, version_id, name, description, updated_at) VALUES (?, ?, ?, ?, ?, "
            "?) ON CONFLICT (prompt_id, name) DO UPDATE SET version_id = excluded.version_id, description = "
            "excluded.description, updated_at = excluded.updated_at",
            make_id<PromptMarkTag>(m_clock), of.prompt_id, id, name, description, m_clock.now()));
        if (from != of.number) TRY(record_move(transaction, caller, of.prompt_id, name, from, of.number));
        return m_access.audit.record(
            transaction, caller,
            {"prompt_tag", parent.space_id, of.prompt_id.text(), {{"tag", name}, {"version", of.number}}});
    });
}

Result<> Prompts::remove_tag(const Caller& caller, const PromptVersionId& id, const std::string& name) {
    const PromptVersion of = TRY(version(caller, id, Permission::prompt_write));
    const Prompt parent = TRY(prompt(caller, of.prompt_id, Permission::prompt_write));
    if (!is_valid_utf8(name) || name.find('\0') != std::string::npos) return not_found("this tag");
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(check_protection(transaction, caller, parent.space_id, name));
        if (TRY(transaction.execute("DELETE FROM prompt_tags WHERE version_id = ? AND name = ?", id, name)) == 0)
            return not_found("tag " + std::string(truncate_utf8(name, 100)));
        TRY(record_move(transaction, caller, of.prompt_id, name, of.number, {}));
        return m_access.audit.record(transaction, caller,
                                     {"prompt_untag", parent.space_id, of.prompt_id.text(), {{"tag", name}}});
    });
}

Result<std::vector<ProtectedPromptTag>> Prompts::protected_tags(const Caller& caller, const SpaceId& space) const {
    TRY(caller.require(Permission::dataset_read, space));
    std::vector<ProtectedPromptTag> found;
    for (const auto& row : TRY(m_database.query("SELECT name, created_by_name, created_at FROM protected_prompt_tags "
                                                "WHERE space_id = ? ORDER BY name",
                                                space)))
        found.push_back({row.text(0), row.text(1), row.time(2)});
    return found;
}

Result<ProtectedPromptTag> Prompts::protect_tag(const Caller& caller, const SpaceId& space, const std::string& name) {
    constexpr size_t most_protected = 100;
    TRY(caller.require(Permission::space_update, space));
    const ProtectedPromptTag made{TRY(checked_identifier("name", name)), caller.name, m_clock.now()};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count =
            TRY(transaction.query("SELECT COUNT(*) FROM protected_prompt_tags WHERE space_id = ?", space));
        if (count.front().integer(0) >= static_cast<int64_t>(most_protected))
            return invalid(fmt::format("a space has at most {} protected tags", most_protected));
        const auto added = TRY(transaction.execute(
            "INSERT INTO protected_prompt_tags (space_id, name, created_by_name, created_at) VALUES (?, ?, ?, ?) ON "
            "CONFLICT (space_id, name) DO NOTHING",
            space, made.name, made.created_by, made.created_at));
        if (added == 0) return conflict("the tag " + made.name + " is protected already");
        return m_access.audit.record(transaction, caller,
                                     {"prompt_tag_protect", space, space.text(), {{"tag", made.name}}});
    }));
    return made;
}

Result<> Prompts::unprotect_tag(const Caller& caller, const SpaceId& space, const std::string& name) {
    TRY(caller.require(Permission::space_update, space));
    if (!is_valid_utf8(name) || name.find('\0') != std::string::npos) return not_found("this protected tag");
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(transaction.execute("DELETE FROM protected_prompt_tags WHERE space_id = ? AND name = ?", space,
                                    name)) == 0)
            return not_found("protected tag " + std::string(truncate_utf8(name, 100)));
        return m_access.audit.record(transaction, caller,
                                     {"prompt_tag_unprotect", space, space.text(), {{"tag", name}}});
    });
}

} // namespace hone::evaluate
