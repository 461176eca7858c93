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

} // namespace

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
