// What an evaluator is, version by version: a rule over spans, or code, a model, an agent or a remote service that
// evaluates documents: runs of experiments, spans, traces and chat sessions (judges/judge.h applies them).
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

enum class EvaluatorKind { rule, code, llm, agent, remote };
constexpr auto enum_names(EvaluatorKind) {
    return std::array{EnumName{EvaluatorKind::rule, "rule"}, EnumName{EvaluatorKind::code, "code"},
                      EnumName{EvaluatorKind::llm, "llm"}, EnumName{EvaluatorKind::agent, "agent"},
                      EnumName{EvaluatorKind::remote, "remote"}};
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
    static constexpr Pack fields{
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
    static constexpr Pack fields{
        Field{"type", &OutputConfig::type, "boolean, categorical, numeric or text."},
        Field{"values", &OutputConfig::values, "Of categorical: the labels with their scores."},
        Field{"minimum", &OutputConfig::minimum, "Of numeric: the smallest score."},
        Field{"maximum", &OutputConfig::maximum, "Of numeric: the largest score."},
    };
};

struct MappedArgument {
    std::optional<std::string> path;
    std::optional<json::Value> literal;
    static constexpr Pack fields{
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
    static constexpr Pack fields{
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
    static constexpr Pack fields{
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

struct JudgeModel {
    std::string name;
    json::Defaulted<std::string> skill;
    json::Defaulted<std::string> provider;
    json::Defaulted<json::Value> parameters = json::Value(json::Object{});
    static constexpr Pack fields{
        Field{"name", &JudgeModel::name, "Name of the model, as the provider has it."},
        Field{"skill", &JudgeModel::skill,
              "Id or name of the model skill; if not given, the one of the space that offers the model."},
        Field{"provider", &JudgeModel::provider,
              "Provider, such as OPENAI or ANTHROPIC; if not given, the one of the skill."},
        Field{"parameters", &JudgeModel::parameters,
              "Invocation parameters of the provider. temperature is 0 where the model accepts it, unless given here; "
              "null leaves it out."},
    };
};

struct JudgeMessage {
    std::string role;
    std::string content;
    static constexpr Pack fields{
        Field{"role", &JudgeMessage::role, "system, user or assistant."},
        Field{"content", &JudgeMessage::content,
              "Text with variables, such as {{input}} or {{output.text}}: places in the document, or names of the "
              "mapping."},
    };
};

// A model evaluates the document. What it replies must fit `output`; anything else is an error.
struct LlmDefinition {
    JudgeModel model;
    std::vector<JudgeMessage> messages;
    json::Defaulted<OutputConfig> output;
    json::Defaulted<std::map<std::string, MappedArgument>> mapping;
    json::Defaulted<int64_t> votes = int64_t{1};
    json::Defaulted<bool> explain = true;
    json::Defaulted<bool> cache = true;
    json::Defaulted<int64_t> timeout_ms = int64_t{60'000};
    json::Defaulted<bool> pairwise = false;
    static constexpr Pack fields{
        Field{"model", &LlmDefinition::model, "The model and its skill."},
        Field{"messages", &LlmDefinition::messages, "Messages with variables, 1 to 20."},
        Field{"output", &LlmDefinition::output, "Results that it can have; boolean if not given."},
        Field{"mapping", &LlmDefinition::mapping,
              "Variables by name: a place in the document, or a literal. A variable without an entry is a place."},
        Field{"votes", &LlmDefinition::votes, "Calls for one verdict, 1, 3 or 5: the majority decides."},
        Field{"explain", &LlmDefinition::explain, "Whether the model explains its verdict."},
        Field{"cache", &LlmDefinition::cache, "Whether equal documents use the stored verdict of the last 30 days."},
        Field{"timeout_ms", &LlmDefinition::timeout_ms, "Time of one call, 1000 to 300000."},
        Field{"pairwise", &LlmDefinition::pairwise,
              "It compares the outputs of two experiments, {{a}} and {{b}}, in both orders. Its labels are a, b and "
              "tie. It cannot evaluate a single output."},
    };
};

// The labels of an evaluator that compares two outputs: the first one shown, the second one, neither.
constexpr std::string_view first_is_better = "a";
constexpr std::string_view second_is_better = "b";
constexpr std::string_view neither_is_better = "tie";

// A worker evaluates the document: a run with a preset, which reports its verdict with one tool.
struct AgentDefinition {
    std::string preset;
    std::string instructions;
    json::Defaulted<OutputConfig> output;
    json::Defaulted<std::map<std::string, MappedArgument>> mapping;
    json::Defaulted<int64_t> timeout_ms = int64_t{300'000};
    json::Defaulted<int64_t> max_tokens = int64_t{50'000};
    static constexpr Pack fields{
        Field{"preset", &AgentDefinition::preset, "Id or name of the preset of the run."},
        Field{"instructions", &AgentDefinition::instructions, "What the worker evaluates, and by which criteria."},
        Field{"output", &AgentDefinition::output, "Results that it can have; boolean if not given."},
        Field{"mapping", &AgentDefinition::mapping, "Parts of the document by name; without one it gets all of it."},
        Field{"timeout_ms", &AgentDefinition::timeout_ms, "Time of the run, 10000 to 1800000."},
        Field{"max_tokens", &AgentDefinition::max_tokens, "Tokens of the run, 1000 to 2000000."},
    };
};

// A service of the user evaluates the document: a signed POST. The secret that signs it belongs to the evaluator, not
// to a version.
struct RemoteDefinition {
    std::string url;
    json::Defaulted<OutputConfig> output;
    json::Defaulted<std::map<std::string, MappedArgument>> mapping;
    json::Defaulted<int64_t> timeout_ms = int64_t{30'000};
    static constexpr Pack fields{
        Field{"url", &RemoteDefinition::url, "Address that gets the document by POST; https, or http."},
        Field{"output", &RemoteDefinition::output, "Results that it can have; boolean if not given."},
        Field{"mapping", &RemoteDefinition::mapping, "Parts of the document by name; without one it gets all of it."},
        Field{"timeout_ms", &RemoteDefinition::timeout_ms, "Time of one request, 1000 to 120000."},
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
    static constexpr Pack fields{
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
    std::optional<LlmDefinition> llm;
    std::optional<AgentDefinition> agent;
    std::optional<RemoteDefinition> remote;
    std::string content_hash;
    std::string created_by;
    Time created_at{};
    std::optional<access::ProjectId> project_id{}; // of a rule, where it was found through its family
    bool is_pairwise() const { return llm && *llm->pairwise; }
    static constexpr Pack fields{
        Field{"evaluator_id", &EvaluatorVersion::evaluator_id, "Id of the evaluator."},
        Field{"space_id", &EvaluatorVersion::space_id, "Id of the space."},
        Field{"number", &EvaluatorVersion::number, "Number of the version, from 1."},
        Field{"kind", &EvaluatorVersion::kind, "rule, code, llm, agent or remote."},
        Field{"name", &EvaluatorVersion::name, "Name of the evals."},
        Field{"rule", &EvaluatorVersion::rule, "Definition of a rule."},
        Field{"code", &EvaluatorVersion::code, "Definition of code."},
        Field{"llm", &EvaluatorVersion::llm, "Definition of a model as evaluator."},
        Field{"agent", &EvaluatorVersion::agent, "Definition of an agent as evaluator."},
        Field{"remote", &EvaluatorVersion::remote, "Definition of a remote service as evaluator."},
        Field{"content_hash", &EvaluatorVersion::content_hash, "Equal for versions with the same definition."},
        Field{"created_by", &EvaluatorVersion::created_by, "Name of the user or key that made the version."},
        Field{"created_at", &EvaluatorVersion::created_at, "Time of creation."},
    };
};

// One of several results for a document: an eval of its own.
struct NamedVerdict {
    std::string name;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    json::Value metadata = json::Object{};
    static constexpr Pack fields{
        Field{"name", &NamedVerdict::name, "Name of the eval: the evaluator's name, a dot and the name of the result."},
        Field{"label", &NamedVerdict::label, ""},
        Field{"score", &NamedVerdict::score, ""},
        Field{"explanation", &NamedVerdict::explanation, ""},
        Field{"metadata", &NamedVerdict::metadata, "An object."},
    };
};

// The result for one document. Of an evaluator that returns several, `results` has them; label and score are those of
// the one that has the name of the evaluator, if there is one.
struct Verdict {
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    json::Value metadata = json::Object{};
    json::Defaulted<std::vector<NamedVerdict>> results{};
    bool is_only_named() const { return !results.value.empty() && !label && !score; }
    static constexpr Pack fields{
        Field{"label", &Verdict::label, ""},
        Field{"score", &Verdict::score, ""},
        Field{"explanation", &Verdict::explanation, ""},
        Field{"metadata", &Verdict::metadata, "An object."},
        Field{"results", &Verdict::results, "Of an evaluator that returns several results: those with other names."},
    };
};

// The label with which an evaluator states that a document cannot be evaluated: covered, but without a score.
constexpr std::string_view cannot_judge = "cannot_judge";

} // namespace hone::evaluate
