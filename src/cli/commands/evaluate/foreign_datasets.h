// Datasets of other tools as rows of JSON lines that `dataset push` takes: id, input, output, metadata, splits. Text of
// a file is hostile: it is bounded, and what is not understood is an error with its row. Pure; any thread.
#pragma once

#include "json/json.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

enum class ForeignFormat { promptfoo, openai_evals, langfuse, langsmith };
constexpr auto enum_names(ForeignFormat) {
    return std::array{EnumName{ForeignFormat::promptfoo, "promptfoo"},
                      EnumName{ForeignFormat::openai_evals, "openai-evals"},
                      EnumName{ForeignFormat::langfuse, "langfuse"}, EnumName{ForeignFormat::langsmith, "langsmith"}};
}

struct ForeignRows {
    std::vector<json::Object> rows;
    std::vector<std::string> notes; // what was left out, and why
};

Result<ForeignRows> read_foreign(ForeignFormat format, std::string_view text);

} // namespace hone::cli
