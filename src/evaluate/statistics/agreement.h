// Agreement: of an evaluator with people (kappa, precision, recall), of people with each other (alpha), and rates that
// are corrected by human labels. Pure functions; any thread. Each is tested against published values.
#pragma once

#include "evaluate/statistics/statistics.h"

#include <map>
#include <string>

namespace hone::evaluate {

// Cohen's kappa of two raters. `interval` and `kappa` are absent when chance alone explains everything (both raters
// give one label), and for nothing.
struct Kappa {
    int64_t count = 0;
    double observed = 0; // share of equal labels
    double expected = 0; // of equal labels by chance
    std::optional<double> kappa;
    double standard_error = 0;
    std::optional<Interval> interval; // 95 %
};
// counts[i][j]: how often the first rater gave label i and the second one label j. Square.
Kappa cohen_kappa(const std::vector<std::vector<int64_t>>& counts);

// How the label `positive` of an evaluator relates to that of people.
struct Detection {
    int64_t true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;
    std::optional<double> precision, recall; // absent: no such label
    Interval precision_interval, recall_interval;
};
Detection detection_of(int64_t true_positive, int64_t false_positive, int64_t false_negative, int64_t true_negative);

// How far two values are apart, squared, in Krippendorff's alpha.
enum class AlphaLevel { nominal, ordinal, interval, ratio };
// units[u]: the values that raters gave to one thing; things with fewer than two are left out. Nothing: no pairs.
// All values equal: 1.
std::optional<double> krippendorff_alpha(const std::vector<std::vector<double>>& units, AlphaLevel level);

// A rate of passes that an evaluator gives to many, corrected by the labels of people on a few.
struct CorrectedRate {
    double rate = 0;
    double standard_error = 0;
    Interval interval;
    double weight = 1; // of the evaluator's labels
};
// Prediction-powered inference. `rate` of `count` unlabelled ones pass; on the labelled ones the four counts: evaluator
// and people pass, only the evaluator, only people, none. Nothing: no labels. `tuned`: with the weight of PPI++, which
// gives the least variance.
struct LabelledCounts {
    int64_t both = 0, only_evaluator = 0, only_people = 0, none = 0;
    int64_t count() const { return both + only_evaluator + only_people + none; }
};
std::optional<CorrectedRate> corrected_rate(double rate, int64_t count, const LabelledCounts& labelled,
                                            bool tuned = false);
// The share of verdicts that pass, when each stands for 1 / inclusion targets.
class WeighedPasses {
public:
    // An inclusion that is not a probability counts as 1.
    void add(bool passes, double inclusion);
    int64_t count() const { return m_count; }
    double rate() const { return m_weight > 0 ? m_passes / m_weight : 0; }
    // As many verdicts of equal weight would have the same variance (Kish).
    int64_t effective_count() const;

private:
    int64_t m_count = 0;
    double m_passes = 0, m_weight = 0, m_squares = 0;
};
// Rogan and Gladen: from the rates with which the evaluator recognises passes and failures. Nothing when it is hardly
// better than chance (their sum is at most 1.1).
std::optional<double> rogan_gladen(double rate, double recognised_passes, double recognised_failures);

} // namespace hone::evaluate
