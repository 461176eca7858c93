#include "telemetry/ingest/trace_settings.h"

namespace hone::telemetry {

namespace {

constexpr size_t most_rules = 100;
constexpr int64_t least_bytes = 1 << 20;

template <class Settings>
Result<Settings> read_settings(const sql::Rows& rows) {
    return rows.empty() ? Settings{} : json::read<Settings>(rows.front().text(0));
}

Result<> check_quota(const std::optional<int64_t>& spans, const std::optional<int64_t>& bytes) {
    if (spans && *spans < 1) return invalid("spans_per_day must be at least 1");
    if (bytes && *bytes < 1) return invalid("bytes_per_day must be at least 1");
    return {};
}

} // namespace

RedactionRules rules_of(const RedactionSettings& settings) {
    return {*settings.keys, *settings.patterns, *settings.secrets, *settings.emails, *settings.credentials};
}

Result<ProjectTraceSettings> TraceSettings::of_project(const std::string& project) const {
    return read_settings<ProjectTraceSettings>(
        TRY(m_database.query("SELECT settings FROM project_trace_settings WHERE project_id = ?", project)));
}

Result<SpaceTraceSettings> TraceSettings::of_space(const std::string& space) const {
    return read_settings<SpaceTraceSettings>(
        TRY(m_database.query("SELECT settings FROM space_trace_settings WHERE space_id = ?", space)));
}

Result<> TraceSettings::set_project(const std::string& project, const ProjectTraceSettings& settings) {
    TRY(check_quota(settings.spans_per_day, settings.bytes_per_day));
    if (settings.retention_bytes && *settings.retention_bytes < least_bytes)
        return invalid("retention_bytes must be at least 1048576");
    if (settings.sample && !(*settings.sample >= 0 && *settings.sample <= 1))
        return invalid("sample must be between 0 and 1");
    if (settings.log_retention_days && (*settings.log_retention_days < 0 || *settings.log_retention_days > 365))
        return invalid("log_retention_days must be between 0 and 365");
    if (settings.redaction) {
        if (settings.redaction->keys.value.size() > most_rules ||
            settings.redaction->patterns.value.size() > most_rules)
            return invalid("redaction takes at most 100 keys and 100 patterns");
        TRY(Redactor::make(rules_of(*settings.redaction))); // the error names the wrong pattern
    }
    TRY(m_database.execute("INSERT INTO project_trace_settings (project_id, settings, updated_at) VALUES (?,?,?) ON "
                           "CONFLICT (project_id) DO UPDATE SET settings = excluded.settings, updated_at = "
                           "excluded.updated_at",
                           project, json::print(json::to_value(settings)), m_clock.now()));
    return {};
}

Result<> TraceSettings::set_space(const std::string& space, const SpaceTraceSettings& settings) {
    TRY(check_quota(settings.spans_per_day, settings.bytes_per_day));
    TRY(m_database.execute("INSERT INTO space_trace_settings (space_id, settings, updated_at) VALUES (?,?,?) ON "
                           "CONFLICT (space_id) DO UPDATE SET settings = excluded.settings, updated_at = "
                           "excluded.updated_at",
                           space, json::print(json::to_value(settings)), m_clock.now()));
    return {};
}

Result<std::map<std::string, int64_t>> TraceSettings::retention_bytes() const {
    std::map<std::string, int64_t> bytes;
    for (const auto& row : TRY(m_database.query("SELECT project_id, settings FROM project_trace_settings")))
        if (auto settings = json::read<ProjectTraceSettings>(row.text(1));
            settings.ok() && settings.value().retention_bytes)
            bytes[row.text(0)] = *settings.value().retention_bytes;
    return bytes;
}

Result<std::map<std::string, int64_t>> TraceSettings::log_retention_days() const {
    std::map<std::string, int64_t> days;
    for (const auto& row : TRY(m_database.query("SELECT project_id, settings FROM project_trace_settings")))
        if (auto settings = json::read<ProjectTraceSettings>(row.text(1));
            settings.ok() && settings.value().log_retention_days)
            days[row.text(0)] = *settings.value().log_retention_days;
    return days;
}

} // namespace hone::telemetry
