#include "telemetry/doctor/trace_doctor.h"

#include "telemetry/doctor/attribute_names.h"
#include "telemetry/doctor/sender_fixes.h"
#include "telemetry/query/scoped_query.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::telemetry {

namespace {

constexpr size_t most_sampled = 1000;
constexpr size_t sampled_per_service = 250;
constexpr size_t most_keys = 2048;  // of one span
constexpr size_t most_named = 5;    // services and scopes of a finding
constexpr size_t most_unknown = 50; // attributes shown
constexpr size_t longest_key = 200; // bytes

constexpr std::string_view is_call = "kind IN ('llm', 'embedding')";
constexpr std::string_view tokens_sum =
    "(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens)";

// --- counts --------------------------------------------------------------------------------------------------------

// The spans that a finding is about: a condition over small columns, and the same as a filter for people.
struct CountedCondition {
    std::string sql;
    std::string_view filter;
};

const std::array<CountedCondition, 4>& counted_conditions() {
    static const std::array<CountedCondition, 4> all{{
        {"kind = 'unknown'", "kind = unknown"},
        // A call whose usage is counted elsewhere lacks nothing, and a failed one has none.
        {std::string(is_call) + " AND status != 'error' AND empty(repeated_usage) AND " + std::string(tokens_sum) +
             " = 0",
         "(kind = llm or kind = embedding) and status != error and tokens = 0"},
        {std::string(is_call) + " AND model = ''", "(kind = llm or kind = embedding) and model = \"\""},
        {std::string(is_call) + " AND model != '' AND cost_source = 'none' AND " + std::string(tokens_sum) + " > 0",
         "(kind = llm or kind = embedding) and model != \"\" and tokens > 0 and cost = 0"},
    }};
    return all;
}
enum { without_kind, without_tokens, without_model, without_price };

struct Counted {
    int64_t spans = 0, calls = 0;
    std::array<int64_t, 4> found{};
    std::array<std::vector<std::string>, 4> services; // those with most first
    std::vector<std::string> unpriced_models;
};

Result<Counted> count_spans(ClickHouse& engine, const Scope& scope) {
    ScopedQuery scoped = TRY(scope_query(scope));
    std::string columns = "toString(service), count(), countIf(" + std::string(is_call) + ")";
    for (const CountedCondition& condition : counted_conditions()) columns += ", countIf(" + condition.sql + ")";
    columns += ", groupUniqArrayIf(5)(toString(model), " + counted_conditions()[without_price].sql + ")";
    scoped.query.sql = "SELECT " + columns + " FROM hone.spans WHERE " + scoped.where +
                       " GROUP BY service ORDER BY count() DESC LIMIT 1000 FORMAT RowBinary";
    const std::string bytes = TRY(engine.query(scoped.query));
    Counted counted;
    std::array<std::vector<std::pair<int64_t, std::string>>, 4> services;
    std::set<std::string> models;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const std::string service(reader.text());
        counted.spans += static_cast<int64_t>(reader.number<uint64_t>());
        counted.calls += static_cast<int64_t>(reader.number<uint64_t>());
        for (size_t i = 0; i < counted_conditions().size(); ++i) {
            const auto count = static_cast<int64_t>(reader.number<uint64_t>());
            counted.found[i] += count;
            if (count > 0) services[i].emplace_back(count, service);
        }
        for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) models.emplace(reader.text());
    }
    for (size_t i = 0; i < services.size(); ++i) {
        std::stable_sort(services[i].begin(), services[i].end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& [count, service] : services[i])
            if (counted.services[i].size() < most_named) counted.services[i].push_back(service);
    }
    for (const std::string& model : models)
        if (counted.unpriced_models.size() < most_named) counted.unpriced_models.push_back(model);
    return counted;
}

// --- sample --------------------------------------------------------------------------------------------------------

struct SampledSpan {
    std::string scope;
    bool is_call = false, has_failed = false, has_texts = false, has_session = false;
    std::array<bool, 4> found{};
    std::vector<std::string> keys;
};

// The newest spans, some of each service. Small columns choose them, so that attributes are read of these only.
Result<std::vector<SampledSpan>> read_sample(ClickHouse& engine, const Scope& scope) {
    ScopedQuery scoped = TRY(scope_query(scope));
    std::string columns = "JSONExtractString(scope, 'name'), toUInt8(" + std::string(is_call) +
                          "), toUInt8(status = 'error'), toUInt8(notEmpty(input) OR notEmpty(output)), "
                          "toUInt8(chat_session != '')";
    for (const CountedCondition& condition : counted_conditions()) columns += ", toUInt8(" + condition.sql + ")";
    columns += ", arraySlice(JSONExtractKeys(attributes), 1, " + std::to_string(most_keys) + ")";
    scoped.query.sql = "SELECT " + columns + " FROM hone.spans WHERE " + scoped.where +
                       " AND (start_ns, span_id) IN (SELECT start_ns, span_id FROM hone.spans WHERE " + scoped.where +
                       " ORDER BY start_ns DESC LIMIT " + std::to_string(sampled_per_service) + " BY service LIMIT " +
                       std::to_string(most_sampled) + ") FORMAT RowBinary";
    const std::string bytes = TRY(engine.query(scoped.query));
    std::vector<SampledSpan> sample;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        SampledSpan span;
        span.scope = reader.text();
        span.is_call = reader.number<uint8_t>() != 0;
        span.has_failed = reader.number<uint8_t>() != 0;
        span.has_texts = reader.number<uint8_t>() != 0;
        span.has_session = reader.number<uint8_t>() != 0;
        for (bool& found : span.found) found = reader.number<uint8_t>() != 0;
        for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left)
            span.keys.emplace_back(reader.text());
        sample.push_back(std::move(span));
    }
    return sample;
}

// Names with their number of spans; the most frequent first.
class Tally {
public:
    void add(const std::string& name) {
        if (!name.empty()) m_counts[name]++;
    }
    std::vector<std::string> first(size_t most) const {
        std::vector<std::pair<int64_t, std::string>> order;
        for (const auto& [name, count] : m_counts) order.emplace_back(-count, name);
        std::sort(order.begin(), order.end());
        std::vector<std::string> names;
        for (const auto& [count, name] : order)
            if (names.size() < most) names.push_back(name);
        return names;
    }

private:
    std::map<std::string, int64_t> m_counts;
};

struct Sampled {
    int64_t spans = 0, calls = 0, textless_calls = 0, sessions = 0;
    std::array<Tally, 4> scopes;
    Tally textless_scopes;
    std::map<std::string_view, ConventionShare> conventions;
    struct Unknown {
        int64_t spans = 0;
        Tally scopes;
    };
    std::map<std::string, Unknown> unknown;
    int64_t spans_with_unknown = 0;
};

void add_keys(Sampled& sampled, const SampledSpan& span) {
    std::set<std::string_view> conventions;
    bool has_unknown = false;
    for (const std::string& key : span.keys) {
        const KeyMeaning meaning = meaning_of_key(key);
        if (meaning.use == KeyUse::unknown) {
            auto& unknown = sampled.unknown[key.substr(0, longest_key)];
            unknown.spans++;
            unknown.scopes.add(span.scope);
            has_unknown = true;
        }
        if (meaning.convention.empty()) continue;
        ConventionShare& share = sampled.conventions[meaning.convention];
        if (conventions.insert(meaning.convention).second) share.spans++;
        (meaning.use == KeyUse::read ? share.read : share.kept)++;
    }
    if (has_unknown) sampled.spans_with_unknown++;
}

Sampled summarize(const std::vector<SampledSpan>& sample) {
    Sampled sampled;
    for (const SampledSpan& span : sample) {
        sampled.spans++;
        if (span.has_session) sampled.sessions++;
        for (size_t i = 0; i < span.found.size(); ++i)
            if (span.found[i]) sampled.scopes[i].add(span.scope);
        if (span.is_call && !span.has_failed) {
            sampled.calls++;
            if (!span.has_texts) sampled.textless_calls++, sampled.textless_scopes.add(span.scope);
        }
        add_keys(sampled, span);
    }
    return sampled;
}

// --- findings ------------------------------------------------------------------------------------------------------

double share_of(int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

class Findings {
public:
    Findings(const Counted& counted, const Sampled& sampled) : m_counted(counted), m_sampled(sampled) {}

    // A finding about one of counted_conditions().
    void add_counted(size_t which, TraceFinding finding, int64_t whole) {
        finding.count = m_counted.found[which];
        if (finding.count == 0) return;
        finding.share = share_of(finding.count, whole);
        finding.filter = counted_conditions()[which].filter;
        finding.services = m_counted.services[which];
        finding.scopes = m_sampled.scopes[which].first(most_named);
        all.push_back(std::move(finding));
    }

    void add(TraceFinding finding) {
        if (finding.count > 0) all.push_back(std::move(finding));
    }

    std::vector<TraceFinding> all;

private:
    const Counted& m_counted;
    const Sampled& m_sampled;
};

void add_span_findings(Findings& findings, const Counted& counted, const Sampled& sampled) {
    using enum FindingSeverity;
    const auto scopes = [&](size_t which) { return sampled.scopes[which].first(most_named); };
    findings.add_counted(without_tokens,
                         {"calls_without_tokens",
                          problem,
                          "Model calls without token counts",
                          "Tokens, cost and budgets of these calls are missing.",
                          fix_for(Missing::tokens, scopes(without_tokens)),
                          "",
                          0,
                          0,
                          {},
                          {}},
                         counted.calls);
    findings.add_counted(without_model,
                         {"calls_without_model",
                          problem,
                          "Model calls without the name of the model",
                          "They have no cost, and are missing when spans are grouped by model.",
                          fix_for(Missing::model, scopes(without_model)),
                          "",
                          0,
                          0,
                          {},
                          {}},
                         counted.calls);
    findings.add_counted(without_price,
                         {"calls_without_price",
                          problem,
                          "Model calls whose model has no price",
                          "Their cost is 0. Models: " + listed(counted.unpriced_models) + ".",
                          "hone serve --prices-file FILE  # with a line: " +
                              (counted.unpriced_models.empty() ? "MODEL" : counted.unpriced_models.front()) +
                              " INPUT OUTPUT (USD per million tokens)",
                          "",
                          0,
                          0,
                          {},
                          {}},
                         counted.calls);
    findings.add({"calls_without_texts",
                  problem,
                  "Model calls without input and output",
                  "Their messages are empty, and evaluators and full-text search find nothing. Counted in the sample.",
                  fix_for(Missing::texts, sampled.textless_scopes.first(most_named)),
                  "",
                  sampled.textless_calls,
                  share_of(sampled.textless_calls, sampled.calls),
                  {},
                  sampled.textless_scopes.first(most_named)});
    // Spans of HTTP servers and databases have no kind and need none.
    const bool are_many = share_of(counted.found[without_kind], counted.spans) > 0.5;
    findings.add_counted(
        without_kind,
        {"spans_without_kind",
         are_many && counted.calls == 0 ? problem : notice,
         "Spans without a kind",
         "They are shown as unknown. Spans of HTTP, databases and the application itself need no kind.",
         fix_for(Missing::kind, scopes(without_kind)),
         "",
         0,
         0,
         {},
         {}},
        counted.spans);
}

void add_attribute_findings(Findings& findings, const Counted& counted, const Sampled& sampled) {
    using enum FindingSeverity;
    Tally scopes;
    std::vector<std::pair<int64_t, std::string>> order;
    for (const auto& [key, unknown] : sampled.unknown) {
        order.emplace_back(-unknown.spans, key);
        for (const std::string& scope : unknown.scopes.first(most_named)) scopes.add(scope);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::string> keys;
    for (const auto& [count, key] : order)
        if (keys.size() < most_named) keys.push_back(key);
    findings.add({"unknown_attributes",
                  problem,
                  "Attributes about models that no convention names",
                  "They are kept and searchable, but fill no field: " + listed(keys) + ". Counted in the sample.",
                  "span.set_attribute(\"gen_ai.request.model\", …)  # and the other names of "
                  "https://opentelemetry.io/docs/specs/semconv/gen-ai/",
                  "",
                  sampled.spans_with_unknown,
                  share_of(sampled.spans_with_unknown, sampled.spans),
                  {},
                  scopes.first(most_named)});
    if (counted.calls > 0 && sampled.sessions == 0)
        findings.add({"no_chat_sessions",
                      notice,
                      "No span names a chat session",
                      "Turns of a conversation are separate traces. Counted in the sample.",
                      "span.set_attribute(\"session.id\", conversation_id)",
                      "",
                      sampled.spans,
                      1,
                      {},
                      {}});
}

// "Reasons: the metric is not about models (12). ", of those that mention `what`.
std::string reasons_text(const std::map<std::string, int64_t>& dropped, std::string_view what) {
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : dropped)
        if (reason.find(what) != std::string::npos && reasons.size() < most_named)
            reasons.push_back(reason + " (" + std::to_string(count) + ")");
    return reasons.empty() ? std::string() : "Reasons: " + listed(reasons) + ". ";
}

void add_ledger_findings(Findings& findings, const LedgerCounts& counts) {
    using enum FindingSeverity;
    findings.add({"spans_rejected",
                  problem,
                  "Spans were rejected",
                  "Since the project exists. Reasons: " +
                      [&] {
                          std::vector<std::string> reasons;
                          for (const auto& [reason, count] : counts.rejected)
                              if (reasons.size() < most_named)
                                  reasons.push_back(reason + " (" + std::to_string(count) + ")");
                          return listed(reasons);
                      }() +
                      ".",
                  "hone project show PROJECT  # its limits, sampling and quotas",
                  "",
                  counts.rejected_total(),
                  share_of(counts.rejected_total(), counts.received),
                  {},
                  {}});
    findings.add({"values_truncated",
                  notice,
                  "Values were cut to the size limit",
                  "The end of a long text is missing. Counted since the project exists.",
                  "export OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT=1000000",
                  "truncated = true",
                  counts.truncated,
                  share_of(counts.truncated, counts.received),
                  {},
                  {}});
    findings.add({"log_records_dropped",
                  notice,
                  "Log records were dropped",
                  reasons_text(counts.dropped, "log record") + "Counted since the project exists.",
                  "export OTEL_LOGS_EXPORTER=none  # or set log_retention_days in the project's settings",
                  "",
                  counts.log_records_dropped,
                  share_of(counts.log_records_dropped, counts.log_records + counts.log_records_dropped),
                  {},
                  {}});
    findings.add({"metrics_dropped",
                  notice,
                  "Points of metrics were dropped",
                  reasons_text(counts.dropped, "metric") +
                      "Metrics about models are kept as series. Counted since the project exists.",
                  "export OTEL_METRICS_EXPORTER=none  # if none of your metrics are about models",
                  "",
                  counts.metric_points_dropped,
                  share_of(counts.metric_points_dropped, counts.metric_points),
                  {},
                  {}});
}

} // namespace

Result<TraceDiagnosis> diagnose_traces(ClickHouse& engine, const Scope& scope, const LedgerCounts& counts) {
    const Counted counted = TRY(count_spans(engine, scope));
    const Sampled sampled = summarize(TRY(read_sample(engine, scope)));
    TraceDiagnosis diagnosis;
    diagnosis.from_ns = scope.from_ns;
    diagnosis.to_ns = scope.to_ns;
    diagnosis.spans = counted.spans;
    diagnosis.calls = counted.calls;
    diagnosis.sampled = sampled.spans;
    Findings findings(counted, sampled);
    add_span_findings(findings, counted, sampled);
    add_attribute_findings(findings, counted, sampled);
    add_ledger_findings(findings, counts);
    std::stable_sort(findings.all.begin(), findings.all.end(),
                     [](const auto& a, const auto& b) { return a.severity < b.severity; });
    diagnosis.findings = std::move(findings.all);
    for (const auto& [name, share] : sampled.conventions) {
        diagnosis.conventions.push_back(share);
        diagnosis.conventions.back().name = name;
        diagnosis.conventions.back().share = share_of(share.spans, sampled.spans);
    }
    std::stable_sort(diagnosis.conventions.begin(), diagnosis.conventions.end(),
                     [](const auto& a, const auto& b) { return a.spans > b.spans; });
    for (const auto& [key, unknown] : sampled.unknown)
        diagnosis.unknown_attributes.push_back({key, unknown.spans, unknown.scopes.first(most_named)});
    std::stable_sort(diagnosis.unknown_attributes.begin(), diagnosis.unknown_attributes.end(),
                     [](const auto& a, const auto& b) { return a.spans > b.spans; });
    if (diagnosis.unknown_attributes.size() > most_unknown) diagnosis.unknown_attributes.resize(most_unknown);
    return diagnosis;
}

} // namespace hone::telemetry
