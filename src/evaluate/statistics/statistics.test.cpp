// The published values of docs/evaluate-statistics.md.
#include "evaluate/statistics/statistics.h"

#include <cmath>
#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

bool near(double value, double expected, double tolerance = 5e-5) {
    return std::abs(value - expected) <= tolerance;
}

bool near(const Interval& interval, double low, double high, double tolerance = 5e-5) {
    return near(interval.low, low, tolerance) && near(interval.high, high, tolerance);
}

// Student's sleep data: extra hours with two drugs, ten patients.
const std::vector<double> sleep_differences{-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4};

} // namespace

TEST_CASE("Wilson's interval has the values of Newcombe (1998)") {
    CHECK(near(wilson(81, 263), 0.2553, 0.3662));
    CHECK(near(wilson(15, 148), 0.0624, 0.1605));
    CHECK(near(wilson(0, 20), 0, 0.1611));
    CHECK(near(wilson(1, 29), 0.0061, 0.1718));
    CHECK(near(wilson(10, 10), 0.7225, 1));
    CHECK(near(wilson(1, 11, 1.96), 0.0162317523, 0.3773646255, 1e-9));
    CHECK(near(wilson(90, 100, 1.96), 0.8256326956, 0.9447714584, 1e-9));
    CHECK(near(wilson(0, 0), 0, 1));
}

TEST_CASE("McNemar's test has the textbook values") {
    const McNemar textbook = mcnemar(6, 16);
    CHECK(near(textbook.chi_squared, 4.5455));
    CHECK(near(textbook.p, 0.0330));
    CHECK(near(textbook.corrected_chi_squared, 3.6818));
    CHECK(near(textbook.corrected_p, 0.0550));
    CHECK(near(textbook.exact_p, 0.052479, 5e-7));
    CHECK(near(textbook.mid_p, 0.034690, 5e-7));
    const McNemar large = mcnemar(121, 59);
    CHECK(near(large.chi_squared, 21.3556));
    CHECK(near(large.p, 3.815e-6, 5e-10));
    CHECK(near(large.exact_p, 4.434e-6, 5e-10));
    CHECK(mcnemar(0, 5).exact_p == doctest::Approx(0.0625));
    CHECK(mcnemar(0, 6).exact_p == doctest::Approx(0.03125));
    CHECK(mcnemar(1, 8).exact_p == doctest::Approx(0.0390625));
    CHECK(mcnemar(0, 0).exact_p == 1);
    CHECK(mcnemar(0, 0).mid_p == 1);
    CHECK(sign_test(8, 2) == doctest::Approx(0.109375));
}

TEST_CASE("paired differences of Student's sleep data") {
    const Mean mean = mean_of(sleep_differences);
    CHECK(mean.mean == doctest::Approx(-1.58));
    CHECK(near(mean.standard_error, 0.38896));
    CHECK(near(mean.mean / mean.standard_error, -4.0621));
    REQUIRE(mean.interval);
    CHECK(near(*mean.interval, -2.4599, -0.7001));
    const Paired paired = paired_difference(sleep_differences, 42);
    CHECK(paired.mean == doctest::Approx(-1.58));
    CHECK(paired.is_exact);
    CHECK(paired.p == doctest::Approx(4.0 / 1024));
    CHECK(near(paired.bootstrap_error, 0.3690, 0.01));
    REQUIRE(paired.interval);
    CHECK(paired.interval->high < 0);
    const Paired again = paired_difference(sleep_differences, 42);
    CHECK(again.interval->low == paired.interval->low);
}

TEST_CASE("the bootstrap error of Efron and Tibshirani's mouse data") {
    const std::vector<double> treated{94, 197, 16, 38, 99, 141, 23};
    const Mean mean = mean_of(treated);
    CHECK(near(mean.mean, 86.857, 5e-4));
    CHECK(near(mean.standard_error, 25.235, 5e-4));
    CHECK(near(paired_difference(treated, 7).bootstrap_error, 23.364, 0.5));
}

TEST_CASE("a mean from moments equals the mean of the values") {
    double sum = 0, squares = 0;
    for (const double value : sleep_differences) sum += value, squares += value * value;
    const auto n = static_cast<double>(std::size(sleep_differences));
    const Mean mean = mean_of_moments(static_cast<int64_t>(n), sum / n, squares / n);
    CHECK(near(mean.standard_error, 0.38896));
    REQUIRE(mean.interval);
    CHECK(near(*mean.interval, -2.4599, -0.7001));
    CHECK(!mean_of_moments(1, 3, 9).interval);
    CHECK(mean_of_moments(0, 0, 0).count == 0);
    CHECK(mean_of_moments(3, 0.1, 0.1 * 0.1 - 1e-18).standard_error == doctest::Approx(0));
}

TEST_CASE("the error of clustered values") {
    const std::vector<std::vector<double>> clusters{{1, 1, 0}, {0, 0}, {1}};
    CHECK(near(clustered_error(clusters), 0.25));
    const std::vector<double> all{1, 1, 0, 0, 0, 1};
    CHECK(near(mean_of(all).standard_error, 0.223607, 5e-7));
    const std::vector<std::vector<double>> one{{1, 0, 1}};
    CHECK(clustered_error(one) == 0);
}

TEST_CASE("false discovery rates of Benjamini and Hochberg (1995)") {
    const std::vector<double> p{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                                .0459, .3240, .4262, .5719, .6528, .7590, 1};
    const auto rates = false_discovery_rates(p);
    int rejected = 0, by_bonferroni = 0;
    for (size_t i = 0; i < p.size(); ++i) {
        rejected += rates[i] <= 0.05;
        by_bonferroni += p[i] <= 0.05 / 15;
    }
    CHECK(rejected == 4);
    CHECK(by_bonferroni == 3);
    const std::vector<double> expected{.0015, .003, .0095, .035625, .0603, .0638571, .0638571, .0645, .0765, .486};
    for (size_t i = 0; i < expected.size(); ++i) CHECK(near(rates[i], expected[i], 5e-7));
    CHECK(false_discovery_rates({}).empty());
    // In the given order, whatever it is.
    CHECK(false_discovery_rates(std::vector<double>{1, 0.01})[1] == doctest::Approx(0.02));
}

TEST_CASE("passes of repeated runs, and pairs needed") {
    CHECK(pass_at(5, 2, 2) == doctest::Approx(0.7));
    CHECK(pass_all(5, 2, 2) == doctest::Approx(0.1));
    CHECK(pass_at(3, 3, 3) == 1);
    CHECK(pass_all(3, 1, 2) == 0);
    CHECK(pairs_needed(1.0 / 9, 0.03) == 969);
    CHECK(near(smallest_difference(1.0 / 9, 969), 0.03, 1e-4));
}

TEST_CASE("statistics of nothing, of one value, of equal values and of infinities") {
    CHECK(paired_difference({}, 1).pairs == 0);
    CHECK(paired_difference({}, 1).p == 1);
    const std::vector<double> one{0.5};
    CHECK(paired_difference(one, 1).p == 1);
    CHECK(!paired_difference(one, 1).interval);
    const std::vector<double> zeros(12, 0.0);
    CHECK(paired_difference(zeros, 1).p == 1);
    CHECK(near(*paired_difference(zeros, 1).interval, 0, 0));
    const std::vector<double> equal(12, 1.0);
    CHECK(paired_difference(equal, 1).p == doctest::Approx(2.0 / 4096));
    CHECK(!mean_of(one).interval);
    CHECK(mean_of({}).count == 0);
}

TEST_CASE("a million pairs are compared by the normal distribution") {
    std::vector<double> differences(1'000'000);
    for (size_t i = 0; i < differences.size(); ++i) differences[i] = i % 2 == 0 ? 0.501 : -0.499;
    const Paired paired = paired_difference(differences, 3);
    CHECK(paired.mean == doctest::Approx(0.001));
    CHECK(near(paired.p, 0.0455, 1e-4)); // two standard errors
    CHECK(!paired.is_exact);
}

TEST_CASE("a sampled sign flip agrees with the exact one") {
    std::vector<double> differences(21, 0.0);
    for (size_t i = 0; i < 8; ++i) differences[i] = i < 7 ? 1 : -1;
    // Of eight signs, 0, 1, 7 or 8 are negative in 18 of 256 cases.
    CHECK(near(paired_difference(differences, 11).p, 18.0 / 256, 0.01));
    CHECK(near(sign_flip_p(differences, 11), 18.0 / 256, 0.01));
    CHECK(sign_flip_p(differences, 11) == sign_flip_p(differences, 11));
    CHECK(sign_flip_p(std::span(differences).first(20), 11) == doctest::Approx(18.0 / 256));
    CHECK(sign_flip_p({}, 1) == 1);
}

TEST_CASE("few different values are resampled by their counts, with the same distribution") {
    // One difference of 1 among zeros is drawn as often as a Poisson variable of mean 1: 97.5 % of it are at most 3.
    std::vector<double> differences(2500);
    differences[7] = 1;
    const Paired rare = paired_difference(differences, 3);
    REQUIRE(rare.interval);
    CHECK(rare.interval->low == 0);
    CHECK(near(rare.interval->high, 3.0 / 2500, 1e-12));
    CHECK(near(rare.bootstrap_error, 1.0 / 2500, 0.03 / 2500));
    CHECK(rare.p == 1); // either sign is as far from zero
    // 900 of -1, 100 of 1 and 4000 of 0: the error is sqrt(0.2 - 0.16^2) / sqrt(5000).
    std::vector<double> mixed(5000);
    for (size_t i = 0; i < 1000; ++i) mixed[i] = i < 900 ? -1 : 1;
    const Paired paired = paired_difference(mixed, 3);
    CHECK(near(paired.bootstrap_error, 0.005906, 0.0002));
    CHECK(near(paired.interval->low, -0.16 - 1.96 * 0.005906, 0.0004));
    CHECK(near(paired.interval->high, -0.16 + 1.96 * 0.005906, 0.0004));
    CHECK(near(paired.p, 1.0 / 10'001, 1e-12));
    // Without a mean, the p value of many flips is that of the normal distribution: 30 / sqrt(1000) = 0.949 deviations.
    for (size_t i = 0; i < 1000; ++i) mixed[i] = i < 515 ? -1 : 1;
    CHECK(near(sign_flip_p(mixed, 3), 0.3594, 0.02)); // with the correction for steps of 2
}

TEST_CASE("resampled means and flips agree with the normal distribution for many pairs of any number") {
    for (const size_t pairs : {4000, 4001, 4003, 4007}) {
        std::vector<double> differences(pairs);
        for (size_t i = 0; i < pairs; ++i) differences[i] = i % 2 == 0 ? 0.52 : -0.48;
        const Paired paired = paired_difference(differences, 5);
        const Mean normal = mean_of(differences);
        REQUIRE(paired.interval);
        CHECK(near(paired.interval->low, normal.interval->low, 0.002));
        CHECK(near(paired.interval->high, normal.interval->high, 0.002));
        CHECK(near(paired.bootstrap_error, normal.standard_error, 0.0005));
        CHECK(near(paired.p, 0.0114, 0.005)); // about 2.53 standard errors
    }
}

} // namespace hone::evaluate
