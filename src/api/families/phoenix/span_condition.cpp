#include "api/families/phoenix/span_condition.h"

#include "api/families/phoenix/phoenix.h"
#include "base/text.h"
#include "telemetry/query/filter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace hone::api {

namespace {

constexpr size_t longest_condition = 16 << 10;
constexpr int deepest_condition = 50;

Error condition_error(size_t column, const std::string& why) {
    return invalid("condition, column " + std::to_string(column + 1) + ": " + why);
}

struct ConditionToken {
    enum class Kind { end, name, text, number, symbol };
    Kind kind = Kind::end;
    std::string text;
    size_t at = 0;
};

class ConditionLexer {
public:
    explicit ConditionLexer(std::string_view text) : m_text(text) {}

    Result<ConditionToken> next() {
        while (m_at < m_text.size() && std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos) ++m_at;
        ConditionToken token;
        token.at = m_at;
        if (m_at == m_text.size()) return token;
        const char letter = m_text[m_at];
        if (letter == '"' || letter == '\'') return quoted(token);
        if (is_letter(letter)) {
            token.kind = ConditionToken::Kind::name;
            while (m_at < m_text.size() && (is_letter(m_text[m_at]) || is_digit(m_text[m_at])))
                token.text += m_text[m_at++];
            return token;
        }
        if (is_digit(letter) || (letter == '-' && m_at + 1 < m_text.size() && is_digit(m_text[m_at + 1])))
            return number(token);
        token.kind = ConditionToken::Kind::symbol;
        for (const std::string_view symbol : {"==", "!=", "<=", ">=", "<", ">", "(", ")", "[", "]", ",", "."})
            if (m_text.substr(m_at).starts_with(symbol)) {
                m_at += symbol.size();
                token.text = symbol;
                return token;
            }
        return condition_error(m_at, "unexpected character");
    }

private:
    static bool is_letter(char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
    }
    static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

    ConditionToken number(ConditionToken token) {
        token.kind = ConditionToken::Kind::number;
        token.text += m_text[m_at++];
        while (m_at < m_text.size() && (is_digit(m_text[m_at]) || m_text[m_at] == '.' || m_text[m_at] == 'e'))
            token.text += m_text[m_at++];
        return token;
    }
    Result<ConditionToken> quoted(ConditionToken token) {
        token.kind = ConditionToken::Kind::text;
        auto text = telemetry::read_quoted(m_text, m_at);
        if (!text) return condition_error(token.at, "the text has no end quote");
        token.text = std::move(*text);
        return token;
    }

    std::string_view m_text;
    size_t m_at = 0;
};

std::string quoted_text(std::string_view text) {
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '\n') {
            quoted += "\\n";
            continue;
        }
        if (letter == '"' || letter == '\\') quoted += '\\';
        quoted += letter;
    }
    return quoted + "\"";
}

// One side of a comparison: a value, or a field as the filter language names it.
struct ConditionOperand {
    enum class Kind { field, text, number, flag, none };
    Kind kind = Kind::none;
    std::string text{};  // of a field: in the filter language
    std::string other{}; // a second place where senders put it; empty: none
    enum class Type { plain, id_of_span, id_of_trace, milliseconds, searched } type = Type::plain;
    bool is_keyed = false; // attributes["…"] and such, which can be absent
    size_t at = 0;
};

using Type = ConditionOperand::Type;

// Names of Phoenix that are fields here; other names are attributes.
struct FieldName {
    std::string_view theirs, ours;
    Type type = Type::plain;
};
constexpr FieldName field_names[] = {
    {"name", "name"},
    {"span_kind", "kind"},
    {"status_code", "status"},
    {"status_message", "status_message"},
    {"parent_id", "parent_id", Type::id_of_span},
    {"span_id", "span_id", Type::id_of_span},
    {"context.span_id", "span_id", Type::id_of_span},
    {"trace_id", "trace_id", Type::id_of_trace},
    {"context.trace_id", "trace_id", Type::id_of_trace},
    {"latency_ms", "latency", Type::milliseconds},
    {"start_time", "start"},
    {"input.value", "input", Type::searched},
    {"output.value", "output", Type::searched},
    {"session.id", "session"},
    {"user.id", "user"},
    {"llm.token_count.total", "tokens"},
};

// The same condition on each place of a field.
template <class Make>
std::string on_places(const ConditionOperand& field, std::string_view joint, Make make) {
    if (field.other.empty()) return make(field.text);
    return "(" + make(field.text) + " " + std::string(joint) + " " + make(field.other) + ")";
}

class ConditionParser {
public:
    explicit ConditionParser(std::string_view text) : m_lexer(text) {}

    Result<std::string> parse() {
        TRY(advance());
        std::string filter = TRY(either(0));
        if (m_token.kind != ConditionToken::Kind::end)
            return condition_error(m_token.at, "expected \"and\", \"or\" or the end");
        return filter;
    }

private:
    Result<> advance() {
        m_token = TRY(m_lexer.next());
        return {};
    }
    bool is_name(std::string_view name) const {
        return m_token.kind == ConditionToken::Kind::name && m_token.text == name;
    }
    bool is_symbol(std::string_view symbol) const {
        return m_token.kind == ConditionToken::Kind::symbol && m_token.text == symbol;
    }
    Result<> expect(std::string_view symbol) {
        if (!is_symbol(symbol)) return condition_error(m_token.at, "expected " + std::string(symbol));
        return advance();
    }

    Result<std::string> either(int depth) {
        std::string filter = TRY(both(depth));
        while (is_name("or")) {
            TRY(advance());
            const std::string next = TRY(both(depth));
            filter = "(" + filter + " or " + next + ")";
        }
        return filter;
    }
    Result<std::string> both(int depth) {
        std::string filter = TRY(negation(depth));
        while (is_name("and")) {
            TRY(advance());
            const std::string next = TRY(negation(depth));
            filter = "(" + filter + " and " + next + ")";
        }
        return filter;
    }
    Result<std::string> negation(int depth) {
        if (depth > deepest_condition) return condition_error(m_token.at, "nested too deep");
        if (is_name("not")) {
            TRY(advance());
            const std::string inner = TRY(negation(depth + 1));
            return "not (" + inner + ")";
        }
        if (is_symbol("(")) {
            TRY(advance());
            std::string filter = TRY(either(depth + 1));
            TRY(expect(")"));
            return filter;
        }
        return comparison();
    }

    Result<std::string> comparison() {
        const ConditionOperand left = TRY(operand());
        if (is_name("is")) return is_none(left);
        const bool is_negated = is_name("not");
        if (is_negated) TRY(advance());
        if (is_name("in")) {
            TRY(advance());
            const std::string filter = TRY(membership(left));
            return is_negated ? "not (" + filter + ")" : filter;
        }
        if (is_negated || m_token.kind != ConditionToken::Kind::symbol)
            return condition_error(m_token.at, "expected a comparison");
        static constexpr std::pair<std::string_view, std::string_view> mirrored[] = {
            {"==", "=="}, {"!=", "!="}, {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
        const auto found = std::find_if(std::begin(mirrored), std::end(mirrored),
                                        [&](const auto& each) { return each.first == m_token.text; });
        if (found == std::end(mirrored)) return condition_error(m_token.at, "expected a comparison");
        TRY(advance());
        const ConditionOperand right = TRY(operand());
        if (left.kind != ConditionOperand::Kind::field) return compare(right, found->second, left);
        return compare(left, found->first, right);
    }

    static Result<std::string> compare(const ConditionOperand& field, std::string_view symbol,
                                       const ConditionOperand& value) {
        if (field.kind != ConditionOperand::Kind::field || value.kind == ConditionOperand::Kind::field)
            return condition_error(field.at, "one side of a comparison must be a field and the other a value");
        if (value.kind == ConditionOperand::Kind::none) {
            const std::string absent = TRY(absence(field));
            return symbol == "==" ? absent : "not (" + absent + ")";
        }
        const std::string text = TRY(value_of(field, value));
        const std::string sign = " " + (symbol == "==" ? "=" : std::string(symbol)) + " ";
        return on_places(field, symbol == "!=" ? "and" : "or",
                         [&](const std::string& place) { return place + sign + text; });
    }

    Result<std::string> is_none(const ConditionOperand& field) {
        TRY(advance());
        const bool is_negated = is_name("not");
        if (is_negated) TRY(advance());
        if (!is_name("None") || field.kind != ConditionOperand::Kind::field)
            return condition_error(m_token.at, "expected a field, and None after is");
        TRY(advance());
        const std::string filter = TRY(absence(field));
        return is_negated ? "not (" + filter + ")" : filter;
    }

    static Result<std::string> absence(const ConditionOperand& field) {
        if (field.text == "parent_span") return std::string("root = true");
        if (field.is_keyed)
            return on_places(field, "and", [](const std::string& place) { return "not (" + place + " exists)"; });
        if (field.type == Type::milliseconds || field.text == "tokens" || field.text == "start" ||
            field.text == "kind" || field.text == "status")
            return condition_error(field.at, "this field is never None");
        return field.text + " = \"\"";
    }

    // 'a' in field, or field in ['a', 'b'].
    Result<std::string> membership(const ConditionOperand& left) {
        if (!is_symbol("[") && !is_symbol("(")) {
            const ConditionOperand field = TRY(operand());
            if (left.kind != ConditionOperand::Kind::text || field.kind != ConditionOperand::Kind::field)
                return condition_error(left.at, "expected a text in a field, or a field in a list");
            const bool is_searched = field.type == Type::searched;
            const std::string wanted = quoted_text(is_searched ? "*" + left.text + "*" : left.text);
            return on_places(field, "or", [&](const std::string& place) { return place + " ~ " + wanted; });
        }
        const std::string_view close = is_symbol("[") ? "]" : ")";
        if (left.kind != ConditionOperand::Kind::field) return condition_error(left.at, "expected a field");
        TRY(advance());
        std::string list;
        while (!is_symbol(close)) {
            const ConditionOperand value = TRY(operand());
            const std::string text = TRY(value_of(left, value));
            list += (list.empty() ? "" : ", ") + text;
            if (!is_symbol(",")) break;
            TRY(advance());
        }
        TRY(expect(close));
        if (list.empty()) return std::string("(status = ok and status = error)"); // an empty list holds nothing
        return on_places(left, "or", [&](const std::string& place) { return place + " in (" + list + ")"; });
    }

    static Result<std::string> value_of(const ConditionOperand& field, const ConditionOperand& value) {
        switch (value.kind) {
        case ConditionOperand::Kind::text:
            if (field.type == Type::id_of_span) return quoted_text(stored_id(value.text, 16));
            if (field.type == Type::id_of_trace) return quoted_text(stored_id(value.text, 32));
            if (field.type == Type::milliseconds) return condition_error(value.at, "expected a number");
            return quoted_text(value.text);
        case ConditionOperand::Kind::number: {
            if (field.type != Type::milliseconds) return value.text;
            double number = 0;
            const auto [stop, error] =
                std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
            if (error != std::errc() || number < 0 || number > 1e12)
                return condition_error(value.at, "expected a number of milliseconds");
            return std::to_string(std::llround(number * 1e3)) + "us";
        }
        case ConditionOperand::Kind::flag:
            return quoted_text(value.text);
        case ConditionOperand::Kind::field:
        case ConditionOperand::Kind::none:
            break;
        }
        return condition_error(value.at, "expected a text or a number");
    }

    Result<ConditionOperand> operand() {
        ConditionOperand made;
        made.at = m_token.at;
        if (m_token.kind == ConditionToken::Kind::text || m_token.kind == ConditionToken::Kind::number) {
            made.kind = m_token.kind == ConditionToken::Kind::text ? ConditionOperand::Kind::text
                                                                   : ConditionOperand::Kind::number;
            made.text = m_token.text;
            TRY(advance());
            return made;
        }
        if (m_token.kind != ConditionToken::Kind::name)
            return condition_error(m_token.at, "expected a field or a value");
        const std::string name = m_token.text;
        TRY(advance());
        if (name == "None") return made;
        if (name == "True" || name == "False") {
            made.kind = ConditionOperand::Kind::flag;
            made.text = name == "True" ? "true" : "false";
            return made;
        }
        if ((name == "int" || name == "float" || name == "str") && is_symbol("(")) {
            TRY(advance());
            made = TRY(operand()); // the comparison converts
            TRY(expect(")"));
            return made;
        }
        return field(name, std::move(made));
    }

    Result<ConditionOperand> field(const std::string& name, ConditionOperand made) {
        made.kind = ConditionOperand::Kind::field;
        std::vector<std::string> path{name};
        while (is_symbol(".") || is_symbol("[")) {
            const bool is_index = is_symbol("[");
            TRY(advance());
            if (m_token.kind == ConditionToken::Kind::end || m_token.kind == ConditionToken::Kind::symbol)
                return condition_error(m_token.at, "expected a name");
            path.push_back(m_token.text);
            TRY(advance());
            if (is_index) TRY(expect("]"));
        }
        if (name == "evals" || name == "annotations") return eval_field(path, std::move(made));
        if (name == "parent_span" && path.size() == 1) {
            made.text = name;
            return made;
        }
        if (name.starts_with("cumulative_")) return condition_error(made.at, name + " cannot be filtered by");
        const bool is_attribute = name == "attributes";
        std::string dotted;
        for (size_t i = is_attribute ? 1 : 0; i < path.size(); ++i) dotted += (dotted.empty() ? "" : ".") + path[i];
        if (name == "metadata" && path.size() > 1) {
            made.is_keyed = true;
            made.text = "metadata[" + quoted_text(dotted.substr(std::string_view("metadata.").size())) + "]";
            made.other = "attributes[" + quoted_text(dotted) + "]"; // metadata that was sent as an object
            return made;
        }
        if (dotted.empty()) return condition_error(made.at, "expected a key after attributes");
        for (const FieldName& each : field_names)
            if (each.theirs == dotted) {
                made.text = each.ours;
                made.type = each.type;
                return made;
            }
        made.is_keyed = true;
        made.text = "attributes[" + quoted_text(dotted) + "]";
        return made;
    }

    static Result<ConditionOperand> eval_field(const std::vector<std::string>& path, ConditionOperand made) {
        const bool is_whole = path.size() == 2;
        const bool is_known =
            path.size() == 3 && (path[2] == "label" || path[2] == "score" || path[2] == "explanation");
        if (!is_whole && !is_known) return condition_error(made.at, "expected evals['name'].label or .score");
        made.is_keyed = is_whole;
        made.text = "eval[" + quoted_text(path[1]) + "]" + (is_whole ? "" : "." + path[2]);
        if (is_known) made.is_keyed = true;
        return made;
    }

    ConditionLexer m_lexer;
    ConditionToken m_token;
};

} // namespace

Result<std::string> filter_of_condition(std::string_view condition) {
    if (condition.size() > longest_condition) return too_large("the condition is longer than 16 KB");
    if (!is_valid_utf8(condition)) return invalid("the condition is not UTF-8");
    return ConditionParser(condition).parse();
}

} // namespace hone::api
