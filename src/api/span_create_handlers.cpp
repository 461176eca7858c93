#include "api/phoenix_handlers.h"
#include "api/places.h"
#include "api/trace_target.h"
#include "telemetry/transfer/import_lines.h"

#include <set>

namespace hone::api {

namespace {

constexpr size_t most_new_spans = 100'000;

// Spans on their way in: all of them go, or none, and the sender learns what is wrong with each.
class NewSpans {
public:
    explicit NewSpans(const std::vector<json::Value>& spans) {
        for (size_t i = 0; i < spans.size(); ++i) take(spans[i], "data[" + std::to_string(i) + "]");
    }

    bool has_faults() const { return !m_invalid.empty() || !m_repeated.empty(); }
    const std::string& otlp() const { return m_otlp; }
    std::vector<std::string> span_ids() const {
        std::vector<std::string> ids;
        for (const auto& [trace, span] : m_ids) ids.push_back(span);
        return ids;
    }
    void stored_already(const std::string& trace_id, const std::string& span_id) {
        if (m_ids.contains({trace_id, span_id})) m_repeated.push_back(names(trace_id, span_id));
    }

    net::Response refusal() const {
        json::Object body;
        body["error"] =
            json::Object{{"code", "invalid"},
                         {"message", "no span was taken: " + std::to_string(m_invalid.size()) + " invalid, " +
                                         std::to_string(m_repeated.size()) + " known already"}};
        body["total_received"] = m_received;
        body["total_queued"] = 0;
        body["total_invalid"] = m_invalid.size();
        body["total_duplicates"] = m_repeated.size();
        body["invalid_spans"] = m_invalid;
        body["duplicate_spans"] = m_repeated;
        return net::json_response(400, json::print(body));
    }

private:
    static json::Object names(const std::string& trace_id, const std::string& span_id) {
        return {{"span_id", span_id}, {"trace_id", trace_id}};
    }

    void take(const json::Value& value, const std::string& path) {
        ++m_received;
        auto span = json::from_value<NewSpan>(value, path);
        if (!span.ok()) {
            json::Object fault = names("unknown", "unknown");
            fault["error"] = span.error().message;
            m_invalid.push_back(std::move(fault));
            return;
        }
        const std::string trace_id = lowercase_ascii(span.value().context.trace_id);
        const std::string span_id = lowercase_ascii(span.value().context.span_id);
        if (auto fault = check(span.value(), trace_id, span_id, value); !fault.ok()) {
            json::Object entry = names(trace_id, span_id);
            entry["error"] = path + ": " + fault.error().message;
            m_invalid.push_back(std::move(entry));
            return;
        }
        if (!m_ids.emplace(trace_id, span_id).second) m_repeated.push_back(names(trace_id, span_id));
    }

    Result<> check(const NewSpan& span, const std::string& trace_id, const std::string& span_id,
                   const json::Value& value) {
        if (trace_id.size() != 32 || !from_hex(trace_id).ok()) return invalid("trace_id must be 32 hexadecimal digits");
        if (span_id.size() != 16 || !from_hex(span_id).ok()) return invalid("span_id must be 16 hexadecimal digits");
        if (span.end_time < span.start_time) return invalid("end_time must not be before start_time");
        if (!parse_enum<otlp::StatusCode>(lowercase_ascii(span.status_code)))
            return invalid("status_code must be OK, ERROR or UNSET");
        if (span.attributes && !span.attributes->is_object()) return invalid("attributes must be an object");
        auto element = TRY(telemetry::read_phoenix_span(json::print(value)));
        if (!element.rejected.empty()) return invalid(element.rejected.front());
        m_otlp += element.otlp;
        return {};
    }

    int64_t m_received = 0;
    std::string m_otlp; // an ExportTraceServiceRequest
    std::set<std::pair<std::string, std::string>> m_ids;
    json::Array m_invalid;
    json::Array m_repeated;
};

} // namespace

Result<TraceTarget> trace_target(const Call& call, const std::optional<std::string>& space) {
    if (parse_id<access::ProjectTag>(call.at("project")).ok()) {
        const auto project = TRY(project_in_path(call, space, access::Permission::trace_write));
        return TraceTarget{project.space_id, project.name};
    }
    const auto chosen = TRY(call.access().spaces.choose(call.caller, space));
    TRY(call.caller.require(access::Permission::trace_write, chosen));
    return TraceTarget{chosen, call.at("project")};
}

Result<net::Response> create_spans(const Call& call, const InSpace& query, const CreateSpans& body) {
    const auto [space, name] = TRY(trace_target(call, query.space));
    Spans& spans = *TRY(spans_of(call));
    if (body.data.size() > most_new_spans)
        return too_large("at most " + std::to_string(most_new_spans) + " spans at once");
    NewSpans wanted(body.data);
    if (wanted.has_faults()) return wanted.refusal();
    const auto project = TRY(spans.projects.resolve(call.caller, space, name));
    TRY(wait_until_loaded(call));
    for (const auto& found : TRY(spans.lookup.spans({project.id}, wanted.span_ids())))
        wanted.stored_already(found.trace_id, found.id);
    if (wanted.has_faults()) return wanted.refusal();
    CallersProjects projects(spans.projects, call.caller, space);
    telemetry::IngestRequest request;
    request.body = wanted.otlp();
    request.project = name;
    request.space = space.text();
    request.projects = &projects;
    const auto taken = TRY(spans.telemetry.ingester().take(request));
    json::Object answer{{"total_received", static_cast<int64_t>(body.data.size())}, {"total_queued", taken.accepted}};
    return net::json_response(202, json::print(answer));
}

} // namespace hone::api
