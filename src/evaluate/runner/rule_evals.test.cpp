#include "evaluate/runner/rule_evals.h"

#include <doctest/doctest.h>

namespace hone::evaluate {

TEST_CASE("a rule gives a run its label, its other label, cannot_judge or an error, never a guessed score") {
    RuleDefinition rule;
    rule.label = "bad";
    rule.score = 0;
    const auto of = [&](int64_t spans, int64_t evaluated, int64_t matched) {
        return result_of(rule, {"", spans, evaluated, matched});
    };
    const CodeResult match = of(5, 3, 1);
    REQUIRE(match.verdict);
    CHECK(match.verdict->label == "bad");
    CHECK(match.verdict->score == 0.0);
    CHECK(match.verdict->explanation == "1 of 3 evaluated spans match");
    const CodeResult none = of(5, 3, 0);
    REQUIRE(none.verdict);
    CHECK(none.verdict->label == cannot_judge);
    CHECK(!none.verdict->score);
    rule.other_label = "good";
    rule.other_score = 1;
    const CodeResult other = of(5, 3, 0);
    REQUIRE(other.verdict);
    CHECK(other.verdict->label == "good");
    CHECK(other.verdict->score == 1.0);
    const CodeResult outside = of(5, 0, 0);
    REQUIRE(outside.verdict);
    CHECK(outside.verdict->label == cannot_judge);
    CHECK(!outside.verdict->score);
    const CodeResult missing = of(0, 0, 0);
    CHECK(!missing.verdict);
    CHECK(missing.error.find("no spans") != std::string::npos);
}

} // namespace hone::evaluate
