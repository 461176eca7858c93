// Spans by id alone, typed conditions, lists with totals, deletes that take evals along, two windows compared.
#include "telemetry/query/compare.h"
#include "telemetry/query/evals.h"
#include "telemetry/query/sorted_rows.h"
#include "telemetry/query/span_lookup.h"
#include "telemetry/query/trace_list.h"
#include "telemetry/retention/retention.h"
#include "telemetry/store_fixture.h"

#include <algorithm>
#include <cmath>

namespace hone::telemetry::testing {

namespace {

constexpr int64_t millisecond = 1'000'000;

std::string flag_attribute(std::string_view key, bool value) {
    return R"({"key":)" + quote_json(key) + R"(,"value":{"boolValue":)" + (value ? "true" : "false") + "}}";
}

void send(const std::string& project, const std::vector<TestSpan>& spans) {
    REQUIRE(fixture().send_json(project, request(spans)).status == 200);
    fixture().wait();
}

template <class T>
T good(Result<T> result) {
    REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
    return std::move(result).value();
}

ClickHouse& engine() {
    fixture().store();
    return fixture().telemetry->engine();
}

std::vector<std::string> names_with(const std::string& project, const SpanConditions& conditions) {
    ListSpans wanted;
    wanted.scope = scope_of(project);
    wanted.conditions = conditions;
    std::vector<std::string> names;
    for (const SpanRow& row : good(fixture().store().list_spans(wanted)).spans) names.push_back(row.name);
    std::sort(names.begin(), names.end());
    return names;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("conditions on spans hold all together and know the types of attributes") {
    send("conditions",
         {
             {.trace = 1, .id = 1, .name = "root", .attributes = text_attribute("user.id", "42")},
             {.trace = 1, .id = 2, .parent = 1, .name = "number", .attributes = number_attribute("user.id", 42)},
             {.trace = 2,
              .id = 3,
              .name = "flag",
              .attributes = flag_attribute("fast", true) + "," + text_attribute("metadata", R"({"tier":"gold"})") +
                            "," + text_attribute("long", std::string(400, 'x')),
              .status = 2},
         });
    CHECK(names_with("conditions", {.trace_ids = {hex_number(1, 32)}}) == Names{"number", "root"});
    CHECK(names_with("conditions", {.parent_id = ""}) == Names{"flag", "root"});
    CHECK(names_with("conditions", {.parent_id = hex_number(1, 16)}) == Names{"number"});
    CHECK(names_with("conditions", {.names = {"flag", "root"}}) == Names{"flag", "root"});
    CHECK(names_with("conditions", {.statuses = {otlp::StatusCode::error}}) == Names{"flag"});
    CHECK(names_with("conditions", {.kinds = {SpanKind::llm}}).empty());
    const auto attribute = [](std::string key, std::variant<std::string, double, bool> value) {
        return names_with("conditions", {.attributes = {{std::move(key), std::move(value)}}});
    };
    CHECK(attribute("user.id", std::string("42")) == Names{"root"});
    CHECK(attribute("user.id", 42.0) == Names{"number"});
    CHECK(attribute("fast", true) == Names{"flag"});
    CHECK(attribute("fast", false).empty());
    CHECK(attribute("fast", std::string("true")).empty());
    CHECK(attribute("metadata.tier", std::string("gold")) == Names{"flag"});
    CHECK(attribute("long", std::string(400, 'x')) == Names{"flag"});
    CHECK(names_with("conditions", {.names = {"root"}, .attributes = {{"fast", true}}}).empty());
}

TEST_CASE("spans, traces and sessions are found by their ids in the projects that are allowed, and in no other") {
    const std::string session = text_attribute("session.id", "it's a \\ \"chat\"\n\t");
    send("found a", {{.trace = 70, .id = 700, .attributes = session}});
    send("found b", {{.trace = 70, .id = 700, .start_ns = base_ns + 1000, .attributes = session}});
    SpanLookup lookup(engine());
    const Names both = {"project_found a", "project_found b"};
    const auto spans = good(lookup.spans(both, {hex_number(700, 16), "nonsense", hex_number(701, 16)}));
    REQUIRE(spans.size() == 2);
    CHECK(spans.front().project == "project_found b"); // used last
    CHECK(spans.front().trace_id == hex_number(70, 32));
    CHECK(good(lookup.spans({"project_found a"}, {hex_number(700, 16)})).size() == 1);
    CHECK(good(lookup.spans({}, {hex_number(700, 16)})).empty());
    CHECK(good(lookup.traces(both, {hex_number(70, 32), std::string(40, 'a')})).size() == 2);
    CHECK(good(lookup.chat_sessions({"project_found a"}, {"it's a \\ \"chat\"\n\t"})).size() == 1);
    CHECK(good(lookup.traces_of_sessions("project_found a", {"it's a \\ \"chat\"\n\t"})) == Names{hex_number(70, 32)});
}

TEST_CASE("traces are listed by their own start or latency, with all their tokens, page by page") {
    std::vector<TestSpan> spans;
    for (uint64_t trace = 1; trace <= 5; ++trace) {
        const int64_t start = base_ns + static_cast<int64_t>(trace) * 1000 * millisecond;
        spans.push_back({.trace = trace, .id = trace, .start_ns = start, .duration_ns = millisecond});
        // The last ones are the quickest.
        spans.push_back({.trace = trace,
                         .id = 100 + trace,
                         .parent = trace,
                         .start_ns = start,
                         .duration_ns = static_cast<int64_t>(10 - trace) * millisecond,
                         .attributes = number_attribute("llm.token_count.prompt", 7) + "," +
                                       number_attribute("llm.token_count.completion", 3)});
    }
    // Begins before the others and ends after them.
    spans.push_back({.trace = 9, .id = 9, .start_ns = base_ns, .duration_ns = millisecond});
    spans.push_back({.trace = 9, .id = 10, .parent = 9, .start_ns = base_ns + 3500 * millisecond});
    send("totals", spans);
    TraceList lists(engine());
    ListTraceTotals wanted;
    wanted.project = "project_totals";
    wanted.limit = 4;
    auto page = good(lists.traces(wanted));
    REQUIRE(page.traces.size() == 4);
    CHECK(page.traces.front().trace_id == hex_number(5, 32));
    CHECK(page.traces.front().prompt_tokens == 7);
    CHECK(page.traces.front().completion_tokens == 3);
    CHECK(page.traces.front().end_ns - page.traces.front().start_ns == 5 * millisecond);
    REQUIRE(!page.next_cursor.empty());
    wanted.cursor = page.next_cursor;
    page = good(lists.traces(wanted));
    REQUIRE(page.traces.size() == 2);
    CHECK(page.traces.back().trace_id == hex_number(9, 32));
    CHECK(page.next_cursor.empty());

    wanted.cursor.clear();
    wanted.by_latency = true;
    wanted.ascending = true;
    page = good(lists.traces(wanted));
    CHECK(page.traces.front().trace_id == hex_number(5, 32));
    wanted.cursor = page.next_cursor;
    CHECK(good(lists.traces(wanted)).traces.back().trace_id == hex_number(9, 32));

    ListTraceTotals quick;
    quick.project = "project_totals";
    quick.least_latency_ns = 6 * millisecond;
    quick.most_latency_ns = 8 * millisecond;
    quick.limit = 2;
    page = good(lists.traces(quick));
    REQUIRE(page.traces.size() == 2);
    CHECK(page.traces.front().trace_id == hex_number(4, 32));
    quick.cursor = page.next_cursor;
    page = good(lists.traces(quick));
    REQUIRE(page.traces.size() == 1);
    CHECK(page.traces.front().trace_id == hex_number(2, 32));
    quick.cursor.clear();
    quick.has_error = true;
    CHECK(good(lists.traces(quick)).traces.empty());
    quick.has_error = false;
    CHECK(good(lists.traces(quick)).traces.size() == 2);

    // A trace that began earlier is not one of the window, though a span of it is.
    ListTraceTotals window;
    window.project = "project_totals";
    window.from_ns = base_ns + 3000 * millisecond;
    window.to_ns = base_ns + 4000 * millisecond;
    page = good(lists.traces(window));
    REQUIRE(page.traces.size() == 1);
    CHECK(page.traces.front().trace_id == hex_number(3, 32));
    window.cursor = "nonsense";
    CHECK(lists.traces(window).error().code == Code::invalid);
}

TEST_CASE("spans and traces are sorted by what was requested, page by page, with the same number or not") {
    std::vector<TestSpan> spans;
    for (uint64_t trace = 1; trace <= 6; ++trace) {
        const int64_t start = base_ns + static_cast<int64_t>(trace) * 1000 * millisecond;
        spans.push_back({.trace = trace, .id = trace, .start_ns = start, .duration_ns = 2 * millisecond});
        // Two of each duration and number of tokens; the third fails.
        const auto number = static_cast<int64_t>(trace / 2);
        spans.push_back({.trace = trace,
                         .id = 100 + trace,
                         .parent = trace,
                         .start_ns = start,
                         .duration_ns = (10 - number) * millisecond,
                         .attributes = number_attribute("llm.token_count.prompt", 10 * number),
                         .status = trace == 3 ? 2 : 0});
    }
    send("sorted", spans);
    const auto all_traces = [&](RowOrder order, bool ascending, const std::string& filter) {
        ListTraces list;
        list.scope = scope_of("sorted", filter);
        list.limit = 2;
        std::vector<TraceRow> found;
        do {
            auto page = good(sorted_traces(engine(), list, {order, ascending}));
            for (TraceRow& row : page.traces) found.push_back(std::move(row));
            list.cursor = page.next_cursor;
        } while (!list.cursor.empty());
        return found;
    };
    const auto ids = [](const auto& rows) {
        std::vector<int> found;
        for (const auto& row : rows) found.push_back(std::stoi(row.trace_id.substr(24), nullptr, 16));
        return found;
    };
    CHECK(ids(all_traces(RowOrder::start, false, "")) == std::vector{6, 5, 4, 3, 2, 1});
    CHECK(ids(all_traces(RowOrder::start, true, "")) == std::vector{1, 2, 3, 4, 5, 6});
    CHECK(ids(all_traces(RowOrder::duration, false, "")) == std::vector{1, 3, 2, 5, 4, 6});
    CHECK(ids(all_traces(RowOrder::duration, true, "")) == std::vector{6, 4, 5, 2, 3, 1});
    CHECK(ids(all_traces(RowOrder::tokens, false, "")) == std::vector{6, 5, 4, 3, 2, 1});
    CHECK(ids(all_traces(RowOrder::errors, false, "")).front() == 3);
    // A filter selects traces by one of their spans; the others count too.
    const auto failed = all_traces(RowOrder::duration, false, "status = error");
    REQUIRE(failed.size() == 1);
    CHECK(failed.front().spans == 2);
    CHECK(failed.front().tokens == 10);

    ListSpans list;
    list.scope = scope_of("sorted", "");
    list.limit = 5;
    std::vector<SpanRow> found;
    do {
        auto page = good(sorted_spans(engine(), list, {RowOrder::duration}));
        for (SpanRow& row : page.spans) found.push_back(std::move(row));
        list.cursor = page.next_cursor;
    } while (!list.cursor.empty());
    REQUIRE(found.size() == 12);
    CHECK(std::is_sorted(found.begin(), found.end(),
                         [](const SpanRow& a, const SpanRow& b) { return a.duration_ns > b.duration_ns; }));
    CHECK(ids(found).front() == 1);
    list.limit = 100;
    found = good(sorted_spans(engine(), list, {RowOrder::tokens, true})).spans;
    REQUIRE(found.size() == 12);
    CHECK(found.back().tokens.total() == 30);
    CHECK(found.front().tokens.total() == 0);
    CHECK(good(sorted_spans(engine(), list, {RowOrder::errors})).spans.front().status == otlp::StatusCode::error);
    list.cursor = "nonsense";
    CHECK(sorted_spans(engine(), list, {RowOrder::cost}).error().code == Code::invalid);
}

TEST_CASE("a session counts all spans of its traces, also those that do not name it") {
    const std::string first = text_attribute("session.id", "first"), second = text_attribute("session.id", "second");
    send("sessions", {
                         {.trace = 1, .id = 1, .attributes = first},
                         {.trace = 1,
                          .id = 2,
                          .parent = 1,
                          .start_ns = base_ns + millisecond,
                          .attributes = number_attribute("llm.token_count.prompt", 11)},
                         {.trace = 2, .id = 3, .start_ns = base_ns + 10 * millisecond, .attributes = first},
                         {.trace = 3, .id = 4, .start_ns = base_ns + 20 * millisecond, .attributes = second},
                         {.trace = 4, .id = 5, .start_ns = base_ns + 30 * millisecond},
                     });
    TraceList lists(engine());
    auto page = good(lists.sessions("project_sessions", true, 1, ""));
    REQUIRE(page.sessions.size() == 1);
    CHECK(page.sessions.front().chat_session == "first");
    CHECK(page.sessions.front().traces.size() == 2);
    CHECK(page.sessions.front().prompt_tokens == 11);
    page = good(lists.sessions("project_sessions", true, 1, page.next_cursor));
    CHECK(page.sessions.front().chat_session == "second");
    CHECK(page.next_cursor.empty());
    CHECK(good(lists.session("project_sessions", "second")).start_ns == base_ns + 20 * millisecond);
    CHECK(lists.session("project_sessions", "third").error().code == Code::not_found);
}

TEST_CASE("what is deleted takes its evals and their history along, and nothing else") {
    const std::string session = text_attribute("session.id", "gone");
    send("cascade", {
                        {.trace = 1, .id = 1, .attributes = session},
                        {.trace = 2, .id = 2, .name = "bad"},
                        {.trace = 3, .id = 3},
                        {.trace = 4, .id = 4},
                    });
    Evals evals(engine(), fixture().clock);
    const auto eval = [](EvalTarget target, std::string id) {
        Eval made;
        made.project = "project_cascade";
        made.target = target;
        made.target_id = std::move(id);
        made.name = "correct";
        made.label = "no";
        return made;
    };
    std::vector<Eval> all;
    for (const uint64_t id : {1, 2, 3, 4}) all.push_back(eval(EvalTarget::span, hex_number(id, 16)));
    for (const uint64_t id : {1, 2, 3, 4}) all.push_back(eval(EvalTarget::trace, hex_number(id, 32)));
    all.push_back(eval(EvalTarget::chat_session, "gone"));
    good(evals.upsert(all));
    const auto left = [&](EvalTarget target) {
        ListEvals wanted;
        wanted.project = "project_cascade";
        wanted.target = target;
        return good(evals.list(wanted)).evals.size();
    };
    Retention retention(engine(), fixture().clock);
    CHECK(good(retention.delete_session("project_cascade", "gone", {hex_number(1, 32)})) == 1);
    CHECK(left(EvalTarget::chat_session) == 0);
    CHECK(left(EvalTarget::span) == 3);
    CHECK(left(EvalTarget::trace) == 3);
    CHECK(good(retention.delete_spans("project_cascade", {hex_number(3, 16)})) == 1);
    CHECK(left(EvalTarget::span) == 2);
    // The filter selects by evals that are deleted with the span.
    CHECK(good(retention.delete_matching("project_cascade", R"(name = "bad" and eval["correct"].label = "no")", 0,
                                         INT64_MAX)) == 1);
    CHECK(left(EvalTarget::span) == 1);
    CHECK(good(evals.history("project_cascade", EvalTarget::span, hex_number(2, 16))).empty());
    CHECK(good(evals.history("project_cascade", EvalTarget::span, hex_number(4, 16))).size() == 1);
    CHECK(good(retention.delete_traces("project_cascade", {hex_number(4, 32), hex_number(99, 32)})) == 1);
    CHECK(count_spans("cascade") == 0);
}

TEST_CASE("evals are deleted by who made them, and listed by several identifiers") {
    Evals evals(engine(), fixture().clock);
    std::vector<Eval> all;
    for (const char* annotator : {"user_a", "user_b"}) {
        Eval made;
        made.project = "project_owners";
        made.target_id = hex_number(1, 16);
        made.name = "tone";
        made.label = "kind";
        made.annotator = annotator;
        made.identifier = annotator;
        all.push_back(made);
    }
    good(evals.upsert(all));
    ListEvals wanted;
    wanted.project = "project_owners";
    wanted.identifiers = {"user_a", "nobody"};
    CHECK(good(evals.list(wanted)).evals.size() == 1);
    DeleteEvals request;
    request.project = "project_owners";
    request.annotator = "user_a";
    request.all = true;
    CHECK(good(evals.remove(request)) == 1);
    wanted.identifiers.clear();
    const auto left = good(evals.list(wanted)).evals;
    REQUIRE(left.size() == 1);
    CHECK(left.front().annotator == "user_b");
}

TEST_CASE("two windows side by side show what came, went and changed") {
    const int64_t day = 86'400'000'000'000 / 24;
    std::vector<TestSpan> spans;
    for (uint64_t id = 1; id <= 4; ++id) spans.push_back({.trace = id, .id = id, .start_ns = base_ns, .name = "old"});
    for (uint64_t id = 5; id <= 6; ++id)
        spans.push_back(
            {.trace = id, .id = id, .start_ns = base_ns + day, .duration_ns = 3 * millisecond, .name = "old"});
    spans.push_back({.trace = 7, .id = 7, .start_ns = base_ns + day, .name = "new", .status = 2});
    send("windows", spans);
    CompareWindows request;
    request.scope = scope_of("windows");
    request.baseline = {base_ns, base_ns + day};
    request.current = {base_ns + day, base_ns + 2 * day};
    request.group_by = "name";
    const Comparison comparison = good(compare(fixture().store(), request));
    const auto at = [](Metric metric) {
        const auto metrics = compared_metrics();
        return static_cast<size_t>(std::find(metrics.begin(), metrics.end(), metric) - metrics.begin());
    };
    CHECK(comparison.all.baseline[at(Metric::count)] == 4);
    CHECK(comparison.all.current[at(Metric::count)] == 3);
    CHECK(comparison.all.current[at(Metric::errors)] == 1);
    REQUIRE(comparison.groups.size() == 2);
    CHECK(comparison.groups[0].group == "old");
    CHECK(comparison.groups[0].current[at(Metric::latency_p50)] == 3.0 * millisecond);
    CHECK(comparison.groups[1].group == "new");
    CHECK(comparison.groups[1].baseline[at(Metric::count)] == 0);
    CHECK(std::isnan(comparison.groups[1].baseline[at(Metric::latency_p95)]));
    CHECK(!comparison.is_cut);
    request.groups = 1;
    CHECK(good(compare(fixture().store(), request)).is_cut);
    request.current = {base_ns, base_ns};
    CHECK(compare(fixture().store(), request).error().code == Code::invalid);
}

} // namespace hone::telemetry::testing
