// What a pairwise evaluator prefers of two experiments, in numbers: a part of their comparison. evaluate/pairs makes
// it. Values only; any thread.
#pragma once

#include "evaluate/experiments/experiment.h"

#include <map>

namespace hone::evaluate {

struct PairTaskTag {
    static constexpr std::string_view kind = "pairtask";
};
using PairTaskId = Id<PairTaskTag>;

// `inconsistent`: the verdict changed with the order, so neither won. `undecided`: cannot_judge in one of the orders.
enum class PairWinner { base, other, tie, inconsistent, undecided };
constexpr auto enum_names(PairWinner) {
    return std::array{EnumName{PairWinner::base, "base"}, EnumName{PairWinner::other, "other"},
                      EnumName{PairWinner::tie, "tie"}, EnumName{PairWinner::inconsistent, "inconsistent"},
                      EnumName{PairWinner::undecided, "undecided"}};
}

// The agreement of an evaluator with people.
struct PairAgreement {
    int64_t count = 0;
    int64_t disputed = 0;
    double agreement = 0;
    std::optional<double> kappa;
    std::optional<double> low;
    std::optional<double> high;
    static constexpr Pack fields{
        Field{"count", &PairAgreement::count, "Pairs with verdicts and a label of people."},
        Field{"disputed", &PairAgreement::disputed, "Pairs left out because people are divided evenly."},
        Field{"agreement", &PairAgreement::agreement,
              "Share of equal labels. A verdict that changed with the order counts as a tie."},
        Field{"kappa", &PairAgreement::kappa,
              "Cohen's kappa; null below 10 pairs, and when one label is all there is."},
        Field{"low", &PairAgreement::low, "Lower end of its 95 % interval."},
        Field{"high", &PairAgreement::high, "Upper end."},
    };
};

// What one evaluator prefers of two experiments. An example counts once: repetitions decide by their majority.
struct PairSummary {
    PairTaskId task_id;
    std::string name;
    std::string evaluator_id;
    int64_t version = 1;
    std::string state;
    std::string reason;
    int64_t examples = 0;
    int64_t wins = 0;
    int64_t losses = 0;
    int64_t ties = 0;
    int64_t inconsistent = 0;
    int64_t undecided = 0;
    std::optional<double> win_rate;
    double low = 0;
    double high = 1;
    double p = 1;
    double q = 1;
    std::string verdict = "no_difference_shown";
    int64_t pairs = 0;
    int64_t expected_pairs = 0;
    int64_t failed_pairs = 0;
    int64_t flipped_pairs = 0;
    std::optional<double> flip_rate;
    double flip_low = 0;
    double flip_high = 1;
    int64_t first_picks = 0;
    int64_t picks = 0;
    std::optional<double> first_share;
    double bias_p = 1;
    std::string favours = "none";
    PairAgreement people;
    static constexpr Pack fields{
        Field{"task_id", &PairSummary::task_id, "Its task."},
        Field{"name", &PairSummary::name, "Name of the evaluator."},
        Field{"evaluator_id", &PairSummary::evaluator_id, "Its id."},
        Field{"version", &PairSummary::version, "Its version."},
        Field{"state", &PairSummary::state, "State of the task."},
        Field{"reason", &PairSummary::reason, "Why it failed or was stopped."},
        Field{"examples", &PairSummary::examples, "Examples with verdicts."},
        Field{"wins", &PairSummary::wins, "Examples for which the other is better in both orders."},
        Field{"losses", &PairSummary::losses, "Examples for which the base is better in both orders."},
        Field{"ties", &PairSummary::ties, "Examples for which neither is better."},
        Field{"inconsistent", &PairSummary::inconsistent,
              "Examples for which the verdict changed with the order: never a win."},
        Field{"undecided", &PairSummary::undecided, "Examples that could not be decided."},
        Field{"win_rate", &PairSummary::win_rate, "wins / (wins + losses); null: there are neither."},
        Field{"low", &PairSummary::low, "Lower end of its 95 % interval (Wilson)."},
        Field{"high", &PairSummary::high, "Upper end."},
        Field{"p", &PairSummary::p, "Exact sign test of wins and losses."},
        Field{"q", &PairSummary::q, "p, corrected together with the evals of the comparison (Benjamini-Hochberg)."},
        Field{"verdict", &PairSummary::verdict, "improved, regressed or no_difference_shown."},
        Field{"pairs", &PairSummary::pairs, "Pairs with verdicts in both orders."},
        Field{"expected_pairs", &PairSummary::expected_pairs, "Pairs of runs with an output in both experiments."},
        Field{"failed_pairs", &PairSummary::failed_pairs, "Pairs for which the evaluator failed."},
        Field{"flipped_pairs", &PairSummary::flipped_pairs, "Pairs whose verdict changed with the order."},
        Field{"flip_rate", &PairSummary::flip_rate, "Share of these among the decided pairs; null: there are none."},
        Field{"flip_low", &PairSummary::flip_low, "Lower end of its 95 % interval (Wilson)."},
        Field{"flip_high", &PairSummary::flip_high, "Upper end."},
        Field{"first_picks", &PairSummary::first_picks, "Verdicts for the output that was shown first."},
        Field{"picks", &PairSummary::picks, "Verdicts for one of both outputs."},
        Field{"first_share", &PairSummary::first_share, "first_picks / picks: 0.5 without position bias."},
        Field{"bias_p", &PairSummary::bias_p,
              "Exact sign test of flipped pairs that favour the first position against those that favour the second."},
        Field{"favours", &PairSummary::favours, "Position bias: first, second or none, by bias_p < 0.05."},
        Field{"people", &PairSummary::people, "Agreement with people."},
    };
};

// A summary with the result of each example, for the rows of a comparison.
struct PairResults {
    PairSummary summary;
    std::map<ExampleId, PairWinner> examples{};
};

// The test of wins against losses, corrected for the number of tests.
void set_pair_verdict(PairSummary& summary, double q);

} // namespace hone::evaluate
