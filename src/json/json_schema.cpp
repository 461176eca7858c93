// Without this valijson ends the program where it should report an error.
#define VALIJSON_USE_EXCEPTIONS 1

#include "json/json_schema.h"

#include <algorithm>
#include <array>
#include <exception>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace hone::json {

namespace {

constexpr size_t largest_schema = 64 << 10;

// Keywords whose value is a schema, a list of schemas, or an object of schemas.
constexpr std::array one_schema{"not", "additionalProperties", "items", "contains", "propertyNames"};
constexpr std::array schema_lists{"anyOf", "oneOf", "allOf"};
constexpr std::array plain_keywords{"type",
                                    "required",
                                    "enum",
                                    "const",
                                    "minimum",
                                    "maximum",
                                    "exclusiveMinimum",
                                    "multipleOf",
                                    "exclusiveMaximum",
                                    "minLength",
                                    "maxLength",
                                    "minItems",
                                    "maxItems",
                                    "minProperties",
                                    "maxProperties",
                                    "title",
                                    "description",
                                    "default",
                                    "examples",
                                    "$schema"};

template <class List>
bool is_in(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

Result<> check_schema(const Value& schema, const std::string& path) {
    if (schema.is_bool()) return {};
    const std::string shown = path.empty() ? "the schema" : path;
    if (!schema.is_object()) return invalid(shown + " must be an object");
    for (const auto& entry : schema.get_object()) {
        const std::string_view key = entry.key();
        const Value& value = entry.value();
        const std::string here = path.empty() ? std::string(key) : path + "." + std::string(key);
        if (is_in(plain_keywords, key)) continue;
        if (is_in(one_schema, key)) {
            TRY(check_schema(value, here));
        } else if (is_in(schema_lists, key)) {
            if (!value.is_array()) return invalid(here + " must be a list");
            for (const Value& part : value.get_array()) TRY(check_schema(part, here));
        } else if (key == "properties") {
            if (!value.is_object()) return invalid(here + " must be an object");
            for (const auto& property : value.get_object())
                TRY(check_schema(property.value(), here + "." + std::string(property.key())));
        } else {
            return invalid(here + " is not supported; references and patterns are not, see docs/evaluate.md");
        }
    }
    return {};
}

std::string place_of(const valijson::ValidationResults::Error& error) {
    std::string place;
    for (const std::string& part : error.context) {
        if (part == "<root>") continue;
        std::string_view name = part;
        if (name.starts_with("[") && name.ends_with("]")) name = name.substr(1, name.size() - 2);
        place += (place.empty() ? "" : ".") + std::string(name);
    }
    return place;
}

} // namespace

struct JsonSchema::Parsed {
    valijson::Schema schema;
};

JsonSchema::JsonSchema(std::unique_ptr<Parsed> parsed) : m_parsed(std::move(parsed)) {}
JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;

Result<JsonSchema> JsonSchema::create(const Value& schema) {
    if (!schema.is_object()) return invalid("the schema must be an object");
    if (print(schema).size() > largest_schema) return too_large("the schema has more than 64 KiB");
    TRY(check_schema(schema, ""));
    auto parsed = std::make_unique<Parsed>();
    try {
        valijson::SchemaParser parser;
        const valijson::adapters::BoostJsonAdapter adapter(schema);
        parser.populateSchema(adapter, parsed->schema);
    } catch (const std::exception& why) {
        return invalid(std::string("the schema is not valid: ") + why.what());
    }
    return JsonSchema(std::move(parsed));
}

Result<> JsonSchema::validate(const Value& value) const {
    try {
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        valijson::ValidationResults results;
        const valijson::adapters::BoostJsonAdapter adapter(value);
        if (validator.validate(m_parsed->schema, adapter, &results)) return {};
        // The first error is that of the whole; the most exact one comes first in the list.
        valijson::ValidationResults::Error error;
        if (!results.popError(error)) return invalid("it does not fit the schema");
        const std::string place = place_of(error);
        return invalid((place.empty() ? "" : place + ": ") + error.description);
    } catch (const std::exception& why) {
        return invalid(std::string("it cannot be compared with the schema: ") + why.what());
    }
}

} // namespace hone::json
