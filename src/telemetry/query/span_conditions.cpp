#include "telemetry/query/span_conditions.h"

#include "telemetry/span/span_row.h"
#include "telemetry/span/text_slices.h"

namespace hone::telemetry {

namespace {

class ConditionCompiler {
public:
    explicit ConditionCompiler(ClickHouseQuery& query) : m_query(query) {}

    std::string text(std::string_view value) { return bound("String", value); }
    std::string number(double value) { return bound("Float64", value); }
    std::string texts(const std::vector<std::string>& values) { return bound("Array(String)", values); }

    std::string attribute(const AttributeCondition& wanted) {
        const std::string plain = entry(attribute_sql(text(wanted.key)), "attribute_index", wanted.key, wanted);
        // OpenInference sends metadata as one JSON text; people filter by what is inside.
        if (!wanted.key.starts_with("metadata.")) return plain;
        const std::string inner =
            "JSONExtractString(" + attribute_sql("'metadata'") + "), " + text(wanted.key.substr(9));
        return "(" + plain + " OR " + json_value(inner, wanted) + ")";
    }

private:
    std::string bound(std::string_view type, const auto& value) {
        const std::string name = "c" + std::to_string(m_query.parameters.size());
        m_query.bind(name, value);
        return "{" + name + ":" + std::string(type) + "}";
    }

    // The index finds the rows quickly but holds texts only; the JSON has the type.
    std::string entry(const std::string& value, const std::string& index, const std::string& key,
                      const AttributeCondition& wanted) {
        const std::string exact = json_value(value, wanted);
        const auto* text_value = std::get_if<std::string>(&wanted.value);
        if (text_value && text_value->size() > indexed_text_bytes) return exact;
        const std::string found = index + "[" + text(key) + "]";
        if (text_value) return "(" + found + " = " + text(*text_value) + " AND " + exact + ")";
        if (const bool* flag = std::get_if<bool>(&wanted.value))
            return "(" + found + " = '" + (*flag ? "true" : "false") + "' AND " + exact + ")";
        return "(toFloat64OrNull(" + found + ") = " + number(std::get<double>(wanted.value)) + " AND " + exact + ")";
    }

    // The place is a JSON text, with the key of the value inside of it.
    std::string json_value(const std::string& place, const AttributeCondition& wanted) {
        if (const auto* text_value = std::get_if<std::string>(&wanted.value))
            return "(JSONType(" + place + ") = 'String' AND JSONExtractString(" + place + ") = " + text(*text_value) +
                   ")";
        if (const bool* flag = std::get_if<bool>(&wanted.value))
            return "(JSONType(" + place + ") = 'Bool' AND JSONExtractBool(" + place + ") = " + (*flag ? "1" : "0") +
                   ")";
        return "(JSONType(" + place + ") IN ('Int64', 'UInt64', 'Double') AND JSONExtractFloat(" + place +
               ") = " + number(std::get<double>(wanted.value)) + ")";
    }

    ClickHouseQuery& m_query;
};

template <class Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
    std::vector<std::string> names;
    for (const Enum value : values) names.emplace_back(name_of(value));
    return names;
}

} // namespace

std::string compile_conditions(const SpanConditions& conditions, ClickHouseQuery& query) {
    ConditionCompiler compiler(query);
    std::string sql;
    if (!conditions.trace_ids.empty()) sql += " AND trace_id IN " + compiler.texts(conditions.trace_ids);
    if (conditions.parent_id) sql += " AND parent_id = " + compiler.text(*conditions.parent_id);
    if (!conditions.names.empty()) sql += " AND name IN " + compiler.texts(conditions.names);
    if (!conditions.kinds.empty()) sql += " AND toString(kind) IN " + compiler.texts(names_of(conditions.kinds));
    if (!conditions.statuses.empty())
        sql += " AND toString(status) IN " + compiler.texts(names_of(conditions.statuses));
    for (const AttributeCondition& wanted : conditions.attributes) sql += " AND " + compiler.attribute(wanted);
    return sql;
}

} // namespace hone::telemetry
