#include "skill/skills.h"

#include "access/names.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::skill {

namespace {

using access::Caller;
using access::Permission;
using access::SpaceId;
using secret::Scope;

constexpr Pack share_columns{
    sql::Column{"space_id", &Share::space_id},
    sql::Column{"created_at", &Share::created_at},
};

constexpr Pack version_columns{
    sql::Column{"version", &SkillVersion::version},
    sql::Column{"summary", &SkillVersion::summary},
    sql::Column{"changed_by_name", &SkillVersion::changed_by},
    sql::Column{"changed_at", &SkillVersion::changed_at},
    sql::Column{"setup", sql::Converted{[](SkillVersion& version, const sql::Row& row, size_t at) -> Result<> {
                    version.setup = TRY(json::read<Setup>(row.text(at)));
                    return {};
                }}},
};

SkillScope scope_kind(const Scope& scope) {
    return scope.space ? SkillScope::space : SkillScope::installation;
}

} // namespace

// --- loading and permission ----------------------------------------------------------------------------------------

struct Skills::Columns {
    static constexpr Pack list{
        sql::Column{"id", &Stored::id},
        sql::Column{"space_id", sql::in(&Stored::scope, &Scope::space)},
        sql::Column{"name", &Stored::name},
        sql::Column{"type", sql::Converted{[](Stored& stored, const sql::Row& row, size_t at) -> Result<> {
                        const auto type = parse_enum<SkillType>(row.text(at));
                        if (!type)
                            return corrupt("skill " + stored.id.text() + " has a type that this build does not know");
                        stored.type = *type;
                        return {};
                    }}},
        sql::Column{"description", &Stored::description},
        sql::Column{"version", &Stored::version},
        sql::Column{"setup", sql::Converted{[](Stored& stored, const sql::Row& row, size_t at) -> Result<> {
                        auto setup = json::read<Setup>(row.text(at));
                        if (!setup.ok()) return corrupt("skill " + stored.id.text() + ": " + setup.error().message);
                        stored.setup = std::move(setup).value();
                        return {};
                    }}},
        sql::Column{"created_by", &Stored::created_by},
        sql::Column{"created_at", &Stored::created_at},
        sql::Column{"updated_at", &Stored::updated_at},
    };
    static std::string select() { return "SELECT " + sql::names(list) + " FROM skills"; }
};

Result<Skills::Stored> Skills::stored_of(const sql::Row& row) {
    return sql::read<Stored>(Columns::list, row);
}

Result<Skills::Stored> Skills::load(const SkillId& id) const {
    const auto rows = TRY(m_database.query(Columns::select() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("skill " + id.text());
    return stored_of(rows.front());
}

Result<Skills::Stored> Skills::load(sql::Transaction& transaction, const SkillId& id) {
    const auto rows = TRY(transaction.query(Columns::select() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("skill " + id.text());
    return stored_of(rows.front());
}

Result<bool> Skills::is_shared_with(const SkillId& id, const SpaceId& space) const {
    const auto rows =
        TRY(m_database.query("SELECT 1 FROM skill_shares WHERE skill_id = ? AND space_id = ?", id, space));
    return !rows.empty();
}

Result<bool> Skills::is_shared(sql::Transaction& transaction, const std::string& skill_id, const SpaceId& space) const {
    const auto rows =
        TRY(transaction.query("SELECT 1 FROM skill_shares WHERE skill_id = ? AND space_id = ?", skill_id, space));
    return !rows.empty();
}

Result<int64_t> Skills::count_models(sql::Database& database) {
    const auto rows = TRY(database.query("SELECT COUNT(*) FROM skills WHERE type = 'model'"));
    return rows.front().integer(0);
}

Result<bool> Skills::sees_shared(const Caller& caller, const SkillId& id) const {
    const auto rows = TRY(m_database.query("SELECT space_id FROM skill_shares WHERE skill_id = ?", id));
    for (const auto& row : rows)
        if (caller.permissions_in(row.id<access::SpaceTag>(0)).has(Permission::skill_read)) return true;
    return false;
}

Result<Skills::Stored> Skills::permitted(const Caller& caller, const SkillId& id, Permission permission) const {
    auto stored = TRY(load(id));
    if (stored.scope.space) {
        auto allowed = caller.require(permission, *stored.scope.space);
        if (!allowed.ok() && allowed.error().code == Code::not_found) return not_found("skill " + id.text());
        TRY(std::move(allowed));
        return stored;
    }
    if (caller.permissions_of_installation().has(Permission::skill_share)) return stored;
    if (!TRY(sees_shared(caller, id))) return not_found("skill " + id.text());
    if (permission != Permission::skill_read)
        return forbidden("the skill belongs to the installation: its owners change it");
    return stored;
}

// --- views ---------------------------------------------------------------------------------------------------------

std::vector<Reminder> Skills::reminders_of(const secret::SecretInfo& info) const {
    std::vector<Reminder> reminders;
    const Time now = m_clock.now();
    if (now - info.set_at > m_hygiene.old_after) reminders.push_back(Reminder::old);
    if (now - info.last_used_at.value_or(info.set_at) > m_hygiene.unused_after) reminders.push_back(Reminder::unused);
    return reminders;
}

Result<Skills::SecretInfos> Skills::secret_infos(const SkillId& id) const {
    SecretInfos infos;
    for (auto& info : TRY(m_vault.of_skill(id.text()))) {
        const std::string name = info.name;
        infos.emplace(name, std::move(info));
    }
    return infos;
}

Result<std::vector<Share>> Skills::shares_of(const SkillId& id) const {
    const auto rows = TRY(m_database.query(
        "SELECT " + sql::names(share_columns) + " FROM skill_shares WHERE skill_id = ? LIMIT 1000", id));
    std::vector<Share> all;
    for (const auto& row : rows) all.push_back(sql::read<Share>(share_columns, row));
    std::vector<SpaceId> spaces;
    for (const Share& share : all) spaces.push_back(share.space_id);
    const auto names = TRY(m_access.spaces.names(spaces));
    std::vector<Share> shares;
    for (Share& share : all) {
        const auto named = names.find(share.space_id);
        if (named == names.end()) continue;
        share.name = named->second;
        shares.push_back(std::move(share));
    }
    std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.name < b.name; });
    return shares;
}

Result<std::vector<Use>> Skills::uses_of(const SkillId& id) const {
    std::vector<Use> uses;
    for (const SkillUse* each : m_uses)
        for (auto& use : TRY(each->uses_of(id.text()))) uses.push_back(std::move(use));
    return uses;
}

Result<Skill> Skills::view_of(const Caller& caller, const Stored& stored) const {
    Skill view;
    view.id = stored.id;
    view.name = stored.name;
    view.type = stored.type;
    view.scope = scope_kind(stored.scope);
    view.space_id = stored.scope.space;
    view.description = stored.description;
    view.version = stored.version;
    view.git = stored.setup.git;
    view.folder = stored.setup.folder;
    view.created_by = stored.created_by;
    view.created_at = stored.created_at;
    view.updated_at = stored.updated_at;
    view.warnings = warnings_of(stored.type, stored.setup);
    auto bindings = TRY(bindings_of(stored.type, stored.setup, {Audience::worker, std::nullopt}));
    for (auto& binding : TRY(bindings_of(stored.type, stored.setup, {Audience::delivery, std::nullopt})))
        if (binding.variable == "GH_DELIVERY_TOKEN") bindings.push_back(std::move(binding));
    const auto infos = TRY(secret_infos(stored.id));
    for (const auto& binding : bindings)
        if (binding.variable.empty())
            for (const auto& host : binding.hosts) view.allow.push_back(Host::of(host));
    for (const auto& variable : variables_of(stored.type, stored.setup)) {
        VariableView shown{variable.name,
                           variable.secret,
                           variable.required,
                           variable.help,
                           variable.choices,
                           variable.default_value,
                           {},
                           variable.is_set,
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}};
        if (!variable.secret) {
            shown.value = variable.value;
        } else {
            shown.exposure = variable.exposure;
            if (const auto info = infos.find(variable.name); info != infos.end()) {
                shown.set = true;
                shown.secret_id = info->second.id;
                shown.set_at = info->second.set_at;
                shown.last_used_at = info->second.last_used_at;
                shown.reminders = reminders_of(info->second);
            }
            for (const auto& binding : bindings) {
                if (binding.variable != variable.name) continue;
                SecretRoute way{binding.header, binding.format, {}};
                for (const auto& host : binding.hosts) way.hosts.push_back(Host::of(host));
                shown.ways.push_back(std::move(way));
            }
        }
        if (variable.required && !shown.set && variable.default_value.empty()) view.missing.push_back(variable.name);
        view.variables.push_back(std::move(shown));
    }
    if (caller.permissions_of_installation().has(Permission::skill_share)) view.shared_with = TRY(shares_of(stored.id));
    view.used_by = TRY(uses_of(stored.id));
    return view;
}

Result<access::Page<Skill>> Skills::list(const Caller& caller, const std::optional<SpaceId>& space,
                                         std::optional<SkillType> type, const access::PageRequest& page) const {
    const std::string after = TRY(page.after());
    std::string sql = Columns::select() + " WHERE id > ?";
    std::vector<sql::Value> values{sql::to_value(after)};
    if (space) {
        TRY(caller.require(Permission::skill_read, *space));
        sql += " AND (space_id = ? OR (space_id IS NULL AND EXISTS (SELECT 1 FROM skill_shares WHERE "
               "skill_shares.skill_id = skills.id AND skill_shares.space_id = ?)))";
        values.push_back(sql::to_value(*space));
        values.push_back(sql::to_value(*space));
    } else {
        TRY(caller.require(Permission::skill_share));
        sql += " AND space_id IS NULL";
    }
    if (type) {
        sql += " AND type = ?";
        values.push_back(sql::to_value(name_of(*type)));
    }
    sql += " ORDER BY id LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    const auto rows = TRY(m_database.run_query(sql, values));
    std::vector<Skill> skills;
    for (const auto& row : rows) {
        const auto stored = TRY(stored_of(row));
        skills.push_back(TRY(view_of(caller, stored)));
    }
    return access::make_page(std::move(skills), page, [](const Skill& skill) { return skill.id.text(); });
}

Result<Skill> Skills::find(const Caller& caller, const SkillId& id) const {
    const auto stored = TRY(permitted(caller, id, Permission::skill_read));
    return view_of(caller, stored);
}

Result<Skill> Skills::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name) const {
    if (const auto id = parse_id<SkillTag>(id_or_name); id.ok()) return find(caller, id.value());
    TRY(caller.require(Permission::skill_read, space));
    // Owners of the installation also name skills that are not shared yet.
    const bool owner = caller.permissions_of_installation().has(Permission::skill_share);
    const auto rows = TRY(m_database.query(
        Columns::select() + " WHERE name = ? AND (space_id = ? OR (space_id IS NULL AND (CAST(? AS BIGINT) = 1 OR "
                            "EXISTS (SELECT 1 FROM skill_shares WHERE skill_shares.skill_id = skills.id AND "
                            "skill_shares.space_id = ?)))) ORDER BY CASE WHEN space_id IS NULL THEN 1 ELSE 0 "
                            "END LIMIT 1",
        id_or_name, space, owner, space));
    if (rows.empty()) return not_found("skill \"" + std::string(truncate_utf8(id_or_name, 100)) + "\"");
    const auto stored = TRY(stored_of(rows.front()));
    return view_of(caller, stored);
}

// --- changing ------------------------------------------------------------------------------------------------------

Result<ModelEndpoint> Skills::preview_model(const Caller& caller, const SpaceId& space,
                                            const std::map<std::string, std::string>& variables) {
    TRY(caller.require(Permission::skill_write, space));
    TRY(caller.require(Permission::secret_write, space));
    Setup setup;
    setup.variables = variables;
    TRY(check(SkillType::model, setup));
    TRY(require_private_allowed(caller, SkillType::model, {}, setup));
    return model_endpoint_of(setup);
}

Result<> Skills::require_private_allowed(const Caller& caller, SkillType type, const Setup& before,
                                         const Setup& after) {
    if (type != SkillType::model) return {};
    const auto wanted = TRY(model_endpoint_of(after));
    if (!wanted.allow_private) return {};
    const auto had = model_endpoint_of(before);
    if (had.ok() && had.value().allow_private && had.value().base_url == wanted.base_url) return {};
    if (caller.permissions_of_installation().has(Permission::skill_share)) return {};
    return forbidden("only installation owners may let a model endpoint be on a private address");
}

// Sets what is given; the names that changed, for people.
Result<std::string> Skills::store_secrets(sql::Transaction& transaction, const Caller& caller, const Stored& stored,
                                          const Secrets& secrets) const {
    std::string summary;
    const auto before = TRY(m_vault.names_of(transaction, stored.id.text()));
    for (const auto& [name, value] : secrets) {
        const auto info = TRY(m_vault.set(transaction, caller, stored.scope, stored.id.text(), name, value));
        const bool replaced = std::find(before.begin(), before.end(), name) != before.end();
        summary += (summary.empty() ? "" : ", ") + name + (replaced ? " replaced" : " set");
        TRY(m_access.audit.record(transaction, caller,
                                  {replaced ? "secret_replace" : "secret_set",
                                   stored.scope.space,
                                   info.id.text(),
                                   {{"name", name}, {"skill", stored.name}, {"skill_id", stored.id.text()}}}));
    }
    return summary;
}

Result<> Skills::write_version(sql::Transaction& transaction, const Caller& caller, Stored& stored,
                               const std::string& summary) const {
    const std::string setup = json::write(stored.setup);
    TRY(transaction.execute("UPDATE skills SET name = ?, description = ?, version = ?, setup = ?, updated_at = ? WHERE "
                            "id = ?",
                            stored.name, stored.description, stored.version, setup, stored.updated_at, stored.id));
    TRY(transaction.execute("INSERT INTO skill_versions (skill_id, version, setup, folder_hash, summary, changed_by, "
                            "changed_by_name, changed_at) VALUES (?,?,?,?,?,?,?,?)",
                            stored.id, stored.version, setup,
                            stored.setup.folder ? stored.setup.folder->hash : std::string(), summary, caller.actor(),
                            caller.name, stored.updated_at));
    return {};
}

namespace {

std::string no_such_secret(SkillType type, const std::vector<Variable>& variables, std::string_view name) {
    std::string text = "there is no secret " + std::string(truncate_utf8(name, 100)) + " in a " +
                       std::string(name_of(type)) + " skill";
    std::string known;
    for (const auto& variable : variables)
        if (variable.secret) known += (known.empty() ? ": it has " : ", ") + variable.name;
    if (type == SkillType::custom)
        known += (known.empty() ? ": " : "; ") + std::string("declare it with the hosts it may go to");
    return text + known;
}

// Secrets must be of the skill and look like what a header or a variable can hold.
Result<> check_secrets(SkillType type, const Setup& setup, const Secrets& secrets) {
    const auto variables = variables_of(type, setup);
    for (const auto& [name, value] : secrets) {
        const auto found = std::find_if(variables.begin(), variables.end(),
                                        [&, &wanted = name](const auto& each) { return each.name == wanted; });
        if (found == variables.end() || !found->secret) return invalid(no_such_secret(type, variables, name));
        const auto text = value.reveal();
        if (text.find('\0') != text.npos) return invalid(name + " must not hold NUL");
        if (found->exposure == Exposure::brokered && !is_printable_ascii(text))
            return invalid(name + " must be one line of printable ASCII: it goes into a header");
        if (found->exposure == Exposure::brokered && (text.starts_with(' ') || text.ends_with(' ')))
            return invalid(name + " must not begin or end with a blank");
    }
    return {};
}

// A stored secret is sent to a new host only by a member who knows it.
Result<> require_known_again(SkillType type, const Setup& before, const Setup& after,
                             const std::vector<std::string>& stored, const Secrets& given) {
    for (const auto& name : stored) {
        if (given.contains(name)) continue;
        const auto old_ways = TRY(ways_of(type, before, name));
        const auto new_ways = TRY(ways_of(type, after, name));
        for (const auto& way : new_ways)
            if (!old_ways.contains(way))
                return conflict("this change lets " + name + " go to a new place (" + std::string(trim(way)) +
                                "): send its value again with the change");
    }
    return {};
}

} // namespace

Result<Skill> Skills::create(const Caller& caller, const std::optional<SpaceId>& space, const NewSkill& wanted,
                             const Secrets& secrets) {
    if (space) {
        TRY(caller.require(Permission::skill_write, *space));
        if (!secrets.empty()) TRY(caller.require(Permission::secret_write, *space));
    } else {
        TRY(caller.require(Permission::skill_share));
    }
    Stored stored;
    stored.id = make_id<SkillTag>(m_clock);
    stored.scope = Scope{space};
    stored.name = TRY(access::checked_name("name", wanted.name));
    stored.type = wanted.type;
    stored.description = TRY(access::checked_description(wanted.description));
    stored.setup = wanted.setup;
    stored.setup.folder.reset();
    if (stored.setup.git) stored.setup.git->commit = std::string();
    stored.version = 1;
    stored.created_by = caller.actor();
    stored.created_at = stored.updated_at = m_clock.now();
    TRY(check(stored.type, stored.setup));
    TRY(check_secrets(stored.type, stored.setup, secrets));
    TRY(require_private_allowed(caller, stored.type, {}, stored.setup));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t made = TRY(transaction.execute(
            "INSERT INTO skills (id, scope, space_id, name, type, description, version, setup, created_by, created_at, "
            "updated_at) VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (scope, name) DO NOTHING",
            stored.id, stored.scope.text(), stored.scope.space, stored.name, name_of(stored.type), stored.description,
            stored.version, json::write(stored.setup), stored.created_by, stored.created_at, stored.updated_at));
        if (made == 0) return conflict("there is a skill named \"" + stored.name + "\" already");
        TRY(m_access.audit.record(
            transaction, caller,
            {"skill_create", space, stored.id.text(), {{"name", stored.name}, {"type", name_of(stored.type)}}}));
        const std::string set = TRY(store_secrets(transaction, caller, stored, secrets));
        return write_version(transaction, caller, stored, set.empty() ? "created" : "created; " + set);
    }));
    return find(caller, stored.id);
}

// The common end of every change: checks, writes the new version and the audit entry.
Result<Skill> Skills::save(const Caller& caller, const Stored& before, Stored after, const Secrets& secrets,
                           std::string summary) {
    TRY(check(after.type, after.setup));
    TRY(check_secrets(after.type, after.setup, secrets));
    TRY(require_private_allowed(caller, after.type, before.setup, after.setup));
    after.version = before.version + 1;
    after.updated_at = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const Stored now = TRY(load(transaction, before.id));
        if (now.version != before.version)
            return conflict("the skill was changed by another request; reload it and try again");
        const std::vector<std::string> stored = TRY(m_vault.names_of(transaction, before.id.text()));
        TRY(require_known_again(after.type, before.setup, after.setup, stored, secrets));
        // A secret whose variable is no longer declared goes with it.
        const auto variables = variables_of(after.type, after.setup);
        std::string gone;
        for (const auto& name : stored)
            if (std::none_of(variables.begin(), variables.end(),
                             [&](const auto& each) { return each.name == name && each.secret; })) {
                TRY(m_vault.remove(transaction, before.id.text(), name));
                gone += "; " + name + " deleted";
            }
        if (after.name != before.name) {
            const auto taken = TRY(transaction.query("SELECT 1 FROM skills WHERE scope = ? AND name = ? AND id <> ?",
                                                     after.scope.text(), after.name, after.id));
            if (!taken.empty()) return conflict("there is a skill named \"" + after.name + "\" already");
        }
        const std::string set = TRY(store_secrets(transaction, caller, after, secrets));
        std::string text = summary + (summary.empty() || set.empty() ? "" : "; ") + set + gone;
        if (text.empty()) text = "nothing changed";
        Stored written = after;
        TRY(write_version(transaction, caller, written, text));
        return m_access.audit.record(transaction, caller,
                                     {"skill_update",
                                      after.scope.space,
                                      after.id.text(),
                                      {{"name", after.name}, {"version", after.version}, {"summary", text}}});
    }));
    return find(caller, before.id);
}

Result<Skill> Skills::update(const Caller& caller, const SkillId& id, const SkillChange& change,
                             const Secrets& secrets) {
    const Stored before = TRY(permitted(caller, id, Permission::skill_write));
    if (!secrets.empty()) TRY(permitted(caller, id, Permission::secret_write));
    Stored after = before;
    std::string summary;
    const auto note = [&](const std::string& what) { summary += (summary.empty() ? "" : ", ") + what; };
    if (change.name) {
        after.name = TRY(access::checked_name("name", *change.name));
        if (after.name != before.name) note("renamed from " + before.name);
    }
    if (change.description) {
        after.description = TRY(access::checked_description(*change.description));
        if (after.description != before.description) note("description changed");
    }
    for (const auto& [name, value] : change.variables) {
        if (value)
            after.setup.variables[name] = *value;
        else
            after.setup.variables.erase(name);
        note(name + (value ? " changed" : " reset"));
    }
    for (const auto& [name, exposure] : change.exposure) {
        after.setup.exposure[name] = exposure;
        note(name + " is now " + std::string(name_of(exposure)));
    }
    if (change.declared) {
        after.setup.declared = *change.declared;
        // Values of variables that are gone go too.
        const auto variables = variables_of(after.type, after.setup);
        const auto declared = [&](const std::string& name, bool secret) {
            return std::any_of(variables.begin(), variables.end(),
                               [&](const auto& each) { return each.name == name && each.secret == secret; });
        };
        std::erase_if(after.setup.variables, [&](const auto& entry) { return !declared(entry.first, false); });
        std::erase_if(after.setup.exposure, [&](const auto& entry) { return !declared(entry.first, true); });
        note("variables declared again");
    }
    if (change.allow) {
        after.setup.allow = *change.allow;
        note("hosts changed");
    }
    if (change.git) {
        after.setup.git = *change.git;
        if (after.setup.git)
            after.setup.git->commit = before.setup.git && after.setup.git->is_place_of(*before.setup.git)
                                          ? *before.setup.git->commit
                                          : std::string();
        note(after.setup.git ? "git repository set" : "git repository removed");
    }
    return save(caller, before, std::move(after), secrets, summary);
}

Result<Skill> Skills::set_secret(const Caller& caller, const SkillId& id, const std::string& name,
                                 const crypto::SecretBytes& value, std::optional<Exposure> exposure) {
    const Stored before = TRY(permitted(caller, id, Permission::secret_write));
    Stored after = before;
    std::string summary;
    if (exposure) {
        after.setup.exposure[name] = *exposure;
        const auto had = before.setup.exposure.find(name);
        if ((had == before.setup.exposure.end() ? Exposure::brokered : had->second) != *exposure)
            summary = name + " is now " + std::string(name_of(*exposure));
    }
    Secrets secrets;
    secrets.emplace(name, crypto::SecretBytes(value.reveal()));
    return save(caller, before, std::move(after), secrets, summary);
}

Result<Skill> Skills::remove_secret(const Caller& caller, const SkillId& id, const std::string& name) {
    const Stored before = TRY(permitted(caller, id, Permission::secret_write));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        Stored after = TRY(load(transaction, id));
        if (!TRY(m_vault.remove(transaction, id.text(), name)))
            return not_found("secret " + std::string(truncate_utf8(name, 100)));
        after.version += 1;
        after.updated_at = m_clock.now();
        TRY(m_access.audit.record(
            transaction, caller,
            {"secret_delete", after.scope.space, id.text(), {{"name", name}, {"skill", after.name}}}));
        return write_version(transaction, caller, after, name + " deleted");
    }));
    return find(caller, id);
}

Result<> Skills::remove(const Caller& caller, const SkillId& id, const std::string& confirm) {
    const Stored stored = TRY(permitted(caller, id, Permission::skill_write));
    if (confirm != stored.name)
        return invalid("confirm must repeat the name of the skill: its secrets are deleted with it");
    const auto uses = TRY(uses_of(id));
    if (!uses.empty()) {
        std::string names;
        for (size_t i = 0; i < uses.size() && i < 5; ++i)
            names += (i == 0 ? "" : ", ") + uses[i].kind + " " + uses[i].name;
        return conflict("the skill is used by " + names + (uses.size() > 5 ? " and others" : "") +
                        ": take it out there first");
    }
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(m_access.audit.record(
            transaction, caller,
            {"skill_delete", stored.scope.space, id.text(), {{"name", stored.name}, {"type", name_of(stored.type)}}}));
        TRY(m_vault.remove_all(transaction, id.text()));
        TRY(transaction.execute("DELETE FROM skills WHERE id = ?", id));
        TRY(transaction.execute("DELETE FROM skill_files WHERE folder_hash NOT IN (SELECT folder_hash FROM "
                                "skill_versions)"));
        return {};
    });
}

// --- versions, shares -----------------------------------------------------------------------------------------------

Result<std::vector<SkillVersion>> Skills::versions(const Caller& caller, const SkillId& id) const {
    TRY(permitted(caller, id, Permission::skill_read));
    const auto rows =
        TRY(m_database.query("SELECT " + sql::names(version_columns) +
                                 " FROM skill_versions WHERE skill_id = ? ORDER BY version DESC LIMIT 200",
                             id));
    std::vector<SkillVersion> versions;
    for (const auto& row : rows) {
        auto version = sql::read<SkillVersion>(version_columns, row);
        if (!version.ok()) return corrupt("skill " + id.text() + ": " + version.error().message);
        versions.push_back(std::move(version).value());
    }
    return versions;
}

Result<Skill> Skills::share(const Caller& caller, const SkillId& id, const SpaceId& space) {
    TRY(caller.require(Permission::skill_share));
    const Stored stored = TRY(load(id));
    if (stored.scope.space) return invalid("the skill belongs to a space; only skills of the installation are shared");
    if (TRY(m_access.spaces.names(std::span(&space, 1))).empty()) return not_found("space " + space.text());
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t made = TRY(transaction.execute("INSERT INTO skill_shares (skill_id, space_id, created_at) VALUES "
                                                     "(?,?,?) ON CONFLICT (skill_id, space_id) DO NOTHING",
                                                     id, space, m_clock.now()));
        if (made == 0) return {};
        return m_access.audit.record(transaction, caller, {"skill_share", space, id.text(), {{"name", stored.name}}});
    }));
    return find(caller, id);
}

Result<Skill> Skills::unshare(const Caller& caller, const SkillId& id, const SpaceId& space) {
    TRY(caller.require(Permission::skill_share));
    const Stored stored = TRY(load(id));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t gone =
            TRY(transaction.execute("DELETE FROM skill_shares WHERE skill_id = ? AND space_id = ?", id, space));
        if (gone == 0) return not_found("share of " + stored.name + " with " + space.text());
        return m_access.audit.record(transaction, caller, {"skill_unshare", space, id.text(), {{"name", stored.name}}});
    }));
    return find(caller, id);
}

} // namespace hone::skill
