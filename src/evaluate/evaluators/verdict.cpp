#include "evaluate/evaluators/verdict.h"

#include "evaluate/evaluators/code_layers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace hone::evaluate {

namespace {

constexpr size_t largest_source = 256 << 10;
constexpr size_t largest_verdict_text = 64 << 10;
constexpr size_t most_labels = 100;
constexpr size_t most_arguments = 50;
constexpr size_t longest_path = 500;
constexpr size_t longest_result_name = 100;

struct PathStep {
    enum class Kind { name, index, all } kind = Kind::name;
    std::string name;
    size_t index = 0;
};

Error unusable_path(std::string_view path, std::string_view why) {
    return invalid(fmt::format("path \"{}\" {}; write names and indexes, such as output.items[0].name",
                               truncate_utf8(path, 100), why));
}

Result<std::vector<PathStep>> path_steps(std::string_view path) {
    if (path.empty() || path.size() > longest_path) return unusable_path(path, "is empty or too long");
    std::vector<PathStep> steps;
    std::string_view rest = path;
    if (rest.starts_with("$.")) rest.remove_prefix(2);
    bool wants_name = true;
    while (!rest.empty()) {
        if (rest.front() == '[') {
            const size_t end = rest.find(']');
            if (end == std::string_view::npos) return unusable_path(path, "has a bracket that is not closed");
            const std::string_view inside = rest.substr(1, end - 1);
            PathStep step;
            if (inside == "*") {
                step.kind = PathStep::Kind::all;
            } else {
                const auto number = parse_integer(inside);
                if (!number.ok() || number.value() < 0 || number.value() > 1'000'000)
                    return unusable_path(path, "has brackets with something other than an index or *");
                step.kind = PathStep::Kind::index;
                step.index = static_cast<size_t>(number.value());
            }
            steps.push_back(std::move(step));
            rest.remove_prefix(end + 1);
            wants_name = false;
            continue;
        }
        if (rest.front() == '.') {
            if (wants_name) return unusable_path(path, "has an empty name");
            rest.remove_prefix(1);
            wants_name = true;
            if (rest.empty()) return unusable_path(path, "ends with a dot");
            continue;
        }
        if (!wants_name) return unusable_path(path, "has a name right after a bracket");
        const size_t end = std::min(rest.find_first_of(".["), rest.size());
        PathStep step;
        step.name = rest.substr(0, end);
        if (step.name == "*") step.kind = PathStep::Kind::all;
        if (step.name == "$" || step.name.find_first_of("?()@]") != std::string::npos)
            return unusable_path(path, "has characters of filters, which are not supported");
        steps.push_back(std::move(step));
        rest.remove_prefix(end);
        wants_name = false;
    }
    return steps;
}

void collect_at(const json::Value& value, const std::vector<PathStep>& steps, size_t at, json::Array& found) {
    if (at == steps.size()) {
        found.push_back(value);
        return;
    }
    const PathStep& step = steps[at];
    switch (step.kind) {
    case PathStep::Kind::name:
        if (!value.is_object()) return;
        if (const json::Value* member = value.get_object().if_contains(step.name))
            collect_at(*member, steps, at + 1, found);
        return;
    case PathStep::Kind::index:
        if (value.is_array() && step.index < value.get_array().size())
            collect_at(value.get_array()[step.index], steps, at + 1, found);
        return;
    case PathStep::Kind::all:
        if (value.is_array())
            for (const json::Value& item : value.get_array()) collect_at(item, steps, at + 1, found);
        if (value.is_object())
            for (const auto& member : value.get_object()) collect_at(member.value(), steps, at + 1, found);
        return;
    }
}

Error off_config(std::string why) {
    return invalid("the result does not fit the output of the evaluator: " + std::move(why));
}

std::string labels_in(const OutputConfig& config) {
    std::string list;
    for (const OutputValue& value : *config.values) list += (list.empty() ? "" : ", ") + value.label;
    return list;
}

std::string shown_value(const json::Value& value) {
    return std::string(truncate_utf8(json::print(value), 100));
}

Result<double> verdict_score(const json::Value& value) {
    if (!value.is_number()) return off_config("the score must be a number, not " + shown_value(value));
    const double score = value.to_number<double>();
    if (!std::isfinite(score)) return off_config("the score must be finite");
    return score;
}

Result<std::string> verdict_text(std::string_view what, const json::Value& value) {
    if (!value.is_string()) return off_config(fmt::format("the {} must be text, not {}", what, shown_value(value)));
    const std::string_view text = value.get_string();
    if (text.size() > largest_verdict_text)
        return off_config(fmt::format("the {} has more than {} KiB", what, largest_verdict_text >> 10));
    if (text.find('\0') != std::string_view::npos) return off_config(fmt::format("the {} has a NUL character", what));
    return std::string(text);
}

Result<> read_verdict(const json::Object& object, Verdict& verdict) {
    for (const auto& entry : object) {
        const std::string_view key = entry.key();
        const json::Value& value = entry.value();
        if (value.is_null() && key != "metadata") continue;
        if (key == "label")
            verdict.label =
                value.is_bool() ? std::string(value.get_bool() ? "true" : "false") : TRY(verdict_text(key, value));
        else if (key == "score")
            verdict.score = value.is_bool() ? (value.get_bool() ? 1.0 : 0.0) : TRY(verdict_score(value));
        else if (key == "explanation")
            verdict.explanation = TRY(verdict_text(key, value));
        else if (key == "metadata" && value.is_object())
            verdict.metadata = value;
        else if (key == "metadata")
            return off_config("metadata must be an object");
        else
            return off_config(fmt::format("unknown key \"{}\"; label, score, explanation and metadata are known",
                                          truncate_utf8(key, 60)));
    }
    return {};
}

Result<> fit_boolean(Verdict& verdict) {
    if (verdict.label && *verdict.label != "true" && *verdict.label != "false")
        return off_config("the label must be true or false, not " + std::string(truncate_utf8(*verdict.label, 60)));
    if (verdict.score && *verdict.score != 0 && *verdict.score != 1)
        return off_config(fmt::format("the score must be 0 or 1, not {}", *verdict.score));
    if (!verdict.label && !verdict.score) return off_config("it has neither a label nor a score");
    if (verdict.label && verdict.score && (*verdict.label == "true") != (*verdict.score == 1))
        return off_config("label and score contradict each other");
    const bool is_true = verdict.label ? *verdict.label == "true" : *verdict.score == 1;
    verdict.label = is_true ? "true" : "false";
    verdict.score = is_true ? 1 : 0;
    return {};
}

Result<> fit_categorical(const OutputConfig& config, Verdict& verdict) {
    if (!verdict.label) return off_config("it has no label; the labels are " + labels_in(config));
    for (const OutputValue& value : *config.values) {
        if (value.label != *verdict.label) continue;
        if (verdict.score && verdict.score != value.score)
            return off_config("the score is not the score of the label " + value.label);
        verdict.score = value.score;
        return {};
    }
    return off_config(fmt::format("the label \"{}\" is unknown; the labels are {}", truncate_utf8(*verdict.label, 60),
                                  labels_in(config)));
}

Result<> fit_numeric(const OutputConfig& config, const Verdict& verdict) {
    if (!verdict.score) return off_config("it has no score");
    if (config.minimum && *verdict.score < *config.minimum)
        return off_config(fmt::format("the score {} is below {}", *verdict.score, *config.minimum));
    if (config.maximum && *verdict.score > *config.maximum)
        return off_config(fmt::format("the score {} is above {}", *verdict.score, *config.maximum));
    return {};
}

} // namespace

Result<json::Value> value_at(const json::Value& document, std::string_view path) {
    const auto steps = TRY(path_steps(path));
    json::Array found;
    collect_at(document, steps, 0, found);
    if (found.empty()) return not_found(fmt::format("path \"{}\" in the document", truncate_utf8(path, 100)));
    const bool is_list =
        std::any_of(steps.begin(), steps.end(), [](const PathStep& step) { return step.kind == PathStep::Kind::all; });
    if (is_list) return json::Value(std::move(found));
    return std::move(found.front());
}

Result<json::Value> arguments_of(const std::map<std::string, MappedArgument>& mapping, const json::Value& document) {
    if (mapping.empty()) return document;
    json::Object arguments;
    for (const auto& [name, argument] : mapping) {
        if (argument.literal) {
            arguments[name] = *argument.literal;
            continue;
        }
        auto value = value_at(document, argument.path.value_or(name));
        if (!value.ok()) return invalid("argument " + name + ": " + value.error().message);
        arguments[name] = std::move(value).value();
    }
    return json::Value(std::move(arguments));
}

namespace {

Result<Verdict> single_verdict(const OutputConfig& config, const json::Value& result) {
    Verdict verdict;
    if (result.is_bool()) {
        verdict.label = result.get_bool() ? "true" : "false";
        if (config.type == OutputType::numeric) verdict.score = result.get_bool() ? 1 : 0;
    } else if (result.is_string()) {
        verdict.label = TRY(verdict_text("label", result));
    } else if (result.is_object()) {
        TRY(read_verdict(result.get_object(), verdict));
    } else if (result.is_number()) {
        verdict.score = TRY(verdict_score(result));
    } else {
        return off_config(result.is_null() ? "it is null" : "it is a list");
    }
    if (verdict.label == cannot_judge) {
        if (verdict.score) return off_config("cannot_judge has no score");
        return verdict;
    }
    switch (config.type) {
    case OutputType::boolean:
        TRY(fit_boolean(verdict));
        break;
    case OutputType::categorical:
        TRY(fit_categorical(config, verdict));
        break;
    case OutputType::numeric:
        TRY(fit_numeric(config, verdict));
        break;
    case OutputType::text:
        if (!verdict.label) return off_config("it has no label");
        break;
    }
    return verdict;
}

// `a` of the evaluator `tone` is the eval `tone.a`, as is `tone.a`; `tone` is the eval of the evaluator itself.
Result<std::string> result_name(const json::Value& given, std::string_view evaluator) {
    const std::string_view name = given.is_string() ? std::string_view(given.get_string()) : "";
    const bool has_control =
        std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (name.empty() || name.size() > longest_result_name || has_control || trim(name) != name || !is_valid_utf8(name))
        return off_config(fmt::format("the name of a result has 1 to {} bytes of text on one line, not {}",
                                      longest_result_name, shown_value(given)));
    const std::string prefix = std::string(evaluator) + ".";
    return name == evaluator || name.starts_with(prefix) ? std::string(name) : prefix + std::string(name);
}

Result<Verdict> named_verdicts(const OutputConfig& config, const json::Array& list, std::string_view evaluator) {
    if (list.empty()) return off_config("the list of results is empty; return cannot_judge instead");
    if (list.size() > most_results) return off_config(fmt::format("it has more than {} results", most_results));
    Verdict all;
    std::set<std::string> seen;
    for (size_t i = 0; i < list.size(); ++i) {
        const json::Value* given = list[i].is_object() ? list[i].get_object().if_contains("name") : nullptr;
        if (given == nullptr)
            return off_config(
                fmt::format("result {} of the list is not an object with a name: {}", i + 1, shown_value(list[i])));
        const std::string name = TRY(result_name(*given, evaluator));
        if (!seen.insert(name).second) return off_config("the name " + name + " is there twice");
        json::Object content = list[i].get_object();
        content.erase("name");
        auto one = single_verdict(config, content);
        if (!one.ok()) return invalid(name + ": " + one.error().message);
        Verdict& verdict = one.value();
        if (name == evaluator) {
            all.label = verdict.label;
            all.score = verdict.score;
            all.explanation = verdict.explanation;
            all.metadata = verdict.metadata;
        } else {
            all.results.value.push_back(
                {name, verdict.label, verdict.score, verdict.explanation, std::move(verdict.metadata)});
        }
    }
    return all;
}

} // namespace

Result<Verdict> verdict_of(const OutputConfig& config, const json::Value& result, std::string_view evaluator) {
    const json::Value* list = &result;
    if (result.is_object() && result.get_object().contains("results")) {
        list = result.get_object().if_contains("results");
        if (!list->is_array() || result.get_object().size() != 1)
            return off_config("results must be a list without other keys beside it");
    }
    if (!list->is_array() || evaluator.empty()) return single_verdict(config, result);
    return named_verdicts(config, list->get_array(), evaluator);
}

Result<> check(const OutputConfig& config) {
    const bool has_values = !config.values.value.empty();
    if (has_values != (config.type == OutputType::categorical))
        return invalid("output.values are the labels of a categorical output: give them there and nowhere else");
    if ((config.minimum || config.maximum) && config.type != OutputType::numeric)
        return invalid("output.minimum and output.maximum belong to a numeric output");
    for (const auto& bound : {config.minimum, config.maximum})
        if (bound && !std::isfinite(*bound)) return invalid("output.minimum and output.maximum must be finite");
    if (config.minimum && config.maximum && *config.minimum >= *config.maximum)
        return invalid("output.minimum must be below output.maximum");
    if (config.values.value.size() > most_labels)
        return invalid(fmt::format("output.values has at most {} labels", most_labels));
    std::set<std::string> seen;
    for (const OutputValue& value : *config.values) {
        if (value.label.empty() || value.label.size() > 200 || !is_valid_utf8(value.label) ||
            value.label.find('\0') != std::string::npos)
            return invalid("a label has 1 to 200 bytes of UTF-8 text");
        if (value.label == cannot_judge) return invalid("the label cannot_judge is always allowed: leave it out");
        if (!seen.insert(value.label).second) return invalid("output.values has the label " + value.label + " twice");
        if (value.score && !std::isfinite(*value.score)) return invalid("the score of a label must be finite");
    }
    return {};
}

Result<> check(const CodeDefinition& code) {
    if (trim(code.source).empty()) return invalid("source is empty: give the code of the evaluator");
    if (code.source.size() > largest_source)
        return too_large(fmt::format("source must be at most {} KiB", largest_source >> 10));
    if (code.source.find('\0') != std::string::npos) return invalid("source must not have NUL characters");
    TRY(check(*code.output));
    TRY(check(*code.dependencies, code.language));
    if (*code.timeout_ms < 100 || *code.timeout_ms > 60'000) return invalid("timeout_ms must be between 100 and 60000");
    if (code.mapping.value.size() > most_arguments)
        return invalid(fmt::format("mapping has at most {} arguments", most_arguments));
    for (const auto& [name, argument] : *code.mapping) {
        if (name.empty() || name.size() > 100) return invalid("the name of an argument has 1 to 100 bytes");
        if (argument.path && argument.literal)
            return invalid("mapping." + name + " has a path and a literal: give one");
        if (argument.literal) continue;
        const auto steps = path_steps(argument.path.value_or(name));
        if (!steps.ok()) return invalid("mapping." + name + ": " + steps.error().message);
    }
    return {};
}

} // namespace hone::evaluate
