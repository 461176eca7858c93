// What an evaluator is, version by version: a rule over spans, also those of the runs of experiments, or code that
// evaluates the outputs of runs. A kind
// that is added later (a model, an agent, a remote service) gets a definition here and a runtime beside CodeRunner.
// Declared once for the API, the CLI and the database. Values only; any thread.
#pragma once

#include "access/caller.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::evaluate {

struct EvaluatorTag {
    static constexpr std::string_view kind = "evaluator";
};
using EvaluatorId = Id<EvaluatorTag>;

enum class EvaluatorKind { rule, code };
constexpr auto enum_names(EvaluatorKind) {
    return std::array{EnumName{EvaluatorKind::rule, "rule"}, EnumName{EvaluatorKind::code, "code"}};
}

enum class CodeLanguage { python, node, shell };
constexpr auto enum_names(CodeLanguage) {
    return std::array{EnumName{CodeLanguage::python, "python"}, EnumName{CodeLanguage::node, "node"},
                      EnumName{CodeLanguage::shell, "shell"}};
}

enum class OutputType { boolean, categorical, numeric, text };
constexpr auto enum_names(OutputType) {
    return std::array{EnumName{OutputType::boolean, "boolean"}, EnumName{OutputType::categorical, "categorical"},
                      EnumName{OutputType::numeric, "numeric"}, EnumName{OutputType::text, "text"}};
}

struct OutputValue {
    std::string label;
    std::optional<double> score;
    static constexpr std::tuple fields{
        Field{"label", &OutputValue::label, "A label that the evaluator can return."},
        Field{"score", &OutputValue::score, "Score of this label; null: none."},
    };
};

// Which results an evaluator can have. Any other result is an error, never a score.
struct OutputConfig {
    OutputType type = OutputType::boolean;
    json::Defaulted<std::vector<OutputValue>> values;
    std::optional<double> minimum;
    std::optional<double> maximum;
    static constexpr std::tuple fields{
        Field{"type", &OutputConfig::type, "boolean, categorical, numeric or text."},
        Field{"values", &OutputConfig::values, "Of categorical: the labels with their scores."},
        Field{"minimum", &OutputConfig::minimum, "Of numeric: the smallest score."},
        Field{"maximum", &OutputConfig::maximum, "Of numeric: the largest score."},
    };
};

struct MappedArgument {
    std::optional<std::string> path;
    std::optional<json::Value> literal;
    static constexpr std::tuple fields{
        Field{"path", &MappedArgument::path, "Place in the document, such as output.text or output.items[0].name."},
        Field{"literal", &MappedArgument::literal, "A fixed value instead of a path."},
    };
};

// What the code needs beside its language: installed once, without network, into a layer of its own.
struct CodeDependencies {
    json::Defaulted<std::vector<std::string>> pip;
    json::Defaulted<std::vector<std::string>> npm;
    json::Defaulted<std::string> setup;
    bool is_empty() const { return pip.value.empty() && npm.value.empty() && setup.value.empty(); }
    static constexpr std::tuple fields{
        Field{"pip", &CodeDependencies::pip,
              "Of Python: packages, such as numpy==2.1.0, from the folder evaluator_packages_dir of the server."},
        Field{"npm", &CodeDependencies::npm,
              "Of Node: packages with their versions, such as ajv@8.17.1, from the same folder as `npm pack` writes "
              "them."},
        Field{"setup", &CodeDependencies::setup,
              "Shell script that is run after the packages are installed, without network; it can write to "
              "/opt/evaluator and /home/worker."},
    };
};

struct CodeDefinition {
    CodeLanguage language = CodeLanguage::python;
    std::string source;
    json::Defaulted<OutputConfig> output;
    json::Defaulted<std::map<std::string, MappedArgument>> mapping;
    json::Defaulted<int64_t> timeout_ms = int64_t{10'000};
    json::Defaulted<CodeDependencies> dependencies;
    static constexpr std::tuple fields{
        Field{"language", &CodeDefinition::language, "python, node or shell."},
        Field{
            "source", &CodeDefinition::source,
            "Python: `def evaluate(document)`. Node: `export function evaluate(document)`. Shell: a script that reads "
            "the document as JSON on stdin and writes the result as JSON to stdout. At most 256 KiB."},
        Field{"output", &CodeDefinition::output, "Results that it can have; boolean if not given."},
        Field{
            "mapping", &CodeDefinition::mapping,
            "Arguments by name. With a mapping `evaluate` gets an object of these arguments instead of the document."},
        Field{"timeout_ms", &CodeDefinition::timeout_ms, "Time for one document, 100 to 60000."},
        Field{"dependencies", &CodeDefinition::dependencies,
              "What it needs beside its language; nothing if not given."},
    };
};

struct RuleDefinition {
    std::string filter;
    std::string condition;
    std::string label;
    std::optional<double> score;
    std::string other_label;
    std::optional<double> other_score;
    int64_t sample_percent = 100;
    static constexpr std::tuple fields{
        Field{"filter", &RuleDefinition::filter, "The spans it evaluates; empty: all."},
        Field{"condition", &RuleDefinition::condition, "Filter that a span must match."},
        Field{"label", &RuleDefinition::label, "Label of spans that match."},
        Field{"score", &RuleDefinition::score, "Score of spans that match."},
        Field{"other_label", &RuleDefinition::other_label, "Label of evaluated spans that do not match."},
        Field{"other_score", &RuleDefinition::other_score, "Score of evaluated spans that do not match."},
        Field{"sample_percent", &RuleDefinition::sample_percent, "Share of the traces it evaluates."},
    };
};

// Immutable. Exactly one of the definitions is set, by kind.
struct EvaluatorVersion {
    EvaluatorId evaluator_id;
    access::SpaceId space_id;
    int64_t number = 1;
    EvaluatorKind kind = EvaluatorKind::rule;
    std::string name;
    std::optional<RuleDefinition> rule;
    std::optional<CodeDefinition> code;
    std::string content_hash;
    std::string created_by;
    Time created_at{};
    std::optional<access::ProjectId> project_id{}; // of a rule, where it was found through its family
    static constexpr std::tuple fields{
        Field{"evaluator_id", &EvaluatorVersion::evaluator_id, "Id of the evaluator."},
        Field{"space_id", &EvaluatorVersion::space_id, "Id of the space."},
        Field{"number", &EvaluatorVersion::number, "Number of the version, from 1."},
        Field{"kind", &EvaluatorVersion::kind, "rule or code."},
        Field{"name", &EvaluatorVersion::name, "Name of the evals."},
        Field{"rule", &EvaluatorVersion::rule, "Definition of a rule."},
        Field{"code", &EvaluatorVersion::code, "Definition of code."},
        Field{"content_hash", &EvaluatorVersion::content_hash, "Equal for versions with the same definition."},
        Field{"created_by", &EvaluatorVersion::created_by, "Name of the user or key that made the version."},
        Field{"created_at", &EvaluatorVersion::created_at, "Time of creation."},
    };
};

// The result for one document.
struct Verdict {
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    json::Value metadata = json::Object{};
    static constexpr std::tuple fields{
        Field{"label", &Verdict::label, ""},
        Field{"score", &Verdict::score, ""},
        Field{"explanation", &Verdict::explanation, ""},
        Field{"metadata", &Verdict::metadata, "An object."},
    };
};

// The label with which an evaluator states that a document cannot be evaluated: covered, but without a score.
constexpr std::string_view cannot_judge = "cannot_judge";

} // namespace hone::evaluate
