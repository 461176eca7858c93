#include "telemetry/guard/sql_text.h"

#include "base/text.h"
#include "telemetry/engine/project_views.h"
#include "telemetry/guard/sql_functions.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace hone::telemetry {

namespace {

// The words of a SELECT that the engine writes in capitals. A word in capitals that is neither here nor a function nor
// a name that the query gives is refused.
constexpr std::string_view keywords_text = R"(
SELECT WITH RECURSIVE DISTINCT ON AS FROM FINAL JOIN LEFT RIGHT FULL INNER OUTER CROSS ANY ALL SEMI ANTI ASOF GLOBAL LOCAL
PASTE ARRAY USING WHERE PREWHERE GROUP BY GROUPING SETS ROLLUP CUBE TOTALS HAVING WINDOW QUALIFY ORDER ASC DESC NULLS
FIRST LAST COLLATE FILL TO STEP STALENESS INTERPOLATE LIMIT OFFSET TIES UNION EXCEPT INTERSECT AND OR NOT XOR IN LIKE
ILIKE REGEXP BETWEEN IS NULL TRUE FALSE CASE WHEN THEN ELSE END OVER PARTITION ROWS RANGE GROUPS UNBOUNDED PRECEDING FOLLOWING
CURRENT ROW REPLACE APPLY COLUMNS EXISTS IGNORE RESPECT FILTER DIV MOD STRICT INTERVAL
)";

using SqlWords = std::set<std::string, std::less<>>;

const SqlWords& keywords() {
    static const SqlWords made = [] {
        SqlWords words;
        for (const std::string_view line : split(keywords_text, '\n'))
            for (const std::string_view word : split(line, ' '))
                if (!word.empty()) words.emplace(word);
        return words;
    }();
    return made;
}

struct SqlToken {
    enum class Kind { word, name, number, text, sign } kind;
    std::string_view text; // a name without its backticks
    size_t begin, end;
    int depth; // of brackets; a bracket itself is outside
    bool is(std::string_view sign_or_word) const {
        return (kind == Kind::word || kind == Kind::sign) && text == sign_or_word;
    }
};

struct SqlTokens {
    std::vector<SqlToken> all;
    std::optional<Refusal> refusal;
};

bool is_word_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

class SqlLexer {
public:
    explicit SqlLexer(std::string_view sql) : m_sql(sql) {}

    SqlTokens read() {
        while (!m_tokens.refusal && m_at < m_sql.size()) step();
        if (!m_tokens.refusal && !m_open.empty()) refuse(m_sql.size(), "a bracket is not closed");
        return std::move(m_tokens);
    }

private:
    void refuse(size_t begin, std::string why) {
        m_tokens.refusal = Refusal{std::string(truncate_utf8(m_sql.substr(begin), 40)), std::move(why)};
    }

    void add(SqlToken::Kind kind, size_t end) {
        m_tokens.all.push_back({kind, m_sql.substr(m_at, end - m_at), m_at, end, static_cast<int>(m_open.size())});
        m_at = end;
    }

    void step() {
        const char letter = m_sql[m_at];
        if (letter == ' ')
            ++m_at;
        else if (std::isdigit(static_cast<unsigned char>(letter)))
            number();
        else if (is_word_letter(letter))
            word();
        else if (letter == '\'')
            quoted(SqlToken::Kind::text);
        else if (letter == '`')
            quoted(SqlToken::Kind::name);
        else
            sign();
    }

    void word() {
        size_t end = m_at;
        while (end < m_sql.size() && is_word_letter(m_sql[end])) ++end;
        add(SqlToken::Kind::word, end);
    }

    void number() {
        size_t end = m_at;
        for (; end < m_sql.size(); ++end) {
            const bool is_sign = (m_sql[end] == '-' || m_sql[end] == '+') && (m_sql[end - 1] | 0x20) == 'e';
            if (!is_word_letter(m_sql[end]) && m_sql[end] != '.' && !is_sign) break;
        }
        add(SqlToken::Kind::number, end);
    }

    void quoted(SqlToken::Kind kind) {
        for (size_t i = m_at + 1; i < m_sql.size(); ++i) {
            if (m_sql[i] == '\\') {
                if (kind == SqlToken::Kind::name)
                    return refuse(m_at, "a name may not hold quotes, backslashes or control characters");
                ++i;
            } else if (m_sql[i] == m_sql[m_at]) {
                add(kind, i + 1);
                if (kind == SqlToken::Kind::name) {
                    std::string_view& name = m_tokens.all.back().text;
                    name = name.substr(1, name.size() - 2);
                }
                return;
            }
        }
        refuse(m_at, "a quote is not closed");
    }

    void sign() {
        const std::string_view rest = m_sql.substr(m_at);
        for (const std::string_view comment : {"--", "//", "/*", "*/"})
            if (rest.starts_with(comment)) return refuse(m_at, "unknown syntax");
        for (const std::string_view two : {"!=", "<=", ">=", "->"})
            if (rest.starts_with(two)) return add(SqlToken::Kind::sign, m_at + 2);
        const char letter = rest[0];
        if (std::string_view("()[],.+-*/%=<>").find(letter) == std::string_view::npos)
            return refuse(m_at, letter == '{' ? "parameters are not available" : "unknown syntax");
        if (letter == ')' || letter == ']') {
            if (m_open.empty() || m_open.back() != (letter == ')' ? '(' : '['))
                return refuse(m_at, "a bracket does not match");
            m_open.pop_back();
        }
        add(SqlToken::Kind::sign, m_at + 1);
        if (letter == '(' || letter == '[') m_open += letter;
    }

    std::string_view m_sql;
    size_t m_at = 0;
    std::string m_open; // brackets
    SqlTokens m_tokens;
};

bool is_capitals(std::string_view word) {
    return std::any_of(word.begin(), word.end(), [](char letter) { return letter >= 'A' && letter <= 'Z'; }) &&
           std::none_of(word.begin(), word.end(), [](char letter) { return letter >= 'a' && letter <= 'z'; });
}

// What the query calls by a name of its own: `… AS name`, `name AS (…)`, `name -> …`, `(name, name) -> …`.
SqlWords names_given(const std::vector<SqlToken>& tokens) {
    SqlWords names;
    const auto give = [&](const SqlToken& token) {
        if (token.kind == SqlToken::Kind::word || token.kind == SqlToken::Kind::name) names.emplace(token.text);
    };
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (tokens[i].is("AS")) {
            give(tokens[i + 1]);
            if (i > 0) give(tokens[i - 1]);
        }
        if (!tokens[i + 1].is("->")) continue;
        give(tokens[i]);
        if (tokens[i].is(")"))
            for (size_t j = i; j > 0 && tokens[j - 1].depth > tokens[i].depth; --j) give(tokens[j - 1]);
    }
    return names;
}

// WITH (x -> x + 1) AS next, or without the brackets: an arrow between AS and the comma or WITH before it.
SqlWords lambdas_named(const std::vector<SqlToken>& tokens) {
    SqlWords names;
    for (size_t i = 2; i < tokens.size(); ++i) {
        if (!tokens[i - 1].is("AS")) continue;
        const int depth = tokens[i - 1].depth;
        for (size_t j = i - 1; j > 0 && tokens[j - 1].depth >= depth; --j) {
            const SqlToken& before = tokens[j - 1];
            if (before.depth == depth && (before.is(",") || before.is("WITH") || before.is("SELECT"))) break;
            if (before.is("->") && before.depth <= depth + 1) names.emplace(tokens[i].text);
        }
    }
    return names;
}

bool is_engines_database(std::string_view name) {
    return equals_ignoring_case(name, "system") || equals_ignoring_case(name, "information_schema");
}

// What stands before a bracket, or after APPLY, is called: a function, a lambda that the query named, or a keyword.
std::optional<Refusal> check_call(const std::vector<SqlToken>& tokens, size_t i, const SqlWords& lambdas) {
    const SqlToken& token = tokens[i];
    const bool is_applied =
        i > 0 && (tokens[i - 1].is("APPLY") || (i > 1 && tokens[i - 1].is("(") && tokens[i - 2].is("APPLY")));
    if (!is_applied && !(i + 1 < tokens.size() && tokens[i + 1].is("("))) return {};
    const bool is_keyword = token.kind == SqlToken::Kind::word && keywords().contains(token.text);
    if (is_keyword || lambdas.contains(token.text) || is_known_function(token.text)) return {};
    return Refusal{std::string(token.text), "the function \"" + std::string(token.text) + "\" is not available"};
}

// Texts that the engine takes for more: the aggregate that arrayReduce calls, and types that read states of aggregates
// from bytes that no check has seen.
std::optional<Refusal> check_text(const std::vector<SqlToken>& tokens, size_t i) {
    const auto is_sign = [&](size_t at, std::string_view sign) { return at < tokens.size() && tokens[at].is(sign); };
    if (equals_ignoring_case(tokens[i].text, "arrayReduce") && is_sign(i + 1, "(")) {
        const bool is_plain = is_sign(i + 3, ",") && tokens[i + 2].kind == SqlToken::Kind::text;
        const std::string_view text = is_plain ? tokens[i + 2].text.substr(1) : std::string_view();
        const std::string_view name = text.substr(0, text.find_first_of("('"));
        if (!is_known_function(name))
            return Refusal{"arrayReduce", "arrayReduce does not know the function \"" + std::string(name) + "\""};
    }
    const bool is_type =
        tokens[i].kind == SqlToken::Kind::text && i > 0 && tokens[i - 1].is(",") && is_sign(i + 1, ")");
    if (is_type && lowercase_ascii(tokens[i].text).find("aggregatefunction") != std::string::npos)
        return Refusal{"AggregateFunction", "states of aggregates are not available"};
    return {};
}

std::optional<Refusal> check_word(const std::vector<SqlToken>& tokens, size_t i, const SqlWords& given) {
    const std::string word(tokens[i].text);
    const bool is_call = i + 1 < tokens.size() && tokens[i + 1].is("(");
    if (!is_capitals(word) || keywords().contains(word) || is_call) return {};
    for (const std::string_view clause : {"SETTINGS", "FORMAT", "INTO", "OUTFILE", "SAMPLE", "PARALLEL", "STREAM"})
        if (word == clause) return Refusal{word, word + " is not available"};
    if (given.contains(word)) return {};
    return Refusal{word, "\"" + word + "\" is not known"};
}

// The first token at this depth or outside it that begins another part of the SELECT.
size_t end_of_condition(const std::vector<SqlToken>& tokens, size_t begin, int depth) {
    static const SqlWords parts{"WHERE", "GROUP",  "HAVING", "WINDOW", "QUALIFY",  "ORDER",
                                "LIMIT", "OFFSET", "UNION",  "EXCEPT", "INTERSECT"};
    for (size_t i = begin; i < tokens.size(); ++i)
        if (tokens[i].depth < depth ||
            (tokens[i].depth == depth && tokens[i].kind == SqlToken::Kind::word && parts.contains(tokens[i].text)))
            return i;
    return tokens.size();
}

} // namespace

std::optional<Refusal> check_sql_text(std::string_view rendered) {
    SqlTokens read = SqlLexer(rendered).read();
    if (read.refusal) return std::move(read.refusal);
    const std::vector<SqlToken>& tokens = read.all;
    size_t first = 0;
    while (first < tokens.size() && tokens[first].is("(")) ++first;
    if (first == tokens.size() || !(tokens[first].is("SELECT") || tokens[first].is("WITH")))
        return Refusal{std::string(first < tokens.size() ? tokens[first].text : ""), "only SELECT is allowed"};
    const SqlWords given = names_given(tokens), lambdas = lambdas_named(tokens);
    for (size_t i = 0; i < tokens.size(); ++i) {
        const SqlToken& token = tokens[i];
        if (auto refusal = check_text(tokens, i)) return refusal;
        if (token.kind == SqlToken::Kind::word)
            if (auto refusal = check_word(tokens, i, given)) return refusal;
        const bool is_name = token.kind == SqlToken::Kind::word || token.kind == SqlToken::Kind::name;
        if (is_name)
            if (auto refusal = check_call(tokens, i, lambdas)) return refusal;
        if (is_name && is_engines_database(token.text) && i + 1 < tokens.size() && tokens[i + 1].is("."))
            return Refusal{std::string(token.text), "there is no database \"" + std::string(token.text) + "\""};
    }
    return {};
}

std::string over_views(std::string_view rendered) {
    const std::vector<SqlToken> tokens = SqlLexer(rendered).read().all;
    struct Edit {
        bool is_dropped = false;
        std::string before;
    };
    std::vector<Edit> edits(tokens.size() + 1); // one for each token and one for the end
    const auto tables = project_tables();
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (i + 2 < tokens.size() && tokens[i].text == "hone" && tokens[i + 1].is(".") &&
            (i == 0 || !tokens[i - 1].is(".")) &&
            std::find(tables.begin(), tables.end(), tokens[i + 2].text) != tables.end())
            edits[i].is_dropped = edits[i + 1].is_dropped = true;
        if (!tokens[i].is("PREWHERE")) continue;
        const size_t where = end_of_condition(tokens, i + 1, tokens[i].depth);
        edits[i] = {true, edits[i].before + "WHERE ("};
        if (where < tokens.size() && tokens[where].is("WHERE") && tokens[where].depth == tokens[i].depth &&
            !edits[where].is_dropped) {
            edits[where] = {true, ") AND ("};
            edits[end_of_condition(tokens, where + 1, tokens[i].depth)].before.insert(0, ")");
        } else {
            edits[where].before.insert(0, ")");
        }
    }
    std::string out;
    size_t copied = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
        out += rendered.substr(copied, tokens[i].begin - copied);
        out += edits[i].before;
        copied = edits[i].is_dropped ? tokens[i].end : tokens[i].begin;
    }
    out += rendered.substr(copied);
    return out + edits[tokens.size()].before;
}

} // namespace hone::telemetry
