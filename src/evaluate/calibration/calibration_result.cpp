#include "evaluate/calibration/calibration.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

namespace {

constexpr int64_t few_labels = 30;
constexpr int64_t wanted_labels = 50;
constexpr int64_t least_for_kappa = 10;
constexpr double drift_p = 0.01;
constexpr double drift_kappa = 0.1;

bool is_verdict(const std::optional<CalibrationVerdict>& verdict) {
    return verdict && verdict->label != std::string(cannot_judge) && (verdict->label || verdict->score);
}

// Labels as they are where people and the evaluator use the same ones, else pass and fail by their scores.
class Classes {
public:
    explicit Classes(const std::vector<CalibrationItem>& items) {
        std::set<std::string> people, evaluator;
        for (const CalibrationItem& item : items) {
            if (!item.human.empty()) people.insert(item.human);
            for (const auto& verdict : item.verdicts)
                if (is_verdict(verdict) && verdict->label) evaluator.insert(*verdict->label);
        }
        m_by_label = evaluator.empty()
                         ? false
                         : std::ranges::any_of(people, [&](const auto& label) { return evaluator.contains(label); });
    }
    std::optional<std::string> of(const std::optional<std::string>& label, std::optional<double> score) const {
        if (m_by_label) return label && !label->empty() ? label : std::nullopt;
        if (!score) return std::nullopt;
        return *score >= 0.5 ? "pass" : "fail";
    }
    std::optional<std::string> of(const CalibrationItem& item) const { return of(item.human, item.human_score); }
    std::optional<std::string> of(const std::optional<CalibrationVerdict>& verdict) const {
        if (!is_verdict(verdict)) return std::nullopt;
        return of(verdict->label, verdict->score);
    }

private:
    bool m_by_label = false;
};

std::optional<std::string> first_class(const Classes& classes, const CalibrationItem& item) {
    return item.verdicts.empty() ? std::nullopt : classes.of(item.verdicts.front());
}

KappaView kappa_view(const std::vector<CalibrationItem>& items, const Classes& classes,
                     const std::vector<std::string>& labels, bool only_held_out) {
    std::vector<std::vector<int64_t>> counts(labels.size(), std::vector<int64_t>(labels.size(), 0));
    const auto place = [&](const std::string& label) {
        return static_cast<size_t>(std::ranges::find(labels, label) - labels.begin());
    };
    for (const CalibrationItem& item : items) {
        const auto people = classes.of(item), evaluator = first_class(classes, item);
        if (!people || !evaluator || (only_held_out && !item.is_held_out)) continue;
        ++counts[place(*people)][place(*evaluator)];
    }
    const Kappa kappa = cohen_kappa(counts);
    KappaView view{kappa.count, kappa.observed, {}, {}, {}};
    if (kappa.count < least_for_kappa || !kappa.kappa) return view;
    view.kappa = kappa.kappa;
    view.low = kappa.interval->low;
    view.high = kappa.interval->high;
    return view;
}

// The label whose mean score is the lowest.
std::string lowest_label(const std::vector<CalibrationItem>& items, const Classes& classes) {
    std::map<std::string, std::pair<double, int64_t>> sums;
    const auto add = [&](const std::optional<std::string>& label, std::optional<double> score) {
        if (!label || !score) return;
        sums[*label].first += *score;
        ++sums[*label].second;
    };
    for (const CalibrationItem& item : items) {
        add(classes.of(item), item.human_score);
        for (const auto& verdict : item.verdicts)
            if (verdict) add(classes.of(verdict), verdict->score);
    }
    std::string lowest;
    double least = 0;
    for (const auto& [label, sum] : sums) {
        const double mean = sum.first / static_cast<double>(sum.second);
        if (!lowest.empty() && mean >= least) continue;
        least = mean;
        lowest = label;
    }
    return lowest;
}

void count_repetitions(const std::vector<CalibrationItem>& items, const Classes& classes, CalibrationResult& result) {
    int64_t ms = 0;
    for (const CalibrationItem& item : items) {
        std::set<std::string> distinct;
        int64_t given = 0;
        for (const auto& verdict : item.verdicts)
            if (const auto label = classes.of(verdict)) {
                distinct.insert(*label);
                ++given;
            }
        result.repeated += given > 1;
        result.flipped += distinct.size() > 1;
        result.verdicts += static_cast<int64_t>(item.verdicts.size());
        result.cost_nano_usd += item.cost_nano_usd;
        ms += item.duration_ms;
    }
    if (result.repeated > 0)
        result.flip_rate = static_cast<double>(result.flipped) / static_cast<double>(result.repeated);
    if (result.verdicts > 0) {
        result.mean_cost_nano_usd = result.cost_nano_usd / result.verdicts;
        result.mean_ms = ms / result.verdicts;
    }
}

void add_warnings(CalibrationResult& result) {
    const int64_t count = result.all.count;
    if (count < least_for_kappa)
        result.warnings.push_back(fmt::format("{} targets: kappa is shown from {} on.", count, least_for_kappa));
    else if (count < few_labels)
        result.warnings.push_back(fmt::format("{} targets are few: label at least {}.", count, wanted_labels));
    if (count > 0 && result.labels.size() < 2)
        result.warnings.push_back("All have the same label: label targets of the other kind, too.");
    if (result.held_out.count < least_for_kappa && count >= least_for_kappa)
        result.warnings.push_back(
            fmt::format("The part kept aside has {} targets: too few for a kappa of its own.", result.held_out.count));
    if (result.human_alpha && result.all.kappa && *result.human_alpha < *result.all.kappa)
        result.warnings.push_back("People disagree with each other as much as with the evaluator.");
    if (result.disputed > 0)
        result.warnings.push_back(fmt::format("{} targets are left out: people are divided evenly.", result.disputed));
}

} // namespace

bool is_held_out(std::string_view target_id) {
    uint64_t hash = 1469598103934665603ULL;
    for (const char c : target_id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
    return (hash ^ (hash >> 31)) % 10 < 3;
}

CalibrationResult calibration_result(std::vector<CalibrationItem>& items, const std::string& failing_label) {
    CalibrationResult result;
    const Classes classes(items);
    std::set<std::string> labels;
    for (CalibrationItem& item : items) {
        const auto people = classes.of(item), evaluator = first_class(classes, item);
        result.without_verdict += !evaluator;
        item.agrees = people && people == evaluator;
        if (!people || !evaluator) continue;
        labels.insert(*people);
        labels.insert(*evaluator);
    }
    result.labels.assign(labels.begin(), labels.end());
    result.matrix.assign(labels.size(), std::vector<int64_t>(labels.size(), 0));
    result.failing_label = failing_label.empty() ? lowest_label(items, classes) : failing_label;
    int64_t true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;
    for (const CalibrationItem& item : items) {
        const auto people = classes.of(item), evaluator = first_class(classes, item);
        if (!people || !evaluator) continue;
        const auto row = std::ranges::find(result.labels, *people) - result.labels.begin();
        const auto column = std::ranges::find(result.labels, *evaluator) - result.labels.begin();
        ++result.matrix[static_cast<size_t>(row)][static_cast<size_t>(column)];
        const bool people_fail = *people == result.failing_label, fails = *evaluator == result.failing_label;
        true_positive += people_fail && fails;
        false_positive += !people_fail && fails;
        false_negative += people_fail && !fails;
        true_negative += !people_fail && !fails;
    }
    result.all = kappa_view(items, classes, result.labels, false);
    result.held_out = kappa_view(items, classes, result.labels, true);
    const Detection found = detection_of(true_positive, false_positive, false_negative, true_negative);
    result.precision = {found.precision, found.precision_interval.low, found.precision_interval.high};
    result.recall = {found.recall, found.recall_interval.low, found.recall_interval.high};
    result.both_pass = true_negative;
    result.only_evaluator_passes = false_negative;
    result.only_people_pass = false_positive;
    result.both_fail = true_positive;
    count_repetitions(items, classes, result);
    return result;
}

void complete(CalibrationResult& result) {
    add_warnings(result);
}

std::string drift_of(const std::vector<CalibrationItem>& first, const std::vector<CalibrationItem>& now,
                     const CalibrationResult& before, const CalibrationResult& after) {
    std::vector<CalibrationItem> both = first;
    both.insert(both.end(), now.begin(), now.end());
    const Classes classes(both);
    std::map<std::string, std::string> verdicts;
    for (const CalibrationItem& item : first)
        if (const auto label = first_class(classes, item)) verdicts[item.target_id] = *label;
    int64_t to_fail = 0, to_pass = 0;
    for (const CalibrationItem& item : now) {
        const auto earlier = verdicts.find(item.target_id);
        const auto label = first_class(classes, item);
        if (earlier == verdicts.end() || !label) continue;
        const bool failed = earlier->second == before.failing_label, fails = *label == before.failing_label;
        to_fail += !failed && fails;
        to_pass += failed && !fails;
    }
    const double p = mcnemar(to_fail, to_pass).exact_p;
    std::string why;
    if (p < drift_p)
        why = fmt::format("{} verdicts changed to {}, {} from it (exact p = {:.2g}). ", to_fail, before.failing_label,
                          to_pass, p);
    if (before.all.kappa && after.all.kappa && *before.all.kappa - *after.all.kappa >= drift_kappa - 1e-9)
        why += fmt::format("Kappa fell from {:.2f} to {:.2f}. ", *before.all.kappa, *after.all.kappa);
    return std::string(trim(why));
}

} // namespace hone::evaluate
