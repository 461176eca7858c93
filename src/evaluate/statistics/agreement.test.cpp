// The published values of docs/evaluate-statistics.md.
#include "evaluate/statistics/agreement.h"

#include <cmath>
#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

bool is_close(std::optional<double> value, double expected, double tolerance = 5e-7) {
    return value && std::abs(*value - expected) <= tolerance;
}

// One character per thing that a rater rated, `.` for none.
std::vector<std::vector<double>> units_of(const std::vector<std::string>& raters) {
    std::vector<std::vector<double>> units(raters.front().size());
    for (const std::string& rater : raters)
        for (size_t i = 0; i < rater.size(); ++i)
            if (rater[i] != '.') units[i].push_back(rater[i]);
    return units;
}

} // namespace

TEST_CASE("kappa has the values of the textbook, with its interval") {
    const Kappa kappa = cohen_kappa({{20, 5}, {10, 15}});
    CHECK(kappa.count == 50);
    CHECK(is_close(kappa.observed, 0.7));
    CHECK(is_close(kappa.expected, 0.5));
    CHECK(is_close(kappa.kappa, 0.4));
    CHECK(is_close(kappa.standard_error, 0.129615));
    CHECK(is_close(kappa.interval->low, 0.146, 5e-4));
    CHECK(is_close(kappa.interval->high, 0.654, 5e-4));
}

TEST_CASE("kappa is undefined where one label explains everything") {
    CHECK(!cohen_kappa({}).kappa);
    CHECK(!cohen_kappa({{0, 0}, {0, 0}}).kappa);
    const Kappa one_class = cohen_kappa({{30, 0}, {0, 0}});
    CHECK(one_class.observed == 1);
    CHECK(!one_class.kappa);
    CHECK(!one_class.interval);
}

TEST_CASE("precision and recall of the failing label come with Wilson's intervals") {
    // 25 found, 5 wrongly found, 10 missed, 60 rightly not found.
    const Detection found = detection_of(25, 5, 10, 60);
    CHECK(is_close(found.precision, 0.833333));
    CHECK(is_close(found.recall, 0.714286));
    CHECK(is_close(found.precision_interval.low, wilson(25, 30).low));
    CHECK(is_close(found.recall_interval.high, wilson(25, 35).high));
    const Detection nothing = detection_of(0, 0, 0, 10);
    CHECK(!nothing.precision);
    CHECK(!nothing.recall);
}

TEST_CASE("alpha has Krippendorff's values for his example C at four levels") {
    // Rows of the published table; 0 stands for no value.
    const std::vector<std::vector<int>> raters{{1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0},
                                               {1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3},
                                               {0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0},
                                               {1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0}};
    std::vector<std::vector<double>> units(12);
    for (const auto& rater : raters)
        for (size_t i = 0; i < rater.size(); ++i)
            if (rater[i] != 0) units[i].push_back(rater[i]);
    CHECK(is_close(krippendorff_alpha(units, AlphaLevel::nominal), 0.743421));
    CHECK(is_close(krippendorff_alpha(units, AlphaLevel::ordinal), 0.815388));
    CHECK(is_close(krippendorff_alpha(units, AlphaLevel::interval), 0.849107));
    CHECK(is_close(krippendorff_alpha(units, AlphaLevel::ratio), 0.797403));
}

TEST_CASE("alpha has the values of small examples") {
    CHECK(is_close(krippendorff_alpha({{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 1}}, AlphaLevel::nominal), 24.0 / 35));
    CHECK(is_close(krippendorff_alpha({{0, 1}, {0, 1}, {1, 0}, {1, 0}}, AlphaLevel::nominal), -0.75));
    CHECK(is_close(krippendorff_alpha({{1, 2}, {3, 4}, {1, 1}}, AlphaLevel::interval), 19.0 / 24));
    CHECK(is_close(krippendorff_alpha({{1, 1}, {3, 4}, {5, 5}}, AlphaLevel::ordinal), 94.0 / 99));
    CHECK(is_close(krippendorff_alpha(units_of({"0100000010", "1110010000"}), AlphaLevel::nominal), 0.095238));
    CHECK(is_close(krippendorff_alpha(units_of({"aabbdcccedda", "babbbccceddd"}), AlphaLevel::nominal), 0.691964));
}

TEST_CASE("alpha of nothing is absent, and of equal values 1") {
    CHECK(!krippendorff_alpha({}, AlphaLevel::nominal));
    CHECK(!krippendorff_alpha({{1}, {2}}, AlphaLevel::nominal));
    CHECK(is_close(krippendorff_alpha({{1, 1}, {1, 1}}, AlphaLevel::interval), 1));
}

TEST_CASE("a rate is corrected by labels of people, with the published values") {
    const LabelledCounts labelled{60, 10, 5, 25};
    const auto plain = corrected_rate(0.8, 1000, labelled);
    REQUIRE(plain);
    CHECK(is_close(plain->rate, 0.75));
    CHECK(is_close(plain->standard_error, 0.040435));
    CHECK(is_close(plain->interval.low, 0.6707, 5e-5));
    CHECK(is_close(plain->interval.high, 0.8293, 5e-5));
    const auto tuned = corrected_rate(0.8, 1000, labelled, true);
    REQUIRE(tuned);
    CHECK(is_close(tuned->weight, 0.823864));
    CHECK(is_close(tuned->rate, 0.732386));
    CHECK(is_close(tuned->standard_error, 0.037680));
}

TEST_CASE("verdicts of a sample weigh as much as the targets that they stand for") {
    WeighedPasses passes;
    CHECK(passes.rate() == 0);
    CHECK(passes.effective_count() == 0);
    // All failing traces, none of which passes, and a tenth of the others, all of which pass.
    for (int i = 0; i < 10; ++i) passes.add(false, 1);
    for (int i = 0; i < 10; ++i) passes.add(true, 0.1);
    CHECK(passes.count() == 20);
    CHECK(is_close(passes.rate(), 100.0 / 110));
    CHECK(passes.effective_count() == 12); // 110^2 / (10 * 1 + 10 * 100) = 11.98
    WeighedPasses unknown;
    for (const double inclusion : {0.0, -1.0, 7.0}) unknown.add(true, inclusion);
    CHECK(unknown.effective_count() == 3);
}

TEST_CASE("a corrected rate needs labels, and stays between 0 and 1") {
    CHECK(!corrected_rate(0.5, 100, {}));
    CHECK(!corrected_rate(0.5, 0, {1, 0, 0, 0}));
    const auto all_pass = corrected_rate(1, 1000, {10, 0, 0, 0}, true);
    REQUIRE(all_pass);
    CHECK(all_pass->rate == 1);
    CHECK(all_pass->interval.high == 1);
}

TEST_CASE("Rogan and Gladen's rate has the published values, and needs an evaluator better than chance") {
    CHECK(is_close(rogan_gladen(23.0 / 150, 0.96, 0.89), 0.0509804));
    CHECK(is_close(rogan_gladen(0.8, 60.0 / 65, 25.0 / 35), 0.8068966));
    CHECK(!rogan_gladen(0.5, 0.55, 0.55));
    CHECK(is_close(rogan_gladen(0, 0.9, 0.9), 0));
}

} // namespace hone::evaluate
