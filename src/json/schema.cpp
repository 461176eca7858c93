#include "json/schema.h"

namespace hone::json {

namespace {

std::string type_text(const Schemas& schemas, const Value& schema) {
    const Object& object = schema.get_object();
    if (const Value* reference = object.if_contains("$ref"))
        return std::string(std::string_view(reference->get_string()).substr(schemas.reference_prefix.size()));
    if (const Value* names = object.if_contains("enum")) {
        std::string choices;
        for (const Value& name : names->get_array()) choices += (choices.empty() ? "" : " | ") + print(name);
        return choices;
    }
    if (const Value* choices = object.if_contains("anyOf")) {
        std::string text;
        for (const Value& choice : choices->get_array())
            text += (text.empty() ? "" : " | ") + type_text(schemas, choice);
        return text;
    }
    const Value* type = object.if_contains("type");
    if (type == nullptr) return "unknown";
    const std::string_view name = type->get_string();
    if (name == "integer" || name == "number") return "number";
    if (name == "array") {
        const std::string item = type_text(schemas, object.at("items"));
        return item.find('|') == std::string::npos ? item + "[]" : "(" + item + ")[]";
    }
    if (name == "object") {
        const Value* extra = object.if_contains("additionalProperties");
        return "Record<string, " + (extra != nullptr && extra->is_object() ? type_text(schemas, *extra) : "unknown") +
               ">";
    }
    return std::string(name);
}

Value reference(const Schemas& schemas, const std::string& name) {
    return Object{{"$ref", schemas.reference_prefix + name}};
}

} // namespace

namespace detail {

// "… [with T = hone::run::StartRun; …]" or "[T = hone::run::StartRun]".
std::string name_in(std::string_view function) {
    function.remove_prefix(function.find("T = ") + 4);
    function = function.substr(0, function.find_first_of(";]"));
    const size_t colons = function.rfind("::");
    return std::string(colons == std::string_view::npos ? function : function.substr(colons + 2));
}

Value typed(std::string_view type, std::string_view format) {
    Object made{{"type", type}};
    if (!format.empty()) made["format"] = format;
    return made;
}

Value identifier(std::string_view kind) {
    return Object{{"type", "string"}, {"pattern", "^" + std::string(kind) + "_[0-9A-HJKMNP-TV-Z]{26}$"}};
}

Value optional(Value schema) {
    Array choices;
    choices.push_back(std::move(schema));
    choices.push_back(typed("null"));
    return Object{{"anyOf", std::move(choices)}};
}

Value list(Value items) {
    return Object{{"type", "array"}, {"items", std::move(items)}};
}

Value map(Value values) {
    return Object{{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Value named_choice(Schemas& schemas, std::string name, std::span<const std::string_view> choices) {
    if (!schemas.named.contains(name))
        schemas.named[name] = Object{{"type", "string"}, {"enum", Array(choices.begin(), choices.end())}};
    return reference(schemas, name);
}

Value named_struct(Schemas& schemas, std::string name, std::span<const DescribedField> fields, bool takes_others) {
    if (schemas.named.contains(name)) return reference(schemas, name);
    schemas.named[name] = nullptr; // a struct may contain itself
    Object properties;
    Array required;
    for (const DescribedField& field : fields) {
        Value type = field.schema(schemas);
        if (!field.doc.empty() && type.is_object() && !type.get_object().contains("$ref"))
            type.get_object()["description"] = field.doc;
        if (field.is_required) required.push_back(Value(field.name));
        properties[field.name] = std::move(type);
    }
    Object made{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", takes_others}};
    if (!required.empty()) made["required"] = std::move(required);
    schemas.named[name] = std::move(made);
    return reference(schemas, name);
}

} // namespace detail

std::string typescript(const Schemas& schemas, Direction direction) {
    std::string out;
    for (const auto& [name, schema] : schemas.named) {
        if (schema.get_object().contains("enum")) {
            out += "export type " + name + " = " + type_text(schemas, schema) + ";\n\n";
            continue;
        }
        out += "export interface " + name + " {\n";
        std::vector<std::string_view> required;
        if (const Value* list = schema.get_object().if_contains("required"))
            for (const Value& each : list->get_array()) required.push_back(std::string_view(each.get_string()));
        for (const auto& entry : schema.at("properties").get_object()) {
            const std::string_view key = entry.key();
            if (const Value* doc = entry.value().get_object().if_contains("description"))
                out += "  /** " + std::string(doc->get_string()) + " */\n";
            const bool always =
                direction == Direction::sent || std::find(required.begin(), required.end(), key) != required.end();
            out += "  " + std::string(key) + (always ? "" : "?") + ": " + type_text(schemas, entry.value()) + ";\n";
        }
        out += "}\n\n";
    }
    return out;
}

} // namespace hone::json
