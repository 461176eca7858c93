// What skills give out, declared once for API, CLI and UI. Never a secret: names, times and where it may go.
#pragma once

#include "secret/vault.h"
#include "skill/setup.h"

namespace hone::skill {

struct SkillTag {
    static constexpr std::string_view kind = "skl";
};
using SkillId = Id<SkillTag>;

enum class SkillScope { space, installation };
constexpr auto enum_names(SkillScope) {
    return std::array{EnumName{SkillScope::space, "space"}, EnumName{SkillScope::installation, "installation"}};
}

// Why a secret needs attention.
enum class Reminder { old, unused };
constexpr auto enum_names(Reminder) {
    return std::array{EnumName{Reminder::old, "old"}, EnumName{Reminder::unused, "unused"}};
}

struct SecretRoute {
    std::string header;
    std::string format;
    std::vector<Host> hosts;
    static constexpr Pack fields{
        Field{"header", &SecretRoute::header,
              "Header that carries it; empty: a credential header that contains the placeholder."},
        Field{"format", &SecretRoute::format, "Value of the header, {} for the secret."},
        Field{"hosts", &SecretRoute::hosts, ""},
    };
};

struct VariableView {
    std::string name;
    bool secret = false;
    bool required = false;
    std::string help;
    std::vector<std::string> choices;
    std::string default_value;
    std::optional<std::string> value;
    bool set = false;
    std::optional<Exposure> exposure;
    std::optional<secret::SecretId> secret_id;
    std::optional<Time> set_at;
    std::optional<Time> last_used_at;
    std::vector<Reminder> reminders;
    std::vector<SecretRoute> ways;
    static constexpr Pack fields{
        Field{"name", &VariableView::name, ""},
        Field{"secret", &VariableView::secret, "Its value is never shown."},
        Field{"required", &VariableView::required, ""},
        Field{"help", &VariableView::help, ""},
        Field{"choices", &VariableView::choices, "Allowed values; empty: any."},
        Field{"default_value", &VariableView::default_value, ""},
        Field{"value", &VariableView::value, "Value of a plain variable."},
        Field{"set", &VariableView::set, "It has a value."},
        Field{"exposure", &VariableView::exposure,
              "Of a secret: brokered stays outside the sandbox, env is visible in it."},
        Field{"secret_id", &VariableView::secret_id, ""},
        Field{"set_at", &VariableView::set_at, "Time at which the secret was set last."},
        Field{"last_used_at", &VariableView::last_used_at, "To within a minute."},
        Field{"reminders", &VariableView::reminders, "old: set long ago; unused: not used for a long time."},
        Field{"ways", &VariableView::ways, "Hosts that the secret may be sent to."},
    };
};

struct Use {
    std::string kind;
    std::string id;
    std::string name;
    static constexpr Pack fields{
        Field{"kind", &Use::kind, "Kind of object, such as preset."},
        Field{"id", &Use::id, ""},
        Field{"name", &Use::name, ""},
    };
};

struct Share {
    access::SpaceId space_id;
    std::string name;
    Time created_at{};
    static constexpr Pack fields{
        Field{"space_id", &Share::space_id, ""},
        Field{"name", &Share::name, "Name of the space."},
        Field{"created_at", &Share::created_at, ""},
    };
};

struct Skill {
    SkillId id;
    std::string name;
    SkillType type = SkillType::custom;
    SkillScope scope = SkillScope::space;
    std::optional<access::SpaceId> space_id;
    std::string description;
    int64_t version = 0;
    std::vector<VariableView> variables;
    std::vector<std::string> missing;
    std::vector<std::string> warnings;
    std::vector<Host> allow;
    std::optional<GitSource> git;
    std::optional<FolderInfo> folder;
    std::vector<Share> shared_with;
    std::vector<Use> used_by;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &Skill::id, ""},
        Field{"name", &Skill::name, ""},
        Field{"type", &Skill::type, ""},
        Field{"scope", &Skill::scope, "installation: managed by installation owners, shared with chosen spaces."},
        Field{"space_id", &Skill::space_id, "null: a skill of the installation."},
        Field{"description", &Skill::description, ""},
        Field{"version", &Skill::version, "Increases with every change."},
        Field{"variables", &Skill::variables, ""},
        Field{"missing", &Skill::missing,
              "Required variables without a value; a run cannot use the skill until they are set."},
        Field{"warnings", &Skill::warnings, "Actions that workers can take with this skill without review."},
        Field{"allow", &Skill::allow, "Hosts that can be reached without a secret."},
        Field{"git", &Skill::git, ""},
        Field{"folder", &Skill::folder, ""},
        Field{"shared_with", &Skill::shared_with, "Visible to members who can share it; empty for others."},
        Field{"used_by", &Skill::used_by, ""},
        Field{"created_by", &Skill::created_by, ""},
        Field{"created_at", &Skill::created_at, ""},
        Field{"updated_at", &Skill::updated_at, ""},
    };
};

struct SkillVersion {
    int64_t version = 0;
    std::string summary;
    std::string changed_by;
    Time changed_at{};
    Setup setup;
    static constexpr Pack fields{
        Field{"version", &SkillVersion::version, ""},
        Field{"summary", &SkillVersion::summary, "Summary of the change."},
        Field{"changed_by", &SkillVersion::changed_by, "Name of the user or key."},
        Field{"changed_at", &SkillVersion::changed_at, ""},
        Field{"setup", &SkillVersion::setup, "All settings but the secrets."},
    };
};

struct FileView {
    std::string path;
    int64_t bytes = 0;
    bool executable = false;
    std::optional<std::string> text;
    static constexpr Pack fields{
        Field{"path", &FileView::path, ""},
        Field{"bytes", &FileView::bytes, ""},
        Field{"executable", &FileView::executable, ""},
        Field{"text", &FileView::text, "null when it is not text, or longer than 64 KiB."},
    };
};

struct SecretRow {
    secret::SecretId id;
    std::string name;
    SkillId skill_id;
    std::string skill_name;
    SkillType skill_type = SkillType::custom;
    SkillScope scope = SkillScope::space;
    Exposure exposure = Exposure::brokered;
    std::string created_by;
    Time created_at{};
    Time set_at{};
    std::optional<Time> last_used_at;
    std::vector<Reminder> reminders;
    int64_t used_by = 0;
    static constexpr Pack fields{
        Field{"id", &SecretRow::id, ""},
        Field{"name", &SecretRow::name, ""},
        Field{"skill_id", &SecretRow::skill_id, ""},
        Field{"skill_name", &SecretRow::skill_name, ""},
        Field{"skill_type", &SecretRow::skill_type, ""},
        Field{"scope", &SecretRow::scope, ""},
        Field{"exposure", &SecretRow::exposure, "env: workers can read it."},
        Field{"created_by", &SecretRow::created_by, ""},
        Field{"created_at", &SecretRow::created_at, ""},
        Field{"set_at", &SecretRow::set_at, "Time at which it was set last."},
        Field{"last_used_at", &SecretRow::last_used_at, "To within a minute."},
        Field{"reminders", &SecretRow::reminders, "old: replace it; unused: delete it."},
        Field{"used_by", &SecretRow::used_by, "Presets that use its skill."},
    };
};

// One line of "what may these skills reach, and with which secret".
struct Reach {
    std::string skill_id;
    std::string skill_name;
    std::string kind;
    std::optional<Host> host;
    std::string variable;
    std::string secret_name;
    std::string header;
    std::string format;
    std::string detail;
    static constexpr Pack fields{
        Field{"skill_id", &Reach::skill_id, ""},
        Field{"skill_name", &Reach::skill_name, ""},
        Field{"kind", &Reach::kind, "brokered, open (no secret), env, model, gateway, or plain."},
        Field{"host", &Reach::host, "null for a variable that is only in the environment."},
        Field{"variable", &Reach::variable, "Environment variable of the worker."},
        Field{"secret_name", &Reach::secret_name, "Secret that the broker adds to the request; empty: none."},
        Field{"header", &Reach::header, ""},
        Field{"format", &Reach::format, ""},
        Field{"detail", &Reach::detail, "Explanation, as text."},
    };
};

struct EnvMatch {
    std::string name;
    std::string variable;
    bool secret = false;
    bool replaces = false;
    int64_t line = 0;
    static constexpr Pack fields{
        Field{"name", &EnvMatch::name, "Name in the text."},
        Field{"variable", &EnvMatch::variable, "Variable of the skill that it sets."},
        Field{"secret", &EnvMatch::secret, "It is stored as a secret."},
        Field{"replaces", &EnvMatch::replaces, "It replaces an existing value."},
        Field{"line", &EnvMatch::line, ""},
    };
};

struct EnvPreview {
    std::vector<EnvMatch> matches;
    std::vector<std::string> unknown;
    std::vector<std::string> problems;
    static constexpr Pack fields{
        Field{"matches", &EnvPreview::matches, "Variables that would be set."},
        Field{"unknown", &EnvPreview::unknown, "Names that the skill does not have; they are ignored."},
        Field{"problems", &EnvPreview::problems, "Lines that could not be read."},
    };
};

} // namespace hone::skill
