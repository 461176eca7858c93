// Evals and retention on the real engine, and the pure parts of filters.
#include "telemetry/guard/sql_guard.h"
#include "telemetry/query/evals.h"
#include "telemetry/query/filter.h"
#include "telemetry/query/span_lookup.h"
#include "telemetry/retention/kept_traces.h"
#include "telemetry/retention/retention.h"
#include "telemetry/store_fixture.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <set>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;
using namespace std::chrono_literals;

namespace {

std::string filter_error(std::string_view text) {
    auto filter = parse_filter(text);
    return filter.ok() ? "" : filter.error().message;
}

Eval label(const std::string& project, uint64_t span, const std::string& name, const std::string& value) {
    Eval eval;
    eval.project = "project_" + project;
    eval.target_id = hex_number(span, 16);
    eval.name = name;
    eval.label = value;
    eval.annotator = "user_1";
    return eval;
}

size_t count_matching(const std::string& project, const std::string& filter) {
    ListSpans list;
    list.scope = scope_of(project, filter);
    list.limit = 1000;
    auto page = fixture().store().list_spans(list);
    REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message));
    return page.value().spans.size();
}

Result<std::string> ask(const std::string& project, const std::string& sql) {
    SqlRequest request;
    request.project = "project_" + project;
    request.sql = sql;
    request.format = "CSVWithNames";
    return SqlGuard(fixture().telemetry->engine()).run(request);
}

} // namespace

TEST_CASE("a filter's errors contain the column and what was expected") {
    CHECK(filter_error("") == "");
    CHECK(filter_error("nme = 1") == "column 1: unknown field \"nme\"");
    CHECK(filter_error("status = wrong") == "column 10: expected one of unset|ok|error");
    CHECK(filter_error("latency > fast") == "column 11: expected a duration such as 250ms or 2s");
    CHECK(filter_error("status = error and") == "column 19: expected a field, found \"\"");
    CHECK(filter_error("name = \"x") == "column 8: the text has no end quote");
    CHECK(filter_error("name < \"x\"") == "column 6: this field cannot be compared with \"<\"");
    CHECK(filter_error("tokens ~ \"x\"") == "column 8: \"~\" is for texts");
    CHECK(filter_error("(name = x").starts_with("column 10: expected \")\""));
    CHECK(filter_error("model").starts_with("column 6: expected an operator"));
    CHECK(filter_error("tokens > 3x") == "column 10: expected a number such as 250 or 3k");
    CHECK(filter_error("name = x )").starts_with("column 10:"));
    CHECK(filter_error("eval[\"a\"] = 1").starts_with("column 11: expected .label"));
    CHECK(filter_error(std::string(200, '(') + "name = x").find("nested too deep") != std::string::npos);
    CHECK(filter_error(std::string(20'000, ' ')) == "the filter is longer than 16 KB");
    CHECK(filter_error("name = \"\xff\"") == "the filter is not UTF-8");
    CHECK(filter_error("name = ;").starts_with("column 8:"));
}

TEST_CASE("words without quotes search, conditions need no \"and\", numbers need no unit") {
    const auto sql_of = [](std::string_view text) {
        ClickHouseQuery query("");
        auto filter = parse_filter(text);
        REQUIRE_MESSAGE(filter.ok(), (filter.ok() ? "" : filter.error().message));
        std::string sql = compile_filter(filter.value(), query);
        for (const auto& [name, value] : query.parameters) sql += " " + name + "=" + value;
        return sql;
    };
    const auto same = [&](std::string_view short_form, std::string_view long_form) {
        CHECK_MESSAGE(sql_of(short_form) == sql_of(long_form), short_form);
    };
    same("refund", "text ~ \"refund\"");
    same("rückgabe", "text ~ \"rückgabe\"");
    same("404", "text ~ \"404\"");
    same("gpt-4o user@example.com", "text ~ \"gpt-4o\" and text ~ \"user@example.com\"");
    same("bugs in production", "\"bugs\" and \"in\" and \"production\"");
    same("status = error refund", "status = error and text ~ \"refund\"");
    same("refund (status = error or status = ok) not late",
         "\"refund\" and (status = error or status = ok) and not \"late\"");
    same("latency > 2", "latency > 2s");
    same("latency > 0.5", "latency > 500ms");
    same("tokens > 3k and cost < 2", "tokens > 3000.000000 and cost < 2");
    same("session = chat-17/a.b", "session = \"chat-17/a.b\"");
    same("model in (gpt-4o, o3)", "model in (\"gpt-4o\", \"o3\")");
}

TEST_CASE("a text in quotes ends at its own quote, and keeps what follows a backslash") {
    const auto read = [](std::string_view text, size_t expected_end) {
        size_t at = 1;
        const auto found = read_quoted(text, at);
        CHECK(at == expected_end);
        return found.value_or("no end");
    };
    CHECK(read("x\"a'b\"y", 6) == "a'b");
    CHECK(read("x'a\"b'", 6) == "a\"b");
    CHECK(read(R"(x'\'\n\t\\\x')", 13) == "'\n\t\\x");
    CHECK(read("x\"never", 7) == "no end");
    CHECK(read(R"(x"\")", 4) == "no end");
    CHECK(read("x", 1) == "no end");
}

TEST_CASE("values of a filter never become part of the SQL") {
    ClickHouseQuery query("");
    auto filter =
        parse_filter("name = \"x' OR 1=1 --\" and attributes[\"k') OR (1\"] = \"v\" and eval[\"e'\"].label ~ \"'\"");
    REQUIRE(filter.ok());
    const std::string sql = compile_filter(filter.value(), query);
    CHECK(sql.find("1=1") == std::string::npos);
    CHECK(sql.find("OR (1") == std::string::npos);
    CHECK(query.parameters.size() == 5);
}

TEST_CASE("words are found regardless of case, wherever the condition stands") {
    Fixture& f = fixture();
    const auto says = [](uint64_t id, std::string_view text) {
        return TestSpan{330, id, 0, base_ns + static_cast<int64_t>(id), 1, "n", text_attribute("output.value", text)};
    };
    f.send_json("cases", request({says(1, "The REFUND was issued"), says(2, "Refund issued"), says(3, "refunds"),
                                  says(4, "no money back")}));
    f.wait();
    f.store();
    const std::string trace = hex_number(330, 32);
    SpanLookup lookup(f.telemetry->engine());
    const auto matched = [&](const std::string& filter, const std::string& condition) {
        auto found = lookup.match_traces("project_cases", {trace}, filter, condition);
        REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
        REQUIRE(found.value().size() == 1);
        return std::pair(found.value()[0].evaluated, found.value()[0].matched);
    };
    for (const std::string word : {"refund", "Refund", "REFUND"}) {
        CAPTURE(word);
        const std::string contains = "output ~ \"" + word + "\"", phrase = "text ~ \"" + word + " Issued\"";
        CHECK(count_matching("cases", contains) == 2);
        CHECK(count_matching("cases", "not (" + contains + ")") == 2);
        CHECK(count_matching("cases", contains + " or span_id = \"" + hex_number(4, 16) + "\"") == 3);
        CHECK(count_matching("cases", phrase) == 1);
        CHECK(matched(contains, "output ~ \"*FUNDS*\" or " + phrase) == std::pair<int64_t, int64_t>(2, 1));
        CHECK(matched("", contains) == std::pair<int64_t, int64_t>(4, 2));
        CHECK(matched("not (" + contains + ")", "") == std::pair<int64_t, int64_t>(2, 2));
    }
    Retention retention(f.telemetry->engine(), f.clock);
    CHECK(retention.delete_matching("project_cases", "output ~ \"refund\"", 0, INT64_MAX).value() == 2);
    CHECK(count_matching("cases", "") == 2);
}

TEST_CASE("evals are upserted, listed, filtered by, kept in history and removed") {
    Fixture& f = fixture();
    std::vector<TestSpan> spans;
    for (uint64_t i = 1; i <= 10; ++i) spans.push_back({300, i, 0, base_ns + static_cast<int64_t>(i), 1, "n", "", 0});
    f.send_json("judged", request(spans));
    f.wait();
    f.store();
    Evals evals(f.telemetry->engine(), f.clock);
    auto made = evals.upsert({label("judged", 1, "correct", "no"), label("judged", 2, "correct", "yes"),
                              label("judged", 2, "tone", "rude")});
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    CHECK(count_matching("judged", "eval[\"correct\"].label = \"no\"") == 1);
    CHECK(count_matching("judged", "eval[\"correct\"] exists") == 2);
    CHECK(count_matching("judged", "not (eval[\"correct\"] exists)") == 8);

    f.clock.advance(1s);
    Eval changed = label("judged", 1, "correct", "yes");
    changed.score = 0.75;
    auto again = evals.upsert({changed});
    REQUIRE(again.ok());
    CHECK(again.value()[0].id == made.value()[0].id);
    CHECK(again.value()[0].created_ns == made.value()[0].created_ns);
    CHECK(again.value()[0].updated_ns > made.value()[0].updated_ns);
    CHECK(count_matching("judged", "eval[\"correct\"].label = \"no\"") == 0);
    CHECK(count_matching("judged", "eval[\"correct\"].score > 0.7") == 1);

    auto history = evals.history("project_judged", EvalTarget::span, hex_number(1, 16));
    REQUIRE(history.ok());
    REQUIRE(history.value().size() == 2);
    CHECK(history.value()[0].label == "no");
    CHECK(history.value()[1].score == 0.75);

    ListEvals list;
    list.project = "project_judged";
    list.limit = 2;
    auto page = evals.list(list);
    REQUIRE(page.ok());
    CHECK(page.value().evals.size() == 2);
    list.cursor = page.value().next_cursor;
    CHECK(evals.list(list).value().evals.size() == 1);

    Series series;
    series.scope = scope_of("judged");
    series.metrics = {Metric::eval_rate, Metric::eval_score};
    series.bucket = 0s;
    series.eval_name = "correct";
    series.eval_label = "yes";
    auto points = f.store().series(series);
    REQUIRE_MESSAGE(points.ok(), (points.ok() ? "" : points.error().message));
    REQUIRE(points.value().size() == 1);
    CHECK(points.value()[0].values[0] == 1.0);
    CHECK(points.value()[0].values[1] == 0.75);

    CHECK(!evals.remove({"project_judged", EvalTarget::span, {}, {}, {}, {}, {}, {}, false}).ok());
    CHECK(evals.remove({"project_judged", EvalTarget::span, "tone", {}, {}, {}, {}, {}, false}).value() == 1);
    CHECK(count_matching("judged", "eval[\"tone\"] exists") == 0);
    CHECK(evals.history("project_judged", EvalTarget::span, hex_number(2, 16)).value().size() == 3);
    CHECK(!evals.upsert({label("judged", 1, "", "x")}).ok());
}

TEST_CASE("evals of traces and chat sessions are filtered by, and count once each in a series") {
    Fixture& f = fixture();
    std::vector<TestSpan> spans;
    for (uint64_t i = 1; i <= 12; ++i) { // traces 401, 402, 403 of four spans; the first two are one session
        const uint64_t trace = 401 + (i - 1) / 4;
        spans.push_back({trace, i, 0, base_ns + static_cast<int64_t>(i), 1, "n",
                         text_attribute("session.id", trace < 403 ? "talk" : "other"), 0});
    }
    f.send_json("targets", request(spans));
    f.wait();
    f.store();
    Evals evals(f.telemetry->engine(), f.clock);
    const auto judge = [](EvalTarget target, std::string id, std::string verdict, double score) {
        Eval eval;
        eval.project = "project_targets";
        eval.target = target;
        eval.target_id = std::move(id);
        eval.name = "solved";
        eval.label = std::move(verdict);
        eval.score = score;
        return eval;
    };
    REQUIRE(evals
                .upsert({judge(EvalTarget::trace, hex_number(401, 32), "yes", 1),
                         judge(EvalTarget::trace, hex_number(403, 32), "no", 0.5),
                         judge(EvalTarget::chat_session, "talk", "no", 0.25),
                         judge(EvalTarget::span, hex_number(2, 16), "yes", 0)})
                .ok());
    CHECK(count_matching("targets", "trace_eval[\"solved\"].label = \"yes\"") == 4);
    CHECK(count_matching("targets", "session_eval[\"solved\"].label = \"no\"") == 8);
    CHECK(count_matching("targets", "session_eval[\"solved\"].score < 0.2") == 0);
    CHECK(count_matching("targets", "not (session_eval[\"solved\"] exists)") == 4);
    CHECK(count_matching("targets", "eval[\"solved\"] exists and trace_eval[\"solved\"] exists") == 1);

    const auto measured = [&](EvalTarget target) {
        Series series;
        series.scope = scope_of("targets");
        series.metrics = {Metric::eval_rate, Metric::eval_score};
        series.bucket = 0s;
        series.eval_name = "solved";
        series.eval_label = "yes";
        series.eval_target = target;
        auto points = f.store().series(series);
        REQUIRE_MESSAGE(points.ok(), (points.ok() ? "" : points.error().message));
        REQUIRE(points.value().size() == 1);
        return points.value()[0].values;
    };
    CHECK(measured(EvalTarget::span) == std::vector<double>{1, 0});
    CHECK(measured(EvalTarget::trace) == std::vector<double>{0.5, 0.75});
    CHECK(measured(EvalTarget::chat_session) == std::vector<double>{0, 0.25});

    const auto names = evals.names("project_targets");
    REQUIRE(names.ok());
    REQUIRE(names.value().size() == 3);
    CHECK(names.value()[0].target == EvalTarget::trace);
    CHECK(names.value()[0].count == 2);
    CHECK(names.value()[0].labels.size() == 2);
    ListEvals of_trace;
    of_trace.project = "project_targets";
    of_trace.trace_id = hex_number(401, 32);
    CHECK(evals.list(of_trace).value().evals.size() == 1);
    of_trace.trace_id = hex_number(402, 32);
    CHECK(evals.list(of_trace).value().evals.empty());
}

TEST_CASE("a hundred thousand evals are written in one call") {
    Fixture& f = fixture();
    f.store();
    Evals evals(f.telemetry->engine(), f.clock);
    std::vector<Eval> many;
    for (uint64_t i = 0; i < 100'000; ++i) many.push_back(label("bulk", i + 1, "correct", i % 2 ? "yes" : "no"));
    auto made = evals.upsert(many);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    auto answer = ask("bulk", "SELECT label, count() AS n FROM evals GROUP BY label ORDER BY label");
    REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? "" : answer.error().message));
    CHECK(answer.value() == "\"label\",\"n\"\n\"no\",50000\n\"yes\",50000\n");
}

TEST_CASE(
    "retention drops whole days and frees the disk, keeps what people evaluated or named, and leaves others alone") {
    Fixture& f = fixture();
    const int64_t day = 86'400'000'000'000;
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 300; ++i)
        spans.push_back({400 + i, 1, 0, base_ns - 60 * day, 1, "old",
                         text_attribute("output.value",
                                        std::string(500, static_cast<char>('a' + i % 26)) + std::to_string(i * 7919)),
                         0});
    f.send_json("aged", request(spans));
    f.send_json("aged", request({{900, 1, 0, base_ns, 1, "new", "", 0},
                                 {901, 77, 0, base_ns - 59 * day, 1, "evaluated", "", 0},
                                 {902, 1, 0, base_ns - 59 * day, 1, "named", "", 0},
                                 {903, 1, 0, base_ns - 59 * day, 1, "goes", "", 0},
                                 {904, 78, 0, base_ns - 59 * day, 1, "judged by a model", "", 0},
                                 {905, 1, 0, base_ns - 59 * day, 1, "talk", text_attribute("session.id", "s-1"), 0},
                                 {906, 1, 0, base_ns - 59 * day, 1, "kept", "", 0},
                                 {907, 1, 0, base_ns - 59 * day, 1, "released", "", 0}}));
    f.wait();
    f.store();
    Evals evals(f.telemetry->engine(), f.clock);
    Eval judged = label("aged", 78, "correct", "no"), talk = label("aged", 1, "helpful", "yes");
    judged.kind = EvalKind::llm;
    talk.target = EvalTarget::chat_session;
    talk.target_id = "s-1";
    Eval kept = label("aged", 1, "keep", "yes"), released = kept;
    for (Eval* one : {&kept, &released}) one->target = EvalTarget::trace;
    kept.target_id = hex_number(906, 32);
    released.target_id = hex_number(907, 32);
    REQUIRE(evals.upsert({label("aged", 77, "correct", "no"), judged, talk, kept, released}).ok());
    released.label = "no"; // of a person who kept it before
    REQUIRE(evals.upsert({released}).ok());
    Retention retention(f.telemetry->engine(), f.clock);
    RetentionPolicy policy;
    policy.default_days = 0; // the other projects of this test program stay
    policy.days["project_aged"] = 30;
    policy.kept_traces["project_aged"] = {hex_number(902, 32)};
    auto report = retention.apply(policy);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message + report.error().trail));
    CHECK(report.value().dropped_days == 1);
    CHECK(report.value().deleted_spans == 3);
    CHECK(report.value().bytes_after < report.value().bytes_before);
    CHECK(count_spans("aged") == 5);
    CHECK(count_evaluated_by_people(f.telemetry->engine(), "project_aged").value() == 3); // the model's does not count
    auto uses = retention.disk_use();
    REQUIRE_MESSAGE(uses.ok(), (uses.ok() ? "" : uses.error().message));
    CHECK(std::any_of(uses.value().begin(), uses.value().end(), [](const DiskUse& use) {
        return use.project == "project_aged" && use.spans == 5 && use.bytes > 0;
    }));
    CHECK(retention.delete_traces("project_aged", {hex_number(902, 32)}).value() == 1);
    CHECK(retention.delete_matching("project_aged", "name = evaluated", 0, INT64_MAX).value() == 1);
    REQUIRE(retention.delete_project("project_aged").ok());
    REQUIRE(retention.delete_project("project_aged").ok());
    CHECK(count_spans("aged") == 0);
}

TEST_CASE("metadata, tags and the time to the first token are filter fields in every convention") {
    Fixture& f = fixture();
    const std::string openinference =
        text_attribute("openinference.span.kind", "LLM") + "," +
        text_attribute("metadata", R"({"tier":"gold","retries":3})") + "," +
        R"({"key":"tag.tags","value":{"arrayValue":{"values":[{"stringValue":"beta"}]}}},)" +
        number_attribute("ttft_ms", 900);
    const std::string vercel = text_attribute("ai.operationId", "ai.generateText") + "," +
                               text_attribute("ai.telemetry.metadata.tier", "silver");
    REQUIRE(f.send_json("labels", request({{1, 1, 0, base_ns, 1, "a", openinference, 0},
                                           {1, 2, 0, base_ns, 1, "b", vercel, 0},
                                           {1, 3, 0, base_ns, 1, "c", "", 0}}))
                .status == 200);
    f.wait();
    CHECK(count_matching("labels", R"(metadata["tier"] = "gold")") == 1);
    CHECK(count_matching("labels", R"(metadata["tier"] in ("gold", "silver"))") == 2);
    CHECK(count_matching("labels", R"(metadata["tier"] exists)") == 2);
    CHECK(count_matching("labels", R"(metadata["retries"] > 2)") == 1);
    CHECK(count_matching("labels", R"(metadata["tier"] ~ "OL")") == 1);
    CHECK(count_matching("labels", R"(tags = "beta")") == 1);
    CHECK(count_matching("labels", R"(tags != "beta")") == 2);
    CHECK(count_matching("labels", R"(tags in ("x", "beta"))") == 1);
    CHECK(count_matching("labels", "first_token > 800ms") == 1);
    CHECK(count_matching("labels", "first_token > 0 and first_token < 800ms") == 0);
    CHECK(filter_error("metadata = 1") == "column 10: expected a key: metadata[\"…\"]");
    Series series;
    series.scope = scope_of("labels");
    series.metrics = {Metric::first_token_p50, Metric::first_token_p95};
    series.bucket = Duration(0);
    series.group_by = "name";
    const auto points = f.store().series(series);
    REQUIRE(points.ok());
    REQUIRE(points.value().size() == 3);
    CHECK(points.value()[0].values == std::vector<double>{9e8, 9e8});
    CHECK(std::isnan(points.value()[1].values[0])); // does not report it
    const auto payload = f.store().span_payload("project_labels", hex_number(1, 32), hex_number(1, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().first_token_ns == 900'000'000);
}

TEST_CASE("spans are counted by their duration, five groups for every factor of ten") {
    Fixture& f = fixture();
    std::vector<TestSpan> spans;
    uint64_t id = 0;
    for (const int64_t duration : {0, 1'000'000, 1'500'000, 1'700'000, 10'000'000, 2'000'000'000})
        spans.push_back({7700, ++id, 0, base_ns, duration, "step", "", 0});
    REQUIRE(f.send_json("durations", request(spans)).status == 200);
    f.wait();
    Series series;
    series.scope = scope_of("durations");
    series.metrics = {Metric::count};
    series.bucket = Duration(0);
    series.group_by = "latency_bucket";
    std::map<std::string, double> counts;
    const auto points = f.store().series(series);
    REQUIRE(points.ok());
    for (const SeriesPoint& point : points.value()) counts[point.group] = point.values[0];
    CHECK(counts ==
          std::map<std::string, double>{{"1", 1}, {"1000000", 2}, {"1584893", 1}, {"10000000", 1}, {"1584893192", 1}});
}

TEST_CASE("lists of a dense project show the same as a list of everything, page by page") {
    Fixture& f = fixture();
    // Traces of three spans that overlap: their later spans lie among the first spans of newer traces.
    std::vector<TestSpan> spans;
    for (uint64_t trace = 0; trace < 400; ++trace)
        for (uint64_t i = 0; i < 3; ++i)
            spans.push_back({9000 + trace, trace * 3 + i + 1, i ? trace * 3 + 1 : 0,
                             base_ns + static_cast<int64_t>(trace * 500'000'000 + i * 1'700'000'000), 1'000'000, "step",
                             "", trace % 7 == 0 && i == 2 ? 2 : 0});
    REQUIRE(f.send_json("dense_pages", request(spans)).status == 200);
    f.wait();
    SpanStore whole(f.telemetry->engine()); // knows nothing of what was loaded lately
    for (const char* filter : {"", "status = error"}) {
        ListTraces traces;
        traces.scope = scope_of("dense_pages", filter);
        traces.limit = 7;
        ListTraces plain = traces;
        size_t seen = 0;
        for (int page = 0; page < 100; ++page) {
            auto fast = f.store().list_traces(traces), slow = whole.list_traces(plain);
            REQUIRE_MESSAGE(fast.ok(), (fast.ok() ? "" : fast.error().message));
            REQUIRE(slow.ok());
            REQUIRE(fast.value().traces.size() == slow.value().traces.size());
            for (size_t i = 0; i < fast.value().traces.size(); ++i) {
                CHECK(fast.value().traces[i].trace_id == slow.value().traces[i].trace_id);
                CHECK(fast.value().traces[i].spans == 3);
            }
            seen += fast.value().traces.size();
            traces.cursor = fast.value().next_cursor;
            plain.cursor = slow.value().next_cursor;
            CHECK(traces.cursor == plain.cursor);
            if (traces.cursor.empty()) break;
        }
        CHECK(seen >= (*filter ? 50 : 400));
        ListSpans list;
        list.scope = scope_of("dense_pages", filter);
        list.limit = 100;
        std::set<std::string> ids;
        int64_t last = INT64_MAX;
        for (int page = 0; page < 100; ++page) {
            auto found = f.store().list_spans(list);
            REQUIRE(found.ok());
            for (const SpanRow& row : found.value().spans) {
                CHECK(row.start_ns <= last);
                last = row.start_ns;
                ids.insert(row.trace_id + row.span_id);
            }
            list.cursor = found.value().next_cursor;
            if (list.cursor.empty()) break;
        }
        CHECK(ids.size() == (*filter ? 58 : 1200));
    }
}
