// Evals that became worse, on the real engine: what is a drop, and what is chance, a small sample, another version of
// the evaluator or another sampling rate of its task.
#include "signal/detect/detectors.h"
#include "telemetry/query/evals.h"
#include "telemetry/store_fixture.h"

#include <fmt/format.h>
#include <random>

using namespace hone;
using namespace hone::signal;
using telemetry::testing::fixture;

namespace {

// Evals of one project: 72 hours before the window, 24 hours in it.
class EvalHistory {
public:
    explicit EvalHistory(std::string name) : m_project("project_" + std::move(name)) {
        fixture().store();
        m_now = to_ns(fixture().clock.now());
    }

    struct Given {
        std::optional<double> score{};
        std::string label{};
        double inclusion = 1;
        int64_t version = 0;
        telemetry::EvalTarget target = telemetry::EvalTarget::trace;
    };
    void add(bool in_window, const Given& given) {
        telemetry::Eval eval;
        eval.project = m_project;
        eval.target = given.target;
        const int digits = given.target == telemetry::EvalTarget::span ? 16 : 32;
        eval.target_id = fmt::format("{:0{}x}", ++m_count, digits);
        eval.name = "helpful";
        eval.annotator = eval.identifier = "evaluator_1";
        eval.kind = telemetry::EvalKind::llm;
        eval.score = given.score;
        eval.label = given.label;
        eval.inclusion = given.inclusion;
        eval.evaluator_version = given.version;
        // Spread over the whole time.
        const int64_t place = m_count * 7919 % 1000;
        eval.target_ns = in_window ? m_now - 24 * hour_ns + place * (24 * hour_ns / 1000)
                                   : m_now - 96 * hour_ns + place * (72 * hour_ns / 1000);
        m_evals.push_back(std::move(eval));
    }
    void add(bool in_window, int count, const Given& given) {
        for (int i = 0; i < count; ++i) add(in_window, given);
    }
    std::vector<Candidate> look() {
        telemetry::Evals evals(fixture().telemetry->engine(), fixture().clock);
        const auto written = evals.upsert(std::move(m_evals));
        REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().message));
        m_evals.clear();
        Survey survey = Survey::without_totals(fixture().telemetry->engine(),
                                               {m_project, m_now - 96 * hour_ns, m_now - 24 * hour_ns, m_now});
        std::vector<Candidate> found;
        const auto looked = detect_eval_drops(survey, found);
        REQUIRE_MESSAGE(looked.ok(), (looked.ok() ? "" : looked.error().message + " | " + looked.error().trail));
        return found;
    }

private:
    const std::string m_project;
    int64_t m_now = 0;
    int64_t m_count = 0;
    std::vector<telemetry::Eval> m_evals;
};

std::string fact(const Candidate& candidate, std::string_view name) {
    for (const Fact& one : candidate.facts)
        if (one.name == name) return one.value;
    return "";
}

} // namespace

TEST_CASE("a mean score that falls is a drop, on traces, spans and chat sessions, with its numbers") {
    for (const auto target :
         {telemetry::EvalTarget::trace, telemetry::EvalTarget::span, telemetry::EvalTarget::chat_session}) {
        EvalHistory history(fmt::format("scores-fall-{}", name_of(target)));
        for (int i = 0; i < 200; ++i) history.add(false, {.score = 0.9 - i % 3 * 0.1, .target = target});
        for (int i = 0; i < 100; ++i) history.add(true, {.score = 0.5 - i % 3 * 0.1, .target = target});
        const auto found = history.look();
        REQUIRE(found.size() == 1);
        CHECK(found[0].detector == Detector::eval_drop);
        CHECK(found[0].title == "The eval helpful fell from 0.80 to 0.40");
        CHECK(name_of(found[0].severity) == "high");
        CHECK(fact(found[0], "evals now") == "100");
    }
}

TEST_CASE("a label that becomes rarer is a drop, with the share before and now") {
    EvalHistory history("labels-fall");
    history.add(false, 180, {.label = "pass"});
    history.add(false, 20, {.label = "fail"});
    history.add(true, 60, {.label = "pass"});
    history.add(true, 40, {.label = "fail"});
    const auto found = history.look();
    REQUIRE(found.size() == 1);
    CHECK(found[0].title == "The eval helpful is pass less often: 60 % instead of 90 %");
    CHECK(found[0].filter == "trace_eval[\"helpful\"].label != \"pass\"");
}

TEST_CASE("noise is no drop: a hundred projects whose scores do not change give none") {
    std::mt19937_64 random(20261118);
    std::bernoulli_distribution passes(0.8);
    int alarms = 0;
    for (int project = 0; project < 100; ++project) {
        EvalHistory history(fmt::format("noise-{}", project));
        for (int i = 0; i < 120; ++i) {
            const bool is_good = passes(random);
            history.add(i >= 80, {.score = is_good ? 1.0 : 0.0, .label = is_good ? "pass" : "fail"});
        }
        alarms += static_cast<int>(history.look().size());
    }
    CHECK(alarms == 0);
}

TEST_CASE("fewer than twenty evals before or in the window show nothing, however bad they are") {
    EvalHistory few_now("few-now");
    few_now.add(false, 200, {.score = 1.0, .label = "pass"});
    few_now.add(true, 19, {.score = 0.0, .label = "fail"});
    CHECK(few_now.look().empty());
    few_now.add(true, {.score = 0.0, .label = "fail"}); // the twentieth
    CHECK(few_now.look().size() == 1);
    EvalHistory few_before("few-before");
    few_before.add(false, 19, {.score = 1.0, .label = "pass"});
    few_before.add(true, 200, {.score = 0.0, .label = "fail"});
    CHECK(few_before.look().empty());
    EvalHistory small_change("small-change");
    small_change.add(false, 5000, {.score = 0.90});
    small_change.add(false, 1, {.score = 0.0});
    small_change.add(true, 5000, {.score = 0.85}); // clear, and of no importance
    CHECK(small_change.look().empty());
}

TEST_CASE("a task that samples failures more often is no drop, and hides none") {
    // 1000 traces in each time, of which 100 fail. Before: all of them are evaluated. Now: failures all, others 5 %.
    EvalHistory changed("strata-changed");
    changed.add(false, 900, {.score = 1.0, .label = "pass"});
    changed.add(false, 100, {.score = 0.0, .label = "fail"});
    changed.add(true, 45, {.score = 1.0, .label = "pass", .inclusion = 0.05});
    changed.add(true, 100, {.score = 0.0, .label = "fail", .inclusion = 1});
    CHECK(changed.look().empty());
    // The same strata all the time, and now 400 of 1000 fail: without weights 69 % and 91 % would seem to fail.
    EvalHistory worse("strata-worse");
    worse.add(false, 180, {.score = 1.0, .label = "pass", .inclusion = 0.2});
    worse.add(false, 100, {.score = 0.0, .label = "fail", .inclusion = 1});
    worse.add(true, 120, {.score = 1.0, .label = "pass", .inclusion = 0.2});
    worse.add(true, 400, {.score = 0.0, .label = "fail", .inclusion = 1});
    const auto found = worse.look();
    REQUIRE(found.size() == 1);
    CHECK(found[0].title == "The eval helpful fell from 0.90 to 0.60");
    // Labels alone are weighed as well.
    EvalHistory labels("strata-labels");
    labels.add(false, 900, {.label = "pass"});
    labels.add(false, 100, {.label = "fail"});
    labels.add(true, 45, {.label = "pass", .inclusion = 0.05});
    labels.add(true, 100, {.label = "fail", .inclusion = 1});
    CHECK(labels.look().empty());
    // Thirty evals that stand for few and one that stands for many are not thirty: nothing is shown by them.
    EvalHistory heavy("strata-heavy");
    heavy.add(false, 200, {.score = 1.0});
    heavy.add(true, 30, {.score = 1.0, .inclusion = 1});
    heavy.add(true, 1, {.score = 0.0, .inclusion = 0.001});
    CHECK(heavy.look().empty());
}

TEST_CASE("a stricter version of the evaluator is no drop of the application") {
    EvalHistory history("versions");
    history.add(false, 200, {.score = 0.9, .version = 1});
    history.add(true, 100, {.score = 0.3, .version = 2});
    CHECK(history.look().empty());
}

TEST_CASE("an eval that becomes better is no drop, whichever label was usual") {
    EvalHistory labels("better-labels");
    labels.add(false, 140, {.label = "fail"});
    labels.add(false, 60, {.label = "pass"});
    labels.add(true, 10, {.label = "fail"});
    labels.add(true, 90, {.label = "pass"});
    CHECK(labels.look().empty());
    EvalHistory scores("better-scores");
    scores.add(false, 140, {.score = 0.0, .label = "off topic"});
    scores.add(false, 60, {.score = 1.0, .label = "on topic"});
    scores.add(true, 10, {.score = 0.0, .label = "off topic"});
    scores.add(true, 90, {.score = 1.0, .label = "on topic"});
    CHECK(scores.look().empty());
}
