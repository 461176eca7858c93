// An annotation config: which labels and scores annotations of its name have. Values only; any thread.
#pragma once

#include "access/caller.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::evaluate {

struct AnnotationConfigTag {
    static constexpr std::string_view kind = "annotationconfig";
};
using AnnotationConfigId = Id<AnnotationConfigTag>;

enum class AnnotationConfigType { categorical, continuous, freeform };
constexpr auto enum_names(AnnotationConfigType) {
    return std::array{EnumName{AnnotationConfigType::categorical, "categorical"},
                      EnumName{AnnotationConfigType::continuous, "continuous"},
                      EnumName{AnnotationConfigType::freeform, "freeform"}};
}

// Which scores are better.
enum class ScoreDirection { minimize, maximize, none };
constexpr auto enum_names(ScoreDirection) {
    return std::array{EnumName{ScoreDirection::minimize, "minimize"}, EnumName{ScoreDirection::maximize, "maximize"},
                      EnumName{ScoreDirection::none, "none"}};
}

struct AnnotationLabel {
    std::string label;
    std::optional<double> score;
    static constexpr Pack fields{
        Field{"label", &AnnotationLabel::label, ""},
        Field{"score", &AnnotationLabel::score, "Number that stands for the label."},
    };
};

struct AnnotationConfigContent {
    std::string name;
    AnnotationConfigType type = AnnotationConfigType::freeform;
    std::string description{};
    std::optional<ScoreDirection> direction{};
    std::vector<AnnotationLabel> labels{}; // of a categorical one
    std::optional<double> lower_bound{};   // of a continuous or freeform one
    std::optional<double> upper_bound{};
    std::optional<double> threshold{}; // of a freeform one
};

struct AnnotationConfig {
    AnnotationConfigId id;
    access::SpaceId space_id;
    AnnotationConfigContent content;
    Time created_at{};
    Time updated_at{};
};

} // namespace hone::evaluate
