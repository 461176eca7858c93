// A filter's tree as a condition in SQL (declared in filter.h); values are bound, never written into it.
#include "base/text.h"
#include "telemetry/query/filter.h"
#include "telemetry/span/text_slices.h"

#include <algorithm>
#include <cctype>

namespace hone::telemetry {

namespace {

bool is_sql_word_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

std::string_view type_of(std::string_view name) {
    for (const FilterField& field : filter_fields())
        if (field.name == name) return field.type;
    return {};
}

std::string_view sql_operator(FilterOperator comparison) {
    switch (comparison) {
    case FilterOperator::not_equal:
        return " != ";
    case FilterOperator::less:
        return " < ";
    case FilterOperator::less_equal:
        return " <= ";
    case FilterOperator::greater:
        return " > ";
    case FilterOperator::greater_equal:
        return " >= ";
    default:
        return " = ";
    }
}

class Compiler {
public:
    Compiler(ClickHouseQuery& query, FilterPlace place) : m_query(query), m_place(place) {}

    std::string compile(const FilterNode& node) {
        if (node.kind == FilterNode::Kind::comparison) return "(" + comparison(node) + ")";
        if (node.kind == FilterNode::Kind::negation) return "(NOT " + compile(node.children.front()) + ")";
        if (node.children.empty()) return "1";
        std::string sql;
        for (const FilterNode& child : node.children)
            sql += (sql.empty() ? "(" : node.kind == FilterNode::Kind::all ? " AND " : " OR ") + compile(child);
        return sql + ")";
    }

private:
    std::string bind(std::string_view value, std::string_view type = "String") {
        const std::string name = "f" + std::to_string(m_query.parameters.size());
        m_query.bind(name, value);
        return "{" + name + ":" + std::string(type) + "}";
    }

    std::string comparison(const FilterNode& node) {
        using Source = FilterOperand::Source;
        switch (node.operand.source) {
        case Source::attribute:
            return map_entry("attribute_index", "attributes", node);
        case Source::metadata:
            return metadata_entry(node);
        case Source::resource:
            return map_entry("resource_index", "resource", node);
        case Source::span_eval:
            return eval("span", "span_id", "toFixedString(target_id, 16)", node);
        case Source::trace_eval:
            return eval("trace", "trace_id", "toFixedString(target_id, 32)", node);
        case Source::session_eval:
            return eval("chat_session", "chat_session", "target_id", node);
        case Source::field:
            break;
        }
        const std::string& name = node.operand.name;
        const std::string_view type = type_of(name);
        if (type == "words") return words(name, node);
        if (type == "flag") {
            const bool wanted = (node.values.front() == "true") != (node.comparison == FilterOperator::not_equal);
            const std::string condition = name == "root" ? "parent_id = ''" : "notEmpty(truncated)";
            return wanted ? condition : "NOT (" + condition + ")";
        }
        if (type == "number" || type == "duration" || type == "money" || type == "time")
            return numeric(column(name), type == "number", node);
        if (name == "tags") return tag(node);
        return text(column(name), node);
    }

    static std::string column(const std::string& name) {
        if (name == "latency") return "duration_ns";
        if (name == "start") return "start_ns";
        if (name == "tokens")
            return "(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens)";
        if (name == "cost") return "cost_nano_usd";
        if (name == "user") return "user_id";
        if (name == "session") return "chat_session";
        if (name == "tool") return "tool_name";
        if (name == "exception") return "exception_type";
        if (name == "first_token") return "first_token_ns";
        return name;
    }

    std::string list(const FilterNode& node, std::string_view type) {
        std::string values;
        for (const std::string& value : node.values) values += (values.empty() ? "" : ", ") + bind(value, type);
        return values;
    }

    std::string numeric(const std::string& expression, bool real, const FilterNode& node) {
        const std::string_view type = real ? "Float64" : "Int64";
        if (node.comparison == FilterOperator::one_of) return expression + " IN (" + list(node, type) + ")";
        return expression + std::string(sql_operator(node.comparison)) + bind(node.values.front(), type);
    }

    std::string text(const std::string& expression, const FilterNode& node) {
        switch (node.comparison) {
        case FilterOperator::one_of:
            return expression + " IN (" + list(node, "String") + ")";
        case FilterOperator::matches:
            return "positionCaseInsensitiveUTF8(toString(" + expression + "), " + bind(node.values.front()) + ") > 0";
        case FilterOperator::not_matches:
            return "positionCaseInsensitiveUTF8(toString(" + expression + "), " + bind(node.values.front()) + ") = 0";
        default:
            return expression + std::string(sql_operator(node.comparison)) + bind(node.values.front());
        }
    }

    // Whole words through the text index; '*' at an end of the text selects a slow search inside words.
    std::string words(const std::string& name, const FilterNode& node) {
        if (node.comparison == FilterOperator::one_of || node.comparison == FilterOperator::equal ||
            node.comparison == FilterOperator::not_equal)
            return name == "text" ? "(" + text("input", node) + ") OR (" + text("output", node) + ")"
                                  : text(name, node);
        const bool negated = node.comparison == FilterOperator::not_matches;
        const std::string condition = name == "text" ? "(" + phrase("input", node.values.front()) + " OR " +
                                                           phrase("output", node.values.front()) + ")"
                                                     : phrase(name, node.values.front());
        return negated ? "NOT " + condition : condition;
    }

    std::string phrase(const std::string& column, std::string_view wanted) {
        const bool inside = wanted.starts_with('*') || wanted.ends_with('*');
        while (wanted.starts_with('*')) wanted.remove_prefix(1);
        while (wanted.ends_with('*')) wanted.remove_suffix(1);
        std::vector<std::string> tokens;
        std::string token;
        bool has_separator = false;
        for (const char letter : wanted) {
            const bool belongs =
                is_sql_word_letter(letter) ? letter != '_' : static_cast<unsigned char>(letter) >= 0x80;
            if (belongs)
                token += letter;
            else {
                has_separator = true;
                if (!token.empty()) tokens.push_back(std::exchange(token, {}));
            }
        }
        if (!token.empty()) tokens.push_back(token);
        if (tokens.empty() || inside) return "(positionCaseInsensitiveUTF8(" + column + ", " + bind(wanted) + ") > 0)";
        std::string all;
        for (const std::string& one : tokens) all += (all.empty() ? "" : " ") + lowercase_ascii(one);
        const std::string searched = m_place == FilterPlace::where ? column : "lower(" + column + ")";
        std::string condition = "(hasAllTokens(" + searched + ", " + bind(all) + ")";
        if (has_separator) condition += " AND positionCaseInsensitiveUTF8(" + column + ", " + bind(wanted) + ") > 0";
        return condition + ")";
    }

    // Short values are in the index; long ones only in the JSON text.
    std::string map_entry(const std::string& index, const std::string& json, const FilterNode& node) {
        const std::string key = bind(node.operand.name);
        if (node.comparison == FilterOperator::exists)
            return "mapContains(" + index + ", " + key + ") OR JSONHas(" + json + ", " + key + ")";
        const std::string full = json == "attributes" ? attribute_sql(key) : json + ", " + key;
        const std::string value =
            "if(mapContains(" + index + ", " + key + "), " + index + "[" + key + "], JSONExtractString(" + full + "))";
        const bool is_order =
            node.comparison >= FilterOperator::less && node.comparison <= FilterOperator::greater_equal;
        if (is_order)
            return "toFloat64OrNull(" + index + "[" + key + "])" + std::string(sql_operator(node.comparison)) +
                   "toFloat64OrNull(" + bind(node.values.front()) + ")";
        const bool is_short =
            std::all_of(node.values.begin(), node.values.end(), [](const auto& text) { return text.size() <= 256; });
        if (is_short && (node.comparison == FilterOperator::equal || node.comparison == FilterOperator::one_of))
            return text(index + "[" + key + "]", node);
        return text(value, node);
    }

    // Every value is short enough to be in the column.
    std::string metadata_entry(const FilterNode& node) {
        const std::string key = bind(node.operand.name);
        if (node.comparison == FilterOperator::exists) return "mapContains(metadata, " + key + ")";
        const std::string value = "metadata[" + key + "]";
        if (node.comparison >= FilterOperator::less && node.comparison <= FilterOperator::greater_equal)
            return "toFloat64OrNull(" + value + ")" + std::string(sql_operator(node.comparison)) + "toFloat64OrNull(" +
                   bind(node.values.front()) + ")";
        return text(value, node);
    }

    // A condition holds when one of the tags fulfils it, its negation when none does.
    std::string tag(const FilterNode& node) {
        const bool is_negated =
            node.comparison == FilterOperator::not_equal || node.comparison == FilterOperator::not_matches;
        FilterNode positive = node;
        if (node.comparison == FilterOperator::not_equal) positive.comparison = FilterOperator::equal;
        if (node.comparison == FilterOperator::not_matches) positive.comparison = FilterOperator::matches;
        const std::string found = "arrayExists(tag -> " + text("tag", positive) + ", tags)";
        return is_negated ? "NOT " + found : found;
    }

    std::string eval(const std::string& target, const std::string& column, const std::string& evaluated,
                     const FilterNode& node) {
        std::string condition =
            "project = {project:String} AND target = '" + target + "' AND name = " + bind(node.operand.name);
        if (node.comparison != FilterOperator::exists)
            condition +=
                " AND (" +
                (node.operand.aspect == "score" ? numeric("score", true, node) : text(node.operand.aspect, node)) + ")";
        return column + " IN (SELECT " + evaluated + " FROM hone.evals FINAL WHERE " + condition + ")";
    }

    ClickHouseQuery& m_query;
    FilterPlace m_place;
};

} // namespace

std::string compile_filter(const FilterNode& node, ClickHouseQuery& query, FilterPlace place) {
    return Compiler(query, place).compile(node);
}

} // namespace hone::telemetry
