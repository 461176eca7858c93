// What arrives in a project but is not understood.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"
#include "telemetry/doctor/trace_doctor.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct DiagnosisQuery : SpanRange {
    static constexpr auto fields = span_range_fields();
};

struct TraceFindingView {
    std::string name;
    telemetry::FindingSeverity severity = telemetry::FindingSeverity::problem;
    std::string title;
    std::string explanation;
    std::string fix;
    std::string filter;
    int64_t count = 0;
    double share = 0;
    std::vector<std::string> services;
    std::vector<std::string> scopes;
    static constexpr Pack fields{
        Field{"name", &TraceFindingView::name, "Constant name of the finding, such as calls_without_tokens."},
        Field{"severity", &TraceFindingView::severity, "problem: something is missing; notice: good to know."},
        Field{"title", &TraceFindingView::title, ""},
        Field{"explanation", &TraceFindingView::explanation, "What is missing because of it."},
        Field{"fix", &TraceFindingView::fix, "The line to change in the sender."},
        Field{"filter", &TraceFindingView::filter, "Filter of the spans; empty: they cannot be listed."},
        Field{"count", &TraceFindingView::count, "Spans, log records or points of metrics."},
        Field{"share", &TraceFindingView::share, "0 to 1: of the spans, or of the model calls."},
        Field{"services", &TraceFindingView::services, "Services with most of them."},
        Field{"scopes", &TraceFindingView::scopes, "Instrumentations with most of them."},
    };
};

struct ConventionShareView {
    std::string name;
    int64_t spans = 0;
    double share = 0;
    int64_t read = 0;
    int64_t kept = 0;
    static constexpr Pack fields{
        Field{"name", &ConventionShareView::name, ""},
        Field{"spans", &ConventionShareView::spans, "Spans of the sample that have attributes of the convention."},
        Field{"share", &ConventionShareView::share, "0 to 1, of the sample."},
        Field{"read", &ConventionShareView::read, "Attributes that fill a field of their span."},
        Field{"kept", &ConventionShareView::kept, "Attributes that are only shown and searchable."},
    };
};

struct UnknownAttributeView {
    std::string key;
    int64_t spans = 0;
    std::vector<std::string> scopes;
    static constexpr Pack fields{
        Field{"key", &UnknownAttributeView::key, ""},
        Field{"spans", &UnknownAttributeView::spans, "Spans of the sample."},
        Field{"scopes", &UnknownAttributeView::scopes, "Instrumentations that send it."},
    };
};

struct TraceDiagnosisView {
    Time after{};
    Time before{};
    int64_t spans = 0;
    int64_t calls = 0;
    int64_t sampled = 0;
    std::vector<TraceFindingView> findings;
    std::vector<ConventionShareView> conventions;
    std::vector<UnknownAttributeView> unknown_attributes;
    static constexpr Pack fields{
        Field{"after", &TraceDiagnosisView::after, ""},
        Field{"before", &TraceDiagnosisView::before, ""},
        Field{"spans", &TraceDiagnosisView::spans, "Spans in the window."},
        Field{"calls", &TraceDiagnosisView::calls, "Model calls in the window."},
        Field{"sampled", &TraceDiagnosisView::sampled,
              "Spans whose attributes were read: the newest of each service, at most 1000."},
        Field{"findings", &TraceDiagnosisView::findings, "Problems first."},
        Field{"conventions", &TraceDiagnosisView::conventions, "Most frequent first."},
        Field{"unknown_attributes", &TraceDiagnosisView::unknown_attributes,
              "Attributes of no convention whose names are about models; at most 50, most frequent first."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr Duration diagnosed_window = std::chrono::hours(24);

TraceDiagnosisView diagnosis_view(telemetry::TraceDiagnosis&& diagnosis) {
    TraceDiagnosisView view;
    view.after = from_ns(diagnosis.from_ns);
    view.before = from_ns(diagnosis.to_ns);
    view.spans = diagnosis.spans;
    view.calls = diagnosis.calls;
    view.sampled = diagnosis.sampled;
    for (auto& finding : diagnosis.findings)
        view.findings.push_back({std::move(finding.name), finding.severity, std::move(finding.title),
                                 std::move(finding.explanation), std::move(finding.fix), std::move(finding.filter),
                                 finding.count, finding.share, std::move(finding.services), std::move(finding.scopes)});
    for (auto& convention : diagnosis.conventions)
        view.conventions.push_back(
            {std::move(convention.name), convention.spans, convention.share, convention.read, convention.kept});
    for (auto& attribute : diagnosis.unknown_attributes)
        view.unknown_attributes.push_back({std::move(attribute.key), attribute.spans, std::move(attribute.scopes)});
    return view;
}

} // namespace

Result<One<TraceDiagnosisView>> diagnose_traces(const Call& call, const DiagnosisQuery& query) {
    auto scope = TRY(scope_of(call, query));
    if (!query.before) scope.to_ns = to_ns(call.services.clock.now()) + 1;
    if (!query.after) scope.from_ns = scope.to_ns - diagnosed_window.count();
    TRY(call.services.spans.store());
    telemetry::Telemetry& telemetry = call.services.spans.telemetry;
    const auto ledger = telemetry.ledger();
    const auto counts = ledger.find(scope.project);
    return One<TraceDiagnosisView>{diagnosis_view(TRY(telemetry::diagnose_traces(
        telemetry.engine(), scope, counts == ledger.end() ? telemetry::LedgerCounts{} : counts->second)))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route doctor_table[] = {
    route<diagnose_traces>("GET", "/v1/projects/{project}/trace_diagnosis", need(project_read),
                           "What arrives but is not understood, with the line to change in the sender; the last 24 "
                           "hours if no time is given.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> doctor_routes() {
    return doctor_table;
}

} // namespace hone::api
