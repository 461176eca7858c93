#include "evaluate/experiments/pair_summary.h"

namespace hone::evaluate {

void set_pair_verdict(PairSummary& summary, double q) {
    summary.q = q;
    summary.verdict = q > 0.05 || summary.wins == summary.losses ? "no_difference_shown"
                      : summary.wins > summary.losses            ? "improved"
                                                                 : "regressed";
}

} // namespace hone::evaluate
