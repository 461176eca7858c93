#include "evaluate/pairs/pair.h"
#include "evaluate/statistics/agreement.h"

#include <algorithm>
#include <array>

namespace hone::evaluate {

namespace {

constexpr double accepted_false_alarms = 0.05;
constexpr int64_t least_pairs_for_kappa = 10;

bool is_decided(PairWinner winner) {
    return winner != PairWinner::undecided;
}

// What the repetitions of an example show together: the side with more wins.
PairWinner majority_winner(const std::vector<PairWinner>& winners) {
    const auto count = [&](PairWinner wanted) { return std::count(winners.begin(), winners.end(), wanted); };
    const auto base = count(PairWinner::base), other = count(PairWinner::other);
    if (base != other) return other > base ? PairWinner::other : PairWinner::base;
    if (base > 0 || count(PairWinner::tie) > 0) return PairWinner::tie;
    return count(PairWinner::inconsistent) > 0 ? PairWinner::inconsistent : PairWinner::undecided;
}

void count_positions(const PairEval& pair, PairSummary& summary, int64_t& leans_first, int64_t& leans_second) {
    int64_t first = 0, second = 0;
    for (const std::string* label : {&pair.first_label, &pair.swapped_label}) {
        first += *label == first_is_better;
        second += *label == second_is_better;
    }
    summary.first_picks += first;
    summary.picks += first + second;
    if (pair.winner != PairWinner::inconsistent) return;
    ++summary.flipped_pairs;
    leans_first += first > second;
    leans_second += second > first;
}

// base, other, tie: a verdict that changed with the order prefers neither.
size_t preference(PairWinner winner) {
    return winner == PairWinner::base ? 0 : winner == PairWinner::other ? 1 : 2;
}

PairAgreement agreement_with_people(const std::vector<PairEval>& pairs) {
    PairAgreement result;
    std::vector<std::vector<int64_t>> counts(3, std::vector<int64_t>(3));
    for (const PairEval& pair : pairs) {
        if (pair.people.empty() || !pair.winner || !is_decided(*pair.winner)) continue;
        std::array<int64_t, 3> votes{};
        for (const auto& [name, label] : pair.people)
            ++votes[preference(parse_enum<PairWinner>(label).value_or(PairWinner::tie))];
        const auto most = std::max_element(votes.begin(), votes.end());
        if (std::count(votes.begin(), votes.end(), *most) > 1) {
            ++result.disputed;
            continue;
        }
        ++counts[static_cast<size_t>(most - votes.begin())][preference(*pair.winner)];
        ++result.count;
    }
    const Kappa kappa = cohen_kappa(counts);
    result.agreement = kappa.observed;
    if (result.count < least_pairs_for_kappa) return result;
    result.kappa = kappa.kappa;
    if (kappa.interval) result.low = kappa.interval->low, result.high = kappa.interval->high;
    return result;
}

} // namespace

PairWinner winner_of(std::string_view first_label, std::string_view swapped_label) {
    if (first_label == cannot_judge || swapped_label == cannot_judge) return PairWinner::undecided;
    if (first_label == neither_is_better && swapped_label == neither_is_better) return PairWinner::tie;
    if (first_label == first_is_better && swapped_label == second_is_better) return PairWinner::base;
    if (first_label == second_is_better && swapped_label == first_is_better) return PairWinner::other;
    return PairWinner::inconsistent;
}

PairResults summarize_pairs(const std::vector<PairEval>& pairs) {
    PairResults results;
    PairSummary& summary = results.summary;
    std::map<ExampleId, std::vector<PairWinner>> by_example;
    int64_t decided = 0, leans_first = 0, leans_second = 0;
    for (const PairEval& pair : pairs) {
        if (!pair.winner) {
            ++summary.failed_pairs;
            continue;
        }
        ++summary.pairs;
        by_example[pair.example_id].push_back(*pair.winner);
        if (!is_decided(*pair.winner)) continue;
        ++decided;
        count_positions(pair, summary, leans_first, leans_second);
    }
    for (const auto& [id, winners] : by_example) {
        const PairWinner winner = majority_winner(winners);
        results.examples.emplace(id, winner);
        ++summary.examples;
        summary.wins += winner == PairWinner::other;
        summary.losses += winner == PairWinner::base;
        summary.ties += winner == PairWinner::tie;
        summary.inconsistent += winner == PairWinner::inconsistent;
        summary.undecided += winner == PairWinner::undecided;
    }
    const int64_t decisive = summary.wins + summary.losses;
    if (decisive > 0) summary.win_rate = static_cast<double>(summary.wins) / static_cast<double>(decisive);
    const Interval rate = wilson(summary.wins, decisive);
    summary.low = rate.low;
    summary.high = rate.high;
    summary.p = sign_test(summary.wins, summary.losses);
    if (decided > 0) summary.flip_rate = static_cast<double>(summary.flipped_pairs) / static_cast<double>(decided);
    const Interval flips = wilson(summary.flipped_pairs, decided);
    summary.flip_low = flips.low;
    summary.flip_high = flips.high;
    if (summary.picks > 0)
        summary.first_share = static_cast<double>(summary.first_picks) / static_cast<double>(summary.picks);
    summary.bias_p = sign_test(leans_first, leans_second);
    if (summary.bias_p < accepted_false_alarms) summary.favours = leans_first > leans_second ? "first" : "second";
    summary.people = agreement_with_people(pairs);
    set_pair_verdict(summary, summary.p);
    return results;
}

void mirror(PairResults& results) {
    PairSummary& summary = results.summary;
    std::swap(summary.wins, summary.losses);
    if (summary.win_rate) summary.win_rate = 1 - *summary.win_rate;
    const double low = summary.low;
    summary.low = 1 - summary.high;
    summary.high = 1 - low;
    for (auto& [id, winner] : results.examples)
        winner = winner == PairWinner::base    ? PairWinner::other
                 : winner == PairWinner::other ? PairWinner::base
                                               : winner;
    set_pair_verdict(summary, summary.q);
}

} // namespace hone::evaluate
