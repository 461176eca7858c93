#include "cli/commands/evaluate/foreign_datasets.h"

#include "cli/toolkit/yaml.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

constexpr size_t most_combinations = 100'000;

const json::Value* found_in(const json::Object& object, std::string_view name) {
    const json::Value* value = object.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
}

// What is no object becomes one with a single key.
json::Object as_object(const json::Value* value, std::string_view key) {
    if (value == nullptr) return {};
    if (value->is_object()) return value->get_object();
    json::Object made;
    made[key] = *value;
    return made;
}

Error wrong_row(size_t number, std::string_view why) {
    return invalid(fmt::format("row {}: {}", number, why));
}

// A list, an object with a list, or one object per line.
Result<json::Array> items_of(std::string_view text, std::initializer_list<std::string_view> keys) {
    const std::string_view plain = trim(text);
    if (plain.starts_with("[") || plain.starts_with("{")) {
        auto whole = json::parse(plain);
        if (whole.ok() && whole.value().is_array()) return std::move(whole.value().get_array());
        if (whole.ok() && whole.value().is_object()) {
            for (const std::string_view key : keys)
                if (const json::Value* list = found_in(whole.value().get_object(), key);
                    list != nullptr && list->is_array())
                    return list->get_array();
            return json::Array{std::move(whole).value()};
        }
        if (plain.starts_with("[")) return std::move(whole).error();
    }
    json::Array items;
    size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        auto item = json::parse(trim(line));
        if (!item.ok()) return invalid(fmt::format("line {}: {}", number, item.error().message));
        items.push_back(std::move(item).value());
    }
    return items;
}

json::Object row_of(json::Object input, json::Object output, json::Object metadata) {
    json::Object row;
    row["input"] = std::move(input);
    row["output"] = std::move(output);
    row["metadata"] = std::move(metadata);
    return row;
}

// --- promptfoo -----------------------------------------------------------------------------------------------------

// A variable with a list of values stands for one test per value.
Result<std::vector<json::Object>> combinations(const json::Object& variables, size_t number) {
    std::vector<json::Object> all{{}};
    for (const auto& entry : variables) {
        const json::Value& value = entry.value();
        if (value.is_string() && std::string_view(value.get_string()).starts_with("file://"))
            return wrong_row(number, fmt::format("the variable {} is in another file ({}); write its value here",
                                                 std::string_view(entry.key()), std::string_view(value.get_string())));
        std::vector<json::Object> grown;
        const json::Array one{value};
        for (const json::Object& before : all)
            for (const json::Value& item : value.is_array() ? value.get_array() : one) {
                grown.push_back(before);
                grown.back()[entry.key()] = item;
                if (grown.size() > most_combinations) return wrong_row(number, "its lists make too many combinations");
            }
        all = std::move(grown);
    }
    return all;
}

Result<ForeignRows> read_promptfoo(std::string_view text) {
    const json::Value config = TRY(parse_yaml(text));
    if (!config.is_object()) return invalid("this is not a configuration of promptfoo: it has no keys");
    const json::Value* tests = found_in(config.get_object(), "tests");
    if (tests == nullptr) return invalid("the configuration has no tests");
    if (!tests->is_array())
        return invalid("the tests are in another file: import that file (CSV with `hone dataset push`)");
    json::Object shared, shared_metadata;
    json::Array shared_asserts;
    if (const json::Value* common = found_in(config.get_object(), "defaultTest");
        common != nullptr && common->is_object()) {
        shared = as_object(found_in(common->get_object(), "vars"), "vars");
        shared_metadata = as_object(found_in(common->get_object(), "metadata"), "metadata");
        if (const json::Value* asserts = found_in(common->get_object(), "assert");
            asserts != nullptr && asserts->is_array())
            shared_asserts = asserts->get_array();
    }
    ForeignRows read;
    size_t number = 0;
    for (const json::Value& test : tests->get_array()) {
        ++number;
        if (!test.is_object())
            return wrong_row(number, "it is not a test but a reference to another file; import that file");
        const json::Object& object = test.get_object();
        json::Object variables = shared;
        if (const json::Value* own = found_in(object, "vars")) {
            if (!own->is_object()) return wrong_row(number, "vars must be an object");
            for (const auto& entry : own->get_object()) variables[entry.key()] = entry.value();
        }
        json::Array asserts = shared_asserts;
        if (const json::Value* own = found_in(object, "assert"); own != nullptr && own->is_array())
            for (const json::Value& one : own->get_array()) asserts.push_back(one);
        json::Object output;
        for (const json::Value& one : asserts) {
            const json::Value* type = one.is_object() ? found_in(one.get_object(), "type") : nullptr;
            const json::Value* value = one.is_object() ? found_in(one.get_object(), "value") : nullptr;
            if (type != nullptr && value != nullptr && *type == "equals" && output.empty()) output["expected"] = *value;
        }
        json::Object metadata = shared_metadata;
        for (const auto& entry : as_object(found_in(object, "metadata"), "metadata"))
            metadata[entry.key()] = entry.value();
        if (const json::Value* description = found_in(object, "description")) metadata["description"] = *description;
        if (!asserts.empty()) metadata["assert"] = std::move(asserts);
        for (json::Object& input : TRY(combinations(variables, number)))
            read.rows.push_back(row_of(std::move(input), output, metadata));
    }
    read.notes.emplace_back("prompts and providers are not part of a dataset; assertions are in metadata.assert");
    return read;
}

// --- OpenAI Evals --------------------------------------------------------------------------------------------------

bool is_reference_name(std::string_view name) {
    for (const std::string_view known :
         {"ideal", "expected", "expected_output", "reference", "reference_answer", "ground_truth", "correct_label",
          "correct_answer", "answer", "label", "target"})
        if (name == known) return true;
    return false;
}

Result<ForeignRows> read_openai_evals(std::string_view text) {
    ForeignRows read;
    size_t number = 0;
    for (const json::Value& item : TRY(items_of(text, {"data"}))) {
        ++number;
        if (!item.is_object()) return wrong_row(number, "it is not an object");
        const json::Object& object = item.get_object();
        json::Object input, output, metadata;
        if (const json::Value* inner = found_in(object, "item")) {
            if (!inner->is_object()) return wrong_row(number, "item must be an object");
            for (const auto& entry : inner->get_object())
                (is_reference_name(entry.key()) ? output : input)[entry.key()] = entry.value();
        } else {
            const json::Value* given = found_in(object, "input");
            if (given == nullptr) return wrong_row(number, "it has neither item nor input");
            input[given->is_array() ? "messages" : "input"] = *given;
            for (const auto& entry : object) {
                if (entry.key() == "input") continue;
                (is_reference_name(entry.key()) ? output : metadata)[entry.key()] = entry.value();
            }
        }
        read.rows.push_back(row_of(std::move(input), std::move(output), std::move(metadata)));
    }
    return read;
}

// --- Langfuse ------------------------------------------------------------------------------------------------------

Result<ForeignRows> read_langfuse(std::string_view text) {
    ForeignRows read;
    size_t number = 0, archived = 0;
    for (const json::Value& item : TRY(items_of(text, {"data", "items"}))) {
        ++number;
        if (!item.is_object()) return wrong_row(number, "it is not an object");
        const json::Object& object = item.get_object();
        const json::Value* input = object.if_contains("input");
        if (input == nullptr) return wrong_row(number, "it has no input");
        if (const json::Value* status = found_in(object, "status"); status != nullptr && *status == "ARCHIVED") {
            ++archived;
            continue;
        }
        const json::Value* expected = found_in(object, "expectedOutput");
        if (expected == nullptr) expected = found_in(object, "expected_output");
        json::Object metadata = as_object(found_in(object, "metadata"), "metadata");
        for (const auto& [key, name] :
             {std::pair{"sourceTraceId", "langfuse_trace"}, {"sourceObservationId", "langfuse_observation"}})
            if (const json::Value* source = found_in(object, key)) metadata[name] = *source;
        json::Object row = row_of(as_object(input->is_null() ? nullptr : input, "input"), as_object(expected, "output"),
                                  std::move(metadata));
        if (const json::Value* id = found_in(object, "id"); id != nullptr && id->is_string()) row["id"] = *id;
        read.rows.push_back(std::move(row));
    }
    if (archived > 0) read.notes.push_back(fmt::format("{} archived items were left out", archived));
    return read;
}

// --- LangSmith -----------------------------------------------------------------------------------------------------

Result<ForeignRows> read_langsmith(std::string_view text) {
    ForeignRows read;
    size_t number = 0;
    for (const json::Value& item : TRY(items_of(text, {"examples", "data"}))) {
        ++number;
        if (!item.is_object()) return wrong_row(number, "it is not an object");
        const json::Object& object = item.get_object();
        const json::Value* inputs = found_in(object, "inputs");
        if (inputs == nullptr) return wrong_row(number, "it has no inputs");
        json::Object metadata = as_object(found_in(object, "metadata"), "metadata");
        const json::Value* split = found_in(object, "split");
        if (split == nullptr) split = found_in(metadata, "dataset_split");
        json::Array splits;
        if (split != nullptr && split->is_string()) splits.push_back(*split);
        if (split != nullptr && split->is_array())
            for (const json::Value& one : split->get_array()) {
                if (!one.is_string()) return wrong_row(number, "a split must be text");
                splits.push_back(one);
            }
        metadata.erase("dataset_split");
        json::Object row =
            row_of(as_object(inputs, "input"), as_object(found_in(object, "outputs"), "output"), std::move(metadata));
        if (!splits.empty()) row["splits"] = std::move(splits);
        if (const json::Value* id = found_in(object, "id"); id != nullptr && id->is_string()) row["id"] = *id;
        read.rows.push_back(std::move(row));
    }
    return read;
}

} // namespace

Result<ForeignRows> read_foreign(ForeignFormat format, std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    auto read = [&] {
        switch (format) {
        case ForeignFormat::promptfoo:
            return read_promptfoo(text);
        case ForeignFormat::openai_evals:
            return read_openai_evals(text);
        case ForeignFormat::langfuse:
            return read_langfuse(text);
        case ForeignFormat::langsmith:
            return read_langsmith(text);
        }
        return Result<ForeignRows>(invalid("unknown format"));
    }();
    if (read.ok() && read.value().rows.empty()) return invalid("the file has no examples");
    return read;
}

} // namespace hone::cli
