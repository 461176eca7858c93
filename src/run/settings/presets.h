// Presets: saved worker setups of a space. Every change makes a version; a run records the one it used. Thread-safe.
#pragma once

#include "access/access.h"
#include "run/run.h"
#include "secret/vault.h"

#include <map>
#include <span>

namespace hone::run {

struct Preset {
    PresetId id;
    access::SpaceId space_id;
    std::string name;
    std::string description;
    int64_t version = 0;
    Settings settings;
    std::vector<std::string> warnings;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &Preset::id, "Id."},
        Field{"space_id", &Preset::space_id, "Id of the space."},
        Field{"name", &Preset::name, "Unique in its space."},
        Field{"description", &Preset::description, "Purpose, as text."},
        Field{"version", &Preset::version, "Increases with every change of the settings."},
        Field{"settings", &Preset::settings, "Settings of its runs."},
        Field{"warnings", &Preset::warnings,
              "Actions that its workers can take without review, and rules that have no effect. Empty in lists."},
        Field{"created_at", &Preset::created_at, "Time of creation."},
        Field{"updated_at", &Preset::updated_at, "Time of the last change."},
    };
};

struct PresetVersion {
    int64_t version = 0;
    Settings settings;
    std::string changed_by;
    Time changed_at{};
    std::vector<std::string> changed;
    static constexpr Pack fields{
        Field{"version", &PresetVersion::version, "Number, from 1."},
        Field{"settings", &PresetVersion::settings, "Settings of that version."},
        Field{"changed_by", &PresetVersion::changed_by, "Name of the user or key that created it."},
        Field{"changed_at", &PresetVersion::changed_at, "Time of the change."},
        Field{"changed", &PresetVersion::changed, "Differences to the previous version: `model: a → b`."},
    };
};

// Checks what presets cannot check themselves. Called before a preset is saved and before a run starts.
class SettingsCheck {
public:
    virtual ~SettingsCheck() = default;
    // Whether the skills exist for this caller in this space and give the harness what it needs; the error names what
    // is missing.
    virtual Result<> check(const access::Caller& caller, const access::SpaceId& space, const Settings& settings) = 0;
    // The budget of a run whose settings have this one: with the defaults of the space and of the installation.
    virtual Result<Budget> budget_of(const access::SpaceId&, const Budget& budget) { return budget; }
    // What a person should know before these settings are used.
    virtual std::vector<std::string> warnings(const access::SpaceId& space, const Settings& settings) const;
};

class Presets {
public:
    Presets(sql::Database& database, const Clock& clock, const access::AuditLog& audit, SettingsCheck& check)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_check(check) {}

    // Where values of sandbox.secret_env are stored. Once, before requests come.
    void set_vault(const secret::Vault& vault) { m_vault = &vault; }

    Result<access::Page<Preset>> list(const access::Caller& caller, const access::SpaceId& space,
                                      const access::PageRequest& page) const;
    // By id, or by name within `space`.
    Result<Preset> find(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name) const;
    Result<Preset> create(const access::Caller& caller, const access::SpaceId& space, const std::string& name,
                          const std::string& description, const Settings& settings);
    // Absent parts stay. Settings that do not differ make no version.
    Result<Preset> update(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name,
                          const std::optional<std::string>& name, const std::optional<std::string>& description,
                          const std::optional<Settings>& settings);
    Result<> remove(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name);
    // Newest first.
    Result<std::vector<PresetVersion>> versions(const access::Caller& caller, const access::SpaceId& space,
                                                std::string_view id_or_name) const;
    // Presets that use a skill; for the guard before a skill is deleted.
    struct Named {
        PresetId id;
        std::string name;
    };
    // Names by id, for lists of other folders; ids without a preset are left out.
    Result<std::map<PresetId, std::string>> names(std::span<const PresetId> ids) const;
    Result<std::vector<Named>> using_skill(const std::string& skill_id) const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
    const access::AuditLog& m_audit;
    SettingsCheck& m_check;
    const secret::Vault* m_vault = nullptr;
};

// What differs, one line each: "sandbox.cpus: 2 → 4". Long values are shortened.
std::vector<std::string> differences(const Settings& before, const Settings& after);

} // namespace hone::run
