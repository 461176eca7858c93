#include "sql/statement.h"

#include "base/text.h"

namespace hone::sql {

namespace {

constexpr size_t longest_sql = 1 << 20;

enum class Kind { word, number, string, name, comment, space, placeholder, semicolon, symbol };

struct Token {
    Kind kind = Kind::symbol;
    std::string_view text;
};

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

// Our SQL is written by us: what is refused here is a bug in a store or a migration.
Error refused(std::string_view sql, std::string why) {
    return internal("a database statement is not portable", std::move(why) + " in: " + std::string(sql.substr(0, 200)));
}

class Scanner {
public:
    explicit Scanner(std::string_view sql) : m_sql(sql) {}

    bool at_end() const { return m_position == m_sql.size(); }

    Result<Token> next() {
        const size_t start = m_position;
        const char first = m_sql[start];
        if (is_space(first)) return take(Kind::space, end_of(start, is_space));
        if (first == '\'' || first == '"') return quoted(start, first == '"' ? Kind::name : Kind::string);
        if (m_sql.substr(start, 2) == "--") return take(Kind::comment, std::min(m_sql.find('\n', start), m_sql.size()));
        if (m_sql.substr(start, 2) == "/*") return block_comment(start);
        if (is_word(first)) return word(start);
        if (first == '?') return placeholder(start);
        if (first == ';') return take(Kind::semicolon, start + 1);
        if (std::string_view("()+-*/%<>=!,.|&~").find(first) == std::string_view::npos)
            return refused(m_sql, std::string("a character that means different things to the engines: ") + first);
        return take(Kind::symbol, start + 1);
    }

private:
    Token take(Kind kind, size_t end) {
        const Token token{kind, m_sql.substr(m_position, end - m_position)};
        m_position = end;
        return token;
    }
    size_t end_of(size_t position, bool (*belongs)(char)) const {
        while (position < m_sql.size() && belongs(m_sql[position])) ++position;
        return position;
    }
    Result<Token> quoted(size_t start, Kind kind) {
        const char quote = m_sql[start];
        for (size_t i = start + 1; i < m_sql.size(); ++i) {
            if (m_sql[i] != quote) continue;
            if (i + 1 < m_sql.size() && m_sql[i + 1] == quote)
                ++i; // doubled: the quote itself
            else
                return take(kind, i + 1);
        }
        return refused(m_sql, "an open quote");
    }
    Result<Token> block_comment(size_t start) {
        const size_t end = m_sql.find("*/", start + 2);
        if (end == std::string_view::npos) return refused(m_sql, "an open comment");
        // PostgreSQL nests comments, SQLite does not.
        if (m_sql.substr(start + 2, end - start - 2).find("/*") != std::string_view::npos)
            return refused(m_sql, "a comment in a comment");
        return take(Kind::comment, end + 2);
    }
    Result<Token> word(size_t start) {
        const size_t end = end_of(start, is_word);
        // E'…', X'…', B'…': strings with a prefix differ between the engines.
        if (end < m_sql.size() && (m_sql[end] == '\'' || m_sql[end] == '"'))
            return refused(m_sql, "a quote directly after a word");
        return take(is_digit(m_sql[start]) ? Kind::number : Kind::word, end);
    }
    Result<Token> placeholder(size_t start) {
        if (start + 1 < m_sql.size() && (is_word(m_sql[start + 1]) || m_sql[start + 1] == '?'))
            return refused(m_sql, "a numbered placeholder");
        return take(Kind::placeholder, start + 1);
    }

    std::string_view m_sql;
    size_t m_position = 0;
};

Result<std::vector<Token>> scan(std::string_view sql) {
    if (sql.size() > longest_sql) return refused(sql, "more than a megabyte");
    if (sql.find('\0') != std::string_view::npos) return refused(sql, "a NUL");
    std::vector<Token> tokens;
    Scanner scanner(sql);
    while (!scanner.at_end()) tokens.push_back(TRY(scanner.next()));
    return tokens;
}

bool is_keyword(const Token& token, std::string_view keyword) {
    return token.kind == Kind::word && equals_ignoring_case(token.text, keyword);
}

std::string_view translated_type(const Token& token, bool after_as, Engine engine) {
    if (engine == Engine::sqlite) {
        if (is_keyword(token, "BIGINT")) return "INTEGER";
        if (is_keyword(token, "DOUBLE")) return "REAL";
    } else {
        if (is_keyword(token, "BLOB")) return "BYTEA";
        if (is_keyword(token, "DOUBLE")) return "DOUBLE PRECISION";
        if (is_keyword(token, "TEXT") && !after_as) return "TEXT COLLATE \"C\""; // not inside CAST(… AS TEXT)
    }
    return token.text;
}

} // namespace

Result<Statement> translate(std::string_view sql, Engine engine) {
    Statement statement;
    bool ended = false;
    for (const Token& token : TRY(scan(sql))) {
        if (token.kind == Kind::comment) {
            statement.text += ' ';
            continue;
        }
        if (ended && token.kind != Kind::space) return refused(sql, "more than one statement");
        if (token.kind == Kind::semicolon) {
            ended = true;
        } else if (token.kind == Kind::placeholder) {
            ++statement.parameters;
            statement.text += engine == Engine::sqlite ? "?" : "$" + std::to_string(statement.parameters);
        } else {
            statement.text += token.text;
        }
    }
    if (trim(statement.text).empty()) return refused(sql, "no statement");
    return statement;
}

Result<std::vector<std::string>> split_script(std::string_view script) {
    std::vector<std::string> statements;
    std::string current;
    auto finish = [&] {
        if (!trim(current).empty()) statements.emplace_back(trim(current));
        current.clear();
    };
    for (const Token& token : TRY(scan(script))) {
        if (token.kind == Kind::semicolon)
            finish();
        else if (token.kind == Kind::comment)
            current += ' ';
        else
            current += token.text;
    }
    finish();
    return statements;
}

Result<std::string> translate_definition(std::string_view sql, Engine engine) {
    const auto tokens = TRY(scan(sql));
    std::vector<Token> words; // what counts, without space and comments
    for (const Token& token : tokens)
        if (token.kind != Kind::space && token.kind != Kind::comment) words.push_back(token);
    if (words.empty() || !(is_keyword(words[0], "CREATE") || is_keyword(words[0], "ALTER"))) return std::string(sql);

    std::string text;
    bool after_as = false;
    for (const Token& token : tokens) {
        if (token.kind == Kind::semicolon) break;
        if (token.kind == Kind::comment) {
            text += ' ';
            continue;
        }
        text += translated_type(token, after_as, engine);
        if (token.kind != Kind::space) after_as = is_keyword(token, "AS");
    }
    const bool is_table = words.size() > 1 && is_keyword(words[0], "CREATE") && is_keyword(words[1], "TABLE");
    if (is_table && engine == Engine::sqlite) text += " STRICT";
    return text;
}

} // namespace hone::sql
