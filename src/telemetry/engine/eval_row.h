// An eval as a row of the engine's tables `evals` and `eval_history` in RowBinary. The columns of both are declared
// once, in eval_row.cpp, with their type and with what writes and reads them. Pure; any thread.
#pragma once

#include "base/fields.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

enum class EvalTarget : int8_t { span = 1, trace = 2, chat_session = 3 }; // stored
enum class EvalKind : int8_t { human = 1, llm = 2, code = 3, agent = 4 }; // stored

constexpr auto enum_names(EvalTarget) {
    return std::array{EnumName{EvalTarget::span, "span"}, EnumName{EvalTarget::trace, "trace"},
                      EnumName{EvalTarget::chat_session, "chat_session"}};
}
constexpr auto enum_names(EvalKind) {
    return std::array{EnumName{EvalKind::human, "human"}, EnumName{EvalKind::llm, "llm"},
                      EnumName{EvalKind::code, "code"}, EnumName{EvalKind::agent, "agent"}};
}

struct Eval {
    std::string project;
    EvalTarget target = EvalTarget::span;
    std::string target_id;  // span id, trace id or the chat session's name
    std::string name;       // "correct"
    std::string annotator;  // who: a user's, evaluator's or run's id
    std::string identifier; // several with one name may stand beside each other under different identifiers
    EvalKind kind = EvalKind::human;
    std::string label;
    std::optional<double> score;
    std::string explanation;
    std::string metadata; // JSON text
    // Of an evaluator's task; else 0, empty and 1.
    int64_t evaluator_version = 0;
    std::string job;       // key of the job
    double inclusion = 1;  // probability that the target was sampled: rates are weighted by its inverse
    int64_t target_ns = 0; // start of the target, for charts; 0: not known
    // Set by the store.
    std::string id;
    int64_t created_ns = 0;
    int64_t updated_ns = 0;
    bool is_deleted = false; // in the history
};

// For CREATE TABLE: "project LowCardinality(String), …", in the order of a row.
std::string eval_table_columns();
// The columns that tables of earlier versions lack, for ADD COLUMN; they are the last ones.
std::vector<std::string> newer_eval_columns();
// For SELECT, in the order in which `read_evals` reads them.
std::string eval_names();

void append_eval(std::string& out, const Eval& eval, uint64_t version);
std::vector<Eval> read_evals(std::string_view bytes);

} // namespace hone::telemetry
