// The built-in evaluators: definitions to start from, each with a document and the verdict that it must get. What they
// share is written once; a person chooses the model and may change everything. Values only; any thread.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"

#include <span>

namespace hone::evaluate {

struct BuiltinExample {
    json::Value document;
    std::string label;
    static constexpr Pack fields{
        Field{"document", &BuiltinExample::document, "A document as the evaluator gets it."},
        Field{"label", &BuiltinExample::label, "Label that a good evaluator gives it."},
    };
};

struct Builtin {
    std::string name;
    EvaluatorKind kind = EvaluatorKind::llm;
    std::string target;
    std::string description;
    json::Value definition;
    std::optional<BuiltinExample> example;
    static constexpr Pack fields{
        Field{"name", &Builtin::name, "Name."},
        Field{"kind", &Builtin::kind, "llm, code or rule."},
        Field{"target", &Builtin::target,
              "What it is written for: experiment_run, experiment_pair, span, trace or chat_session."},
        Field{"description", &Builtin::description, "What it evaluates."},
        Field{"definition", &Builtin::definition,
              "The definition, as POST /v1/evaluators takes it; of llm without the model."},
        Field{"example", &Builtin::example, "A document with its right label; null for rules."},
    };
};

// By kind and name.
const std::vector<Builtin>& builtins();

} // namespace hone::evaluate
