#include "run/settings/presets.h"

#include "access/names.h"
#include "base/text.h"
#include "run/settings/secret_env.h"
#include "sql/columns.h"

namespace hone::run {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

template <class Record>
constexpr auto settings_column() {
    return sql::Column{"settings", sql::Converted{[](Record& record, const sql::Row& row, size_t at) -> Result<> {
                                                      record.settings = TRY(json::read<Settings>(row.text(at)));
                                                      return {};
                                                  },
                                                  [](const Record& record) { return json::write(record.settings); }}};
}

constexpr Pack preset_columns{
    sql::Column{"id", &Preset::id},
    sql::Column{"space_id", &Preset::space_id},
    sql::Column{"name", &Preset::name},
    sql::Column{"description", &Preset::description},
    sql::Column{"version", &Preset::version},
    settings_column<Preset>(),
    sql::Column{"created_at", &Preset::created_at},
    sql::Column{"updated_at", &Preset::updated_at},
};
const std::string select_preset = "SELECT " + sql::names(preset_columns) + " FROM presets";

constexpr Pack version_columns{
    sql::Column{"version", &PresetVersion::version},
    settings_column<PresetVersion>(),
    sql::Column{"changed_by", &PresetVersion::changed_by},
    sql::Column{"changed_at", &PresetVersion::changed_at},
};

Result<Preset> preset_of(const sql::Row& row) {
    return sql::read<Preset>(preset_columns, row);
}

std::string shortened(const json::Value& value) {
    const std::string text = value.is_string() ? std::string(value.get_string()) : json::print(value);
    if (text.size() <= 60) return text;
    return std::string(truncate_utf8(text, 57)) + "…";
}

void compare(const std::string& path, const json::Value& before, const json::Value& after,
             std::vector<std::string>& lines) {
    if (before == after) return;
    if (!before.is_object() || !after.is_object()) {
        lines.push_back(path + ": " + shortened(before) + " → " + shortened(after));
        return;
    }
    const std::string prefix = path.empty() ? "" : path + ".";
    static const json::Value absent;
    for (const auto& entry : before.get_object()) {
        const json::Value* other = after.get_object().if_contains(entry.key());
        compare(prefix + std::string(entry.key()), entry.value(), other != nullptr ? *other : absent, lines);
    }
    for (const auto& entry : after.get_object())
        if (!before.get_object().contains(entry.key()))
            compare(prefix + std::string(entry.key()), absent, entry.value(), lines);
}

Result<> insert_version(sql::Transaction& transaction, const Preset& preset, const Caller& caller, Time now) {
    TRY(transaction.execute(
        "INSERT INTO preset_versions (preset_id, version, settings, changed_by, changed_at) VALUES (?, ?, ?, ?, ?)",
        preset.id, preset.version, json::write(preset.settings), caller.name, now));
    return {};
}

} // namespace

std::vector<std::string> differences(const Settings& before, const Settings& after) {
    std::vector<std::string> lines;
    compare("", json::to_value(before), json::to_value(after), lines);
    return lines;
}

Result<Page<Preset>> Presets::list(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::preset_read, space));
    const auto rows = TRY(m_database.query(select_preset + " WHERE space_id = ? AND id > ? ORDER BY id LIMIT ?", space,
                                           TRY(page.after()), page.limit + 1));
    std::vector<Preset> presets;
    for (const auto& row : rows) presets.push_back(TRY(preset_of(row)));
    return access::make_page(std::move(presets), page, [](const Preset& preset) { return preset.id.text(); });
}

Result<Preset> Presets::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name) const {
    TRY(caller.require(Permission::preset_read, space));
    const auto rows = TRY(m_database.query(
        select_preset +
            " WHERE space_id = ? AND (id = ? OR name = ?) ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END LIMIT 1",
        space, id_or_name, id_or_name, id_or_name));
    if (rows.empty()) return not_found("preset " + std::string(truncate_utf8(id_or_name, 100)));
    Preset preset = TRY(preset_of(rows.front()));
    preset.warnings = m_check.warnings(space, preset.settings);
    return preset;
}

std::vector<std::string> SettingsCheck::warnings(const SpaceId&, const Settings&) const {
    return {};
}

Result<Preset> Presets::create(const Caller& caller, const SpaceId& space, const std::string& name,
                               const std::string& description, const Settings& settings) {
    TRY(caller.require(Permission::preset_write, space));
    Preset preset;
    preset.name = TRY(access::checked_name("name", name));
    preset.description = TRY(access::checked_description(description));
    TRY(validate(settings));
    TRY(m_check.check(caller, space, settings));
    const Time now = m_clock.now();
    preset.id = make_id<PresetTag>(m_clock);
    preset.space_id = space;
    preset.version = 1;
    preset.settings = settings;
    preset.warnings = m_check.warnings(space, settings);
    const SecretValues secrets = take_secrets(preset.settings);
    preset.created_at = preset.updated_at = now;
    return m_database.write([&](sql::Transaction& transaction) -> Result<Preset> {
        const auto made = TRY(transaction.run("INSERT INTO presets (" + sql::names(preset_columns) + ") VALUES (" +
                                                  sql::marks(sql::width(preset_columns)) +
                                                  ") ON CONFLICT (space_id, name) DO NOTHING",
                                              sql::values(preset_columns, preset)));
        if (made.affected == 0) return conflict("a preset named " + preset.name + " exists already in this space");
        TRY(store_secrets(transaction, m_vault, space, preset.id.text(), preset.settings, secrets));
        TRY(insert_version(transaction, preset, caller, now));
        TRY(m_audit.record(
            transaction, caller,
            {"preset_create",
             space,
             preset.id.text(),
             {{"name", preset.name}, {"provider", name_of(*settings.provider)}, {"harness", settings.harness}}}));
        return preset;
    });
}

Result<Preset> Presets::update(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                               const std::optional<std::string>& name, const std::optional<std::string>& description,
                               const std::optional<Settings>& settings) {
    TRY(caller.require(Permission::preset_write, space));
    Preset preset = TRY(find(caller, space, id_or_name));
    const std::string old_name = preset.name;
    if (name) preset.name = TRY(access::checked_name("name", *name));
    if (description) preset.description = TRY(access::checked_description(*description));
    std::vector<std::string> changed;
    SecretValues secrets;
    if (settings) {
        TRY(validate(*settings));
        TRY(m_check.check(caller, space, *settings));
        Settings masked = *settings;
        secrets = take_secrets(masked);
        changed = differences(preset.settings, masked);
        for (const auto& [variable, value] : secrets)
            if (preset.settings.sandbox.value.secret_env.value.contains(variable))
                changed.push_back("sandbox.secret_env." + variable + ": replaced");
        preset.settings = std::move(masked);
        preset.warnings = m_check.warnings(space, preset.settings);
    }
    const int64_t old_version = preset.version;
    if (!changed.empty()) preset.version += 1;
    preset.updated_at = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<Preset> {
        const auto taken = TRY(transaction.query("SELECT id FROM presets WHERE space_id = ? AND name = ? AND id <> ?",
                                                 space, preset.name, preset.id));
        if (!taken.empty()) return conflict("a preset named " + preset.name + " exists already in this space");
        const int64_t updated = TRY(transaction.execute(
            "UPDATE presets SET name = ?, description = ?, version = ?, settings = ?, updated_at = ? WHERE id = ? AND "
            "version = ?",
            preset.name, preset.description, preset.version, json::write(preset.settings), preset.updated_at, preset.id,
            old_version));
        if (updated == 0)
            return conflict("the preset was changed by another person meanwhile; reload it and repeat your change");
        TRY(store_secrets(transaction, m_vault, space, preset.id.text(), preset.settings, secrets));
        if (!changed.empty()) TRY(insert_version(transaction, preset, caller, preset.updated_at));
        json::Array lines;
        for (const std::string& line : changed)
            if (lines.size() < 50) lines.emplace_back(line);
        TRY(m_audit.record(transaction, caller,
                           {"preset_update",
                            space,
                            preset.id.text(),
                            {{"name", preset.name}, {"version", preset.version}, {"changed", lines}}}));
        return preset;
    });
}

Result<> Presets::remove(const Caller& caller, const SpaceId& space, std::string_view id_or_name) {
    TRY(caller.require(Permission::preset_write, space));
    const Preset preset = TRY(find(caller, space, id_or_name));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM presets WHERE id = ?", preset.id));
        TRY(forget_secrets(transaction, m_vault, preset.id.text()));
        return m_audit.record(transaction, caller, {"preset_delete", space, preset.id.text(), {{"name", preset.name}}});
    });
}

Result<std::vector<PresetVersion>> Presets::versions(const Caller& caller, const SpaceId& space,
                                                     std::string_view id_or_name) const {
    const Preset preset = TRY(find(caller, space, id_or_name));
    const auto rows =
        TRY(m_database.query("SELECT " + sql::names(version_columns) +
                                 " FROM preset_versions WHERE preset_id = ? ORDER BY version DESC LIMIT 1000",
                             preset.id));
    std::vector<PresetVersion> versions;
    for (const auto& row : rows) versions.push_back(TRY(sql::read<PresetVersion>(version_columns, row)));
    for (size_t i = 0; i + 1 < versions.size(); ++i)
        versions[i].changed = differences(versions[i + 1].settings, versions[i].settings);
    return versions;
}

Result<std::map<PresetId, std::string>> Presets::names(std::span<const PresetId> ids) const {
    std::map<PresetId, std::string> names;
    if (ids.empty()) return names;
    const auto rows = TRY(m_database.run_query(
        "SELECT id, name FROM presets WHERE id IN (" + sql::marks(ids.size()) + ")", sql::to_values(ids)));
    for (const auto& row : rows) names.emplace(row.id<PresetTag>(0), row.text(1));
    return names;
}

Result<std::vector<Presets::Named>> Presets::using_skill(const std::string& skill_id) const {
    // Few presets exist, and ids are unique text: a search in the JSON finds exactly them.
    const auto rows = TRY(m_database.query("SELECT id, name FROM presets WHERE settings LIKE ? ORDER BY name LIMIT 100",
                                           "%\"" + skill_id + "\"%"));
    std::vector<Named> presets;
    for (const auto& row : rows) presets.push_back({row.id<PresetTag>(0), row.text(1)});
    return presets;
}

} // namespace hone::run
