#include "telemetry/query/filter.h"

#include "base/text.h"
#include "base/time.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace hone::telemetry {

namespace {

constexpr FilterField fields[] = {
    {"name", "text", "The span's name."},
    {"kind", "unknown|llm|chain|tool|retriever|embedding|agent|reranker|guardrail|evaluator", "What the span does."},
    {"status", "unset|ok|error", "How it ended."},
    {"status_message", "text", "Message of the status."},
    {"service", "text", "service.name of the resource."},
    {"version", "text", "service.version of the resource."},
    {"model", "text", "The model that generated the response."},
    {"provider", "text", "Who serves the model."},
    {"latency", "duration", "Duration: 250ms, 2s, 1m."},
    {"start", "time", "Start: \"2026-11-15T09:00:00Z\"."},
    {"tokens", "number", "All tokens of the call."},
    {"input_tokens", "number", "Input tokens outside caches."},
    {"cache_read_tokens", "number", "Input tokens read from a cache."},
    {"cache_write_tokens", "number", "Input tokens written to a cache."},
    {"output_tokens", "number", "Output tokens without reasoning."},
    {"reasoning_tokens", "number", "Reasoning tokens."},
    {"cost", "money", "Cost in US dollars."},
    {"user", "text", "The application's user."},
    {"session", "text", "The application's session."},
    {"tool", "text", "The tool of a tool span."},
    {"finish_reason", "text", "Why the model stopped."},
    {"first_token", "duration", "From the start to the first token: 800ms; 0 when it is not known."},
    {"tags", "text", "A tag of the application: tags = \"beta\" holds when one of them is equal."},
    {"documents", "number", "Documents retrieved or reranked."},
    {"exception", "text", "Type of the exception."},
    {"exception_message", "text", "Message of the exception."},
    {"input", "words", "Input text."},
    {"output", "words", "Output text."},
    {"text", "words", "Input or output text."},
    {"trace_id", "text", "32 hexadecimal digits."},
    {"span_id", "text", "16 hexadecimal digits."},
    {"parent_id", "text", "Span id of the parent."},
    {"root", "flag", "Whether the span has no parent."},
    {"truncated", "flag", "Whether a value was cut to the cap."},
    {"attributes[\"…\"]", "any", "An attribute by its key."},
    {"metadata[\"…\"]", "any", "A value of the application's metadata by its name, in any convention."},
    {"resource[\"…\"]", "any", "An attribute of the resource by its key."},
    {"eval[\"…\"].label", "text", "Label of the span's eval of this name."},
    {"eval[\"…\"].score", "number", "Score of the span's eval."},
    {"eval[\"…\"].explanation", "text", "Explanation of the span's eval."},
    {"trace_eval[\"…\"].label", "text", "The same of the trace's eval; also .score and .explanation."},
    {"session_eval[\"…\"].label", "text", "The same of the chat session's eval; also .score and .explanation."},
};

const FilterField* find_field(std::string_view name) {
    for (const FilterField& field : fields)
        if (field.name == name) return &field;
    return nullptr;
}

// Takes a key in brackets.
bool is_keyed(std::string_view name) {
    for (const std::string_view keyed : {"attributes", "metadata", "resource", "eval", "trace_eval", "session_eval"})
        if (name == keyed) return true;
    return false;
}

enum class TokenKind { end, word, number, bare, text, symbol };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;
    size_t column = 1;
};

constexpr size_t longest_filter = 16 << 10;
constexpr int deepest = 64;
constexpr size_t most_nodes = 512;

bool is_word_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_';
}

// Letters of words without quotes that are no field: gpt-4o, user@example.com, any letter beyond ASCII.
bool is_bare_letter(char letter) {
    return is_word_letter(letter) || static_cast<unsigned char>(letter) >= 0x80 ||
           std::string_view("-./:@#+%$&*?").find(letter) != std::string_view::npos;
}

Error at(size_t column, const std::string& why) {
    return invalid("column " + std::to_string(column) + ": " + why);
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : m_text(text) {}

    Result<Token> next() {
        while (m_at < m_text.size() && std::string_view(" \t\r\n").find(m_text[m_at]) != std::string_view::npos) ++m_at;
        Token token;
        token.column = m_at + 1;
        if (m_at == m_text.size()) return token;
        const char letter = m_text[m_at];
        if (letter == '"' || letter == '\'') return quoted(std::move(token));
        if ((letter >= '0' && letter <= '9') || ((letter == '-' || letter == '.') && m_at + 1 < m_text.size() &&
                                                 std::isdigit(static_cast<unsigned char>(m_text[m_at + 1]))))
            return run(std::move(token), TokenKind::number, is_bare_letter);
        if (is_word_letter(letter) || static_cast<unsigned char>(letter) >= 0x80) {
            token = run(std::move(token), TokenKind::word, is_bare_letter);
            if (!std::ranges::all_of(token.text, is_word_letter)) token.kind = TokenKind::bare;
            return token;
        }
        token.kind = TokenKind::symbol;
        for (const std::string_view symbol :
             {"!=", "<=", ">=", "!~", "==", "=", "<", ">", "~", "(", ")", "[", "]", ".", ","})
            if (m_text.substr(m_at).starts_with(symbol)) {
                token.text = symbol == "==" ? "=" : symbol;
                m_at += symbol.size();
                return token;
            }
        return at(token.column, "unexpected character '" + std::string(truncate_utf8(m_text.substr(m_at), 4)) + "'");
    }

private:
    template <class Belongs>
    Token run(Token token, TokenKind kind, Belongs belongs) {
        token.kind = kind;
        const size_t begin = m_at++;
        while (m_at < m_text.size() && belongs(m_text[m_at])) ++m_at;
        token.text = m_text.substr(begin, m_at - begin);
        return token;
    }

    Result<Token> quoted(Token token) {
        token.kind = TokenKind::text;
        auto text = read_quoted(m_text, m_at);
        if (!text) return at(token.column, "the text has no end quote");
        token.text = std::move(*text);
        return token;
    }

    std::string_view m_text;
    size_t m_at = 0;
};

class Parser {
public:
    explicit Parser(std::string_view text) : m_lexer(text) {}

    Result<FilterNode> parse() {
        TRY(advance());
        if (m_token.kind == TokenKind::end) return FilterNode{};
        FilterNode node = TRY(either(0));
        if (m_token.kind != TokenKind::end)
            return at(m_token.column, "expected \"and\", \"or\" or the end, found \"" + m_token.text + "\"");
        return node;
    }

private:
    Result<> advance() {
        m_token = TRY(m_lexer.next());
        return {};
    }
    bool is_word(std::string_view word) const {
        return m_token.kind == TokenKind::word && equals_ignoring_case(m_token.text, word);
    }
    bool is_symbol(std::string_view symbol) const {
        return m_token.kind == TokenKind::symbol && m_token.text == symbol;
    }
    Result<> expect(std::string_view symbol) {
        if (!is_symbol(symbol)) return at(m_token.column, "expected \"" + std::string(symbol) + "\"");
        return advance();
    }

    Result<FilterNode> either(int depth) {
        FilterNode first = TRY(both(depth));
        if (!is_word("or")) return first;
        FilterNode node{FilterNode::Kind::any, {}, {}, {}, {}};
        node.children.push_back(std::move(first));
        while (is_word("or")) {
            TRY(advance());
            node.children.push_back(TRY(both(depth)));
        }
        return node;
    }

    // Conditions beside each other hold together, with or without "and".
    bool is_joined() const {
        return is_word("and") || !(m_token.kind == TokenKind::end || is_word("or") ||
                                   (m_token.kind == TokenKind::symbol && m_token.text != "("));
    }

    Result<FilterNode> both(int depth) {
        FilterNode first = TRY(negation(depth));
        if (!is_joined()) return first;
        FilterNode node{FilterNode::Kind::all, {}, {}, {}, {}};
        node.children.push_back(std::move(first));
        while (is_joined()) {
            if (is_word("and")) TRY(advance());
            node.children.push_back(TRY(negation(depth)));
        }
        return node;
    }

    Result<FilterNode> negation(int depth) {
        if (depth > deepest) return at(m_token.column, "nested too deep");
        if (is_word("not")) {
            TRY(advance());
            FilterNode node{FilterNode::Kind::negation, {}, {}, {}, {}};
            node.children.push_back(TRY(negation(depth + 1)));
            return node;
        }
        if (is_symbol("(")) {
            TRY(advance());
            FilterNode node = TRY(either(depth + 1));
            TRY(expect(")"));
            return node;
        }
        return comparison();
    }

    Result<FilterNode> comparison() {
        if (++m_nodes > most_nodes) return at(m_token.column, "too many conditions");
        FilterNode node{FilterNode::Kind::comparison, {}, {}, {}, {}};
        const bool is_field = m_token.kind == TokenKind::word;
        if (!is_field && m_token.kind != TokenKind::end && m_token.kind != TokenKind::symbol) {
            const std::string words = m_token.text;
            TRY(advance());
            return search(words);
        }
        const Token first = m_token;
        if (is_field && !is_keyed(first.text) && !find_field(first.text)) {
            TRY(advance());
            if (is_comparison()) return at(first.column, "unknown field \"" + first.text + "\"");
            return search(first.text);
        }
        node.operand = TRY(operand());
        if (is_word("exists")) {
            if (node.operand.source == FilterOperand::Source::field)
                return at(m_token.column, "\"exists\" is for attributes, metadata and evals");
            node.comparison = FilterOperator::exists;
            TRY(advance());
            return node;
        }
        const std::string type = type_of(node.operand);
        if (is_word("in")) {
            node.comparison = FilterOperator::one_of;
            TRY(advance());
            TRY(expect("("));
            for (;;) {
                node.values.push_back(TRY(value(type)));
                if (!is_symbol(",")) break;
                TRY(advance());
                if (node.values.size() >= 256) return at(m_token.column, "too many values");
            }
            TRY(expect(")"));
            return node;
        }
        node.comparison = TRY(read_operator(node.operand, type));
        node.values.push_back(TRY(value(type)));
        return node;
    }

    // A text or a word alone searches input and output.
    static FilterNode search(std::string words) {
        FilterNode node{FilterNode::Kind::comparison, {}, {}, {}, {}};
        node.operand.name = "text";
        node.comparison = FilterOperator::matches;
        node.values.push_back(std::move(words));
        return node;
    }

    bool is_comparison() const {
        return m_token.kind == TokenKind::symbol && m_token.text != "(" && m_token.text != ")";
    }

    Result<FilterOperand> operand() {
        if (m_token.kind != TokenKind::word)
            return at(m_token.column, "expected a field, found \"" + m_token.text + "\"");
        const Token name = m_token;
        FilterOperand operand;
        operand.name = name.text;
        TRY(advance());
        if (!is_symbol("[")) {
            if (is_keyed(name.text)) return at(m_token.column, "expected a key: " + name.text + "[\"…\"]");
            if (!find_field(name.text)) return at(name.column, "unknown field \"" + name.text + "\"");
            return operand;
        }
        using Source = FilterOperand::Source;
        if (name.text == "attributes")
            operand.source = Source::attribute;
        else if (name.text == "metadata")
            operand.source = Source::metadata;
        else if (name.text == "resource")
            operand.source = Source::resource;
        else if (name.text == "eval")
            operand.source = Source::span_eval;
        else if (name.text == "trace_eval")
            operand.source = Source::trace_eval;
        else if (name.text == "session_eval")
            operand.source = Source::session_eval;
        else
            return at(name.column,
                      "only attributes, metadata, resource, eval, trace_eval and session_eval take [\"…\"]");
        TRY(advance());
        if (m_token.kind != TokenKind::text) return at(m_token.column, "expected a key in quotes");
        operand.name = m_token.text;
        TRY(advance());
        TRY(expect("]"));
        if (operand.source == Source::attribute || operand.source == Source::metadata ||
            operand.source == Source::resource)
            return operand;
        if (!is_symbol(".")) {
            if (is_word("exists")) return operand;
            return at(m_token.column, "expected .label, .score or .explanation");
        }
        TRY(advance());
        if (!is_word("label") && !is_word("score") && !is_word("explanation"))
            return at(m_token.column, "expected label, score or explanation");
        operand.aspect = lowercase_ascii(m_token.text);
        TRY(advance());
        return operand;
    }

    static std::string type_of(const FilterOperand& operand) {
        if (operand.source == FilterOperand::Source::field) return std::string(find_field(operand.name)->type);
        if (operand.aspect == "score") return "number";
        return operand.aspect.empty() ? "any" : "text";
    }

    Result<FilterOperator> read_operator(const FilterOperand&, const std::string& type) {
        static constexpr std::pair<std::string_view, FilterOperator> symbols[] = {
            {"=", FilterOperator::equal},   {"!=", FilterOperator::not_equal},
            {"<", FilterOperator::less},    {"<=", FilterOperator::less_equal},
            {">", FilterOperator::greater}, {">=", FilterOperator::greater_equal},
            {"~", FilterOperator::matches}, {"!~", FilterOperator::not_matches},
        };
        for (const auto& [symbol, meaning] : symbols) {
            if (!is_symbol(symbol)) continue;
            const bool is_order = meaning >= FilterOperator::less && meaning <= FilterOperator::greater_equal;
            const bool is_match = meaning == FilterOperator::matches || meaning == FilterOperator::not_matches;
            const bool is_number = type == "number" || type == "duration" || type == "money" || type == "time";
            if (is_order && !is_number && type != "any")
                return at(m_token.column, "this field cannot be compared with \"" + std::string(symbol) + "\"");
            if (is_match && type != "text" && type != "words" && type != "any")
                return at(m_token.column, "\"~\" is for texts");
            TRY(advance());
            return meaning;
        }
        return at(m_token.column,
                  "expected an operator: = != < <= > >= ~ !~ in exists; put the word in quotes to search for it");
    }

    Result<std::string> value(const std::string& type) {
        const Token token = m_token;
        if (token.kind == TokenKind::end || token.kind == TokenKind::symbol)
            return at(token.column, "expected a value");
        TRY(advance());
        if (type == "duration") {
            // A number without a unit is in seconds.
            const bool has_unit = std::isalpha(static_cast<unsigned char>(token.text.back()));
            auto duration =
                token.text == "0" ? Result<int64_t>(0) : parse_duration_ns(has_unit ? token.text : token.text + "s");
            if (!duration.ok()) return at(token.column, "expected a duration such as 250ms or 2s");
            return std::to_string(duration.value());
        }
        if (type == "time") {
            auto time = parse_time(token.text);
            if (!time.ok()) return at(token.column, "expected a time such as \"2026-11-15T09:00:00Z\"");
            return std::to_string(to_ns(time.value()));
        }
        if (type == "number" || type == "money") return number(token, type == "money");
        if (type == "flag") {
            if (token.text != "true" && token.text != "false") return at(token.column, "expected true or false");
            return token.text;
        }
        if (type.find('|') != std::string::npos) {
            const std::string word = lowercase_ascii(token.text);
            for (const std::string_view allowed : split(type, '|'))
                if (word == allowed) return word;
            return at(token.column, "expected one of " + type);
        }
        return token.text;
    }

    static Result<std::string> number(const Token& token, bool money) {
        std::string_view digits = token.text;
        double scale = 1; // 3k, 1.5M
        if (!digits.empty() && (digits.back() == 'k' || digits.back() == 'K')) scale = 1e3;
        if (!digits.empty() && digits.back() == 'M') scale = 1e6;
        if (scale != 1) digits.remove_suffix(1);
        double number = 0;
        const char* end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, number);
        if (error != std::errc() || stop != end || !std::isfinite(number))
            return at(token.column, "expected a number such as 250 or 3k");
        number *= scale;
        if (!money) return scale == 1 ? token.text : std::to_string(number);
        if (std::abs(number) > 9e9) return at(token.column, "the amount is too large");
        return std::to_string(std::llround(number * 1e9));
    }

    Lexer m_lexer;
    Token m_token;
    size_t m_nodes = 0;
};

} // namespace

std::optional<std::string> read_quoted(std::string_view text, size_t& at) {
    if (at >= text.size()) return std::nullopt;
    const char quote = text[at];
    std::string content;
    for (++at; at < text.size(); ++at) {
        char letter = text[at];
        if (letter == quote) {
            ++at;
            return content;
        }
        if (letter == '\\' && at + 1 < text.size()) {
            letter = text[++at];
            if (letter == 'n')
                letter = '\n';
            else if (letter == 't')
                letter = '\t';
        }
        content += letter;
    }
    return std::nullopt;
}

Result<FilterNode> parse_filter(std::string_view text) {
    if (text.size() > longest_filter) return too_large("the filter is longer than 16 KB");
    if (!is_valid_utf8(text)) return invalid("the filter is not UTF-8");
    return Parser(text).parse();
}

std::span<const FilterField> filter_fields() {
    return fields;
}

} // namespace hone::telemetry
