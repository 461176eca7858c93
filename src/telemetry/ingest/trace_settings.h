// How projects and spaces take and keep traces, where it differs from the server's defaults: quotas, retention by
// bytes, sampling, redaction. Kept in the database as JSON; permissions are checked by the API.
// Thread-safe.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "sql/sql.h"
#include "telemetry/span/redact.h"
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
    static constexpr std::tuple fields{
        Field{"keys", &RedactionSettings::keys, "Attributes whose values go; a * at the end matches any rest."},
        Field{"patterns", &RedactionSettings::patterns, "Regular expressions (RE2); what matches goes."},
        Field{"secrets", &RedactionSettings::secrets, "Keys, tokens and private keys of known shapes go."},
        Field{"emails", &RedactionSettings::emails, "E-mail addresses go."},
    };
};

struct ProjectTraceSettings {
    std::optional<int64_t> retention_bytes;
    std::optional<int64_t> spans_per_day;
    std::optional<int64_t> bytes_per_day;
    std::optional<double> sample;
    std::optional<RedactionSettings> redaction;
    static constexpr std::tuple fields{
        Field{"retention_bytes", &ProjectTraceSettings::retention_bytes,
              "Disk for the project's spans; over it the oldest go, beside the retention by days."},
        Field{"spans_per_day", &ProjectTraceSettings::spans_per_day, "More are refused until the next day (UTC)."},
        Field{"bytes_per_day", &ProjectTraceSettings::bytes_per_day, "The same for the size of spans."},
        Field{"sample", &ProjectTraceSettings::sample, "Share of traces that is kept, 0 to 1; null: all."},
        Field{"redaction", &ProjectTraceSettings::redaction, "What is taken out of spans before they are stored."},
    };
};

struct SpaceTraceSettings {
    std::optional<int64_t> spans_per_day;
    std::optional<int64_t> bytes_per_day;
    static constexpr std::tuple fields{
        Field{"spans_per_day", &SpaceTraceSettings::spans_per_day,
              "Of all projects together; more are refused until the next day (UTC)."},
        Field{"bytes_per_day", &SpaceTraceSettings::bytes_per_day, "The same for the size of spans."},
    };
};

class TraceSettings {
public:
    TraceSettings(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    Result<ProjectTraceSettings> of_project(const std::string& project) const;
    Result<SpaceTraceSettings> of_space(const std::string& space) const;
    Result<> set_project(const std::string& project, const ProjectTraceSettings& settings);
    Result<> set_space(const std::string& space, const SpaceTraceSettings& settings);
    // Of the projects that say so; for the retention duty.
    Result<std::map<std::string, int64_t>> retention_bytes() const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
};

RedactionRules rules_of(const RedactionSettings& settings);

} // namespace hone::telemetry
