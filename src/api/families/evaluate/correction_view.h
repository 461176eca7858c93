// A person's verdict about a run of an experiment, as responses have it. Values only.
#pragma once

#include "evaluate/experiments/experiment.h"

namespace hone::api {

struct CorrectionView {
    std::string by;
    std::optional<std::string> label;
    std::optional<double> score;
    std::string explanation;
    Time updated_at{};
    static constexpr Pack fields{
        Field{"by", &CorrectionView::by, "Name of the person."},
        Field{"label", &CorrectionView::label, "Label that the person gives."},
        Field{"score", &CorrectionView::score, "Score that the person gives."},
        Field{"explanation", &CorrectionView::explanation, "Why."},
        Field{"updated_at", &CorrectionView::updated_at, "Time of the last change."},
    };
};

inline CorrectionView view_of(const evaluate::EvalCorrection& correction) {
    return {correction.author_name, correction.label, correction.score, correction.explanation, correction.updated_at};
}

} // namespace hone::api
