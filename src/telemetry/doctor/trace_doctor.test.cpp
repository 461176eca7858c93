#include "telemetry/doctor/trace_doctor.h"
#include "telemetry/store_fixture.h"

#include <algorithm>

namespace hone::telemetry::testing {

namespace {

TraceDiagnosis diagnose(const std::string& project) {
    fixture().wait();
    fixture().store();
    auto diagnosis = diagnose_traces(fixture().telemetry->engine(), scope_of(project), fixture().ledger(project));
    REQUIRE_MESSAGE(diagnosis.ok(), (diagnosis.ok() ? "" : diagnosis.error().message));
    return std::move(diagnosis).value();
}

const TraceFinding* find(const TraceDiagnosis& diagnosis, std::string_view name) {
    for (const TraceFinding& finding : diagnosis.findings)
        if (finding.name == name) return &finding;
    return nullptr;
}

std::string complete_call() {
    return text_attribute("openinference.span.kind", "LLM") + "," + text_attribute("llm.model_name", "gpt-4o-mini") +
           "," + text_attribute("input.value", "Hello") + "," + text_attribute("output.value", "Hi") + "," +
           text_attribute("session.id", "chat 1") + "," + number_attribute("llm.token_count.prompt", 12) + "," +
           number_attribute("llm.token_count.completion", 7);
}

} // namespace

TEST_CASE("a project whose calls are complete has no findings") {
    fixture().send_json("doctor-well", request({{1, 1, 0, base_ns, 1000, "chat", complete_call()}}));
    const TraceDiagnosis diagnosis = diagnose("doctor-well");
    CHECK(diagnosis.spans == 1);
    CHECK(diagnosis.calls == 1);
    CHECK(diagnosis.sampled == 1);
    CHECK(diagnosis.findings.empty());
    REQUIRE(diagnosis.conventions.size() == 1);
    CHECK(diagnosis.conventions.front().name == "OpenInference");
    CHECK(diagnosis.conventions.front().share == 1);
    CHECK(diagnosis.unknown_attributes.empty());
}

TEST_CASE("each finding counts its spans and names the line to change") {
    const std::string call = text_attribute("gen_ai.operation.name", "chat");
    std::vector<TestSpan> spans;
    // A call without anything, a failed one, one with a model that has no price, a span of no kind, a new framework's.
    spans.push_back({1, 1, 0, base_ns, 1000, "bare", call});
    spans.push_back(
        {2, 2, 0, base_ns + 1, 1000, "failed", call + "," + text_attribute("gen_ai.request.model", "m"), 2});
    spans.push_back({3, 3, 0, base_ns + 2, 1000, "priceless",
                     call + "," + text_attribute("gen_ai.request.model", "house-model-7") + "," +
                         number_attribute("gen_ai.usage.input_tokens", 5) + "," + text_attribute("input.value", "x")});
    spans.push_back({4, 4, 0, base_ns + 3, 1000, "GET /", text_attribute("http.request.method", "GET")});
    spans.push_back({5, 5, 0, base_ns + 4, 1000, "think",
                     text_attribute("acme.prompt", std::string(5000, 'p')) + "," + number_attribute("acme.tokens", 3)});
    fixture().send_json("doctor-ill", request(spans));
    const TraceDiagnosis diagnosis = diagnose("doctor-ill");
    CHECK(diagnosis.spans == 5);
    CHECK(diagnosis.calls == 3);
    const TraceFinding* tokens = find(diagnosis, "calls_without_tokens");
    REQUIRE(tokens != nullptr);
    CHECK(tokens->count == 1);
    CHECK(tokens->share == doctest::Approx(1.0 / 3));
    CHECK(tokens->services == std::vector<std::string>{"shop"});
    CHECK(tokens->scopes == std::vector<std::string>{"t"});
    CHECK(tokens->fix.find("gen_ai.usage.input_tokens") != std::string::npos);
    CHECK(find(diagnosis, "calls_without_model")->count == 1);
    const TraceFinding* price = find(diagnosis, "calls_without_price");
    REQUIRE(price != nullptr);
    CHECK(price->count == 1);
    CHECK(price->fix.find("house-model-7") != std::string::npos);
    CHECK(find(diagnosis, "calls_without_texts")->count == 1);
    CHECK(find(diagnosis, "spans_without_kind")->count == 2);
    CHECK(find(diagnosis, "spans_without_kind")->severity == FindingSeverity::notice);
    CHECK(find(diagnosis, "no_chat_sessions") != nullptr);
    CHECK(find(diagnosis, "unknown_attributes")->count == 1);
    // A text that is too long to be indexed is found too.
    REQUIRE(diagnosis.unknown_attributes.size() == 2);
    CHECK(diagnosis.unknown_attributes[0].key == "acme.prompt");
    CHECK(diagnosis.unknown_attributes[1].key == "acme.tokens");
    CHECK(std::is_sorted(diagnosis.findings.begin(), diagnosis.findings.end(),
                         [](const auto& a, const auto& b) { return a.severity < b.severity; }));
    // Every filter lists exactly the spans that were counted.
    for (const TraceFinding& finding : diagnosis.findings) {
        if (finding.filter.empty()) continue;
        ListSpans list;
        list.scope = scope_of("doctor-ill", finding.filter);
        const auto page = fixture().store().list_spans(list);
        REQUIRE_MESSAGE(page.ok(), finding.filter);
        CHECK_MESSAGE(static_cast<int64_t>(page.value().spans.size()) == finding.count, finding.name);
    }
}

TEST_CASE("the sample has spans of every service and stays bounded") {
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 400; ++i)
        spans.push_back({100 + i, 100 + i, 0, base_ns + static_cast<int64_t>(i), 1000, "busy", complete_call()});
    fixture().send_json("doctor-many", request(spans));
    std::string rare = request({{1, 1, 0, base_ns - 1000, 1000, "rare", text_attribute("acme.llm", "x")}});
    rare.replace(rare.find("\"shop\""), 6, "\"rare\"");
    fixture().send_json("doctor-many", rare);
    const TraceDiagnosis diagnosis = diagnose("doctor-many");
    CHECK(diagnosis.spans == 401);
    CHECK(diagnosis.sampled == 251);
    REQUIRE(diagnosis.unknown_attributes.size() == 1);
    CHECK(diagnosis.unknown_attributes.front().key == "acme.llm");
}

TEST_CASE("a project without spans is diagnosed as empty; what was dropped is counted") {
    LedgerCounts counts;
    counts.received = 10;
    counts.log_records = 1;
    counts.drop_log_records("log records are switched off in the project's settings", 3);
    counts.metric_points = 16;
    counts.drop_metric_points("the metric is not about models", 8);
    counts.rejected["too old"] = 4;
    fixture().store();
    auto diagnosis = diagnose_traces(fixture().telemetry->engine(), scope_of("doctor-empty"), counts);
    REQUIRE(diagnosis.ok());
    CHECK(diagnosis.value().spans == 0);
    CHECK(find(diagnosis.value(), "log_records_dropped")->share == doctest::Approx(0.75));
    CHECK(find(diagnosis.value(), "log_records_dropped")->explanation.find("switched off") != std::string::npos);
    CHECK(find(diagnosis.value(), "metrics_dropped")->count == 8);
    CHECK(find(diagnosis.value(), "metrics_dropped")->share == doctest::Approx(0.5));
    CHECK(find(diagnosis.value(), "metrics_dropped")->explanation.find("not about models (8)") != std::string::npos);
    CHECK(find(diagnosis.value(), "spans_rejected")->explanation.find("too old (4)") != std::string::npos);
    CHECK(diagnosis.value().findings.front().name == "spans_rejected");
}

} // namespace hone::telemetry::testing
