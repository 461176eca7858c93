// How projects and spaces take and keep traces, where it differs from the server's defaults: quotas, retention by
// bytes, sampling, redaction. Kept in the database as JSON; permissions are checked by the API.
// Thread-safe.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "sql/sql.h"
#include "telemetry/redaction/redact.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

struct RedactionSettings {
    json::Defaulted<std::vector<std::string>> keys;
    json::Defaulted<std::vector<std::string>> patterns;
    json::Defaulted<bool> secrets = false;
    json::Defaulted<bool> emails = false;
    json::Defaulted<bool> credentials = true;
    static constexpr Pack fields{
        Field{"keys", &RedactionSettings::keys,
              "Attributes whose values are redacted; a * at the end matches any rest."},
        Field{"patterns", &RedactionSettings::patterns, "Regular expressions (RE2) whose matches are redacted."},
        Field{"secrets", &RedactionSettings::secrets, "Redacts API keys, tokens and private keys of known formats."},
        Field{"emails", &RedactionSettings::emails, "Redacts e-mail addresses."},
        Field{"credentials", &RedactionSettings::credentials,
              "Redacts Authorization headers, API keys and tokens; on unless it is switched off here."},
    };
};

struct ProjectTraceSettings {
    std::optional<int64_t> retention_bytes;
    std::optional<int64_t> spans_per_day;
    std::optional<int64_t> bytes_per_day;
    std::optional<double> sample;
    std::optional<RedactionSettings> redaction;
    std::optional<int64_t> log_retention_days;
    static constexpr Pack fields{
        Field{"retention_bytes", &ProjectTraceSettings::retention_bytes,
              "Disk space for the project's spans; above it the oldest spans are deleted, in addition to the retention "
              "by days."},
        Field{"spans_per_day", &ProjectTraceSettings::spans_per_day,
              "Spans per day (UTC); more are rejected until the next day."},
        Field{"bytes_per_day", &ProjectTraceSettings::bytes_per_day,
              "Bytes of spans per day (UTC); more are rejected until the next day."},
        Field{"sample", &ProjectTraceSettings::sample, "Share of traces that is stored, 0 to 1; null: all."},
        Field{"redaction", &ProjectTraceSettings::redaction, "Redaction of spans before they are stored."},
        Field{"log_retention_days", &ProjectTraceSettings::log_retention_days,
              "Days before log records are deleted, at most 365; 0: they are not stored; null: 7."},
    };
};

struct SpaceTraceSettings {
    std::optional<int64_t> spans_per_day;
    std::optional<int64_t> bytes_per_day;
    static constexpr Pack fields{
        Field{"spans_per_day", &SpaceTraceSettings::spans_per_day,
              "Spans per day (UTC) of all projects together; more are rejected until the next day."},
        Field{"bytes_per_day", &SpaceTraceSettings::bytes_per_day,
              "Bytes of spans per day (UTC) of all projects together; more are rejected until the next day."},
    };
};

// Of log records, where a project has no setting of its own.
inline constexpr int64_t default_log_retention_days = 7;

class TraceSettings {
public:
    TraceSettings(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    Result<ProjectTraceSettings> of_project(const std::string& project) const;
    Result<SpaceTraceSettings> of_space(const std::string& space) const;
    Result<> set_project(const std::string& project, const ProjectTraceSettings& settings);
    Result<> set_space(const std::string& space, const SpaceTraceSettings& settings);
    // Of the projects with their own setting; for the retention duty.
    Result<std::map<std::string, int64_t>> retention_bytes() const;
    Result<std::map<std::string, int64_t>> log_retention_days() const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
};

RedactionRules rules_of(const RedactionSettings& settings);

} // namespace hone::telemetry
