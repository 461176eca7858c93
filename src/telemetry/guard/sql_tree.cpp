#include "telemetry/guard/sql_tree.h"

#include "base/text.h"
#include "telemetry/engine/project_views.h"
#include "telemetry/guard/sql_functions.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace hone::telemetry {

namespace {

// What the engine itself puts into a resolved tree; nothingNull and the like are aggregates over NULL.
bool is_engines_function(std::string_view name) {
    for (const std::string_view own :
         {"getSubcolumn", "nullIn", "notNullIn", "nothing", "nothingNull", "nothingUInt64"})
        if (name == own) return true;
    return false;
}

using SqlNames = std::set<std::string, std::less<>>;

bool is_project_table(std::string_view name) {
    const auto tables = project_tables();
    return std::find(tables.begin(), tables.end(), name) != tables.end();
}

// "    FUNCTION id: 4, alias: x, function_name: plus": a node. Other lines head a part of one.
struct TreeLine {
    size_t indent = 0;
    std::string_view text;
    std::string_view kind; // empty: a heading
};

TreeLine tree_line(std::string_view line) {
    TreeLine read;
    read.indent = std::min(line.find_first_not_of(' '), line.size());
    read.text = trim(line);
    const size_t id = read.text.find(" id: ");
    if (id == std::string_view::npos) return read;
    const std::string_view kind = read.text.substr(0, id);
    if (kind.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_ ") == std::string_view::npos) read.kind = kind;
    return read;
}

// The value of `, key: value`. SqlNames that people gave are in the same line unquoted: when one of them looks like
// this key, none is taken.
std::optional<std::string_view> value_of(std::string_view text, std::string_view key) {
    const std::string wanted = ", " + std::string(key) + ": ";
    const size_t at = text.find(wanted);
    if (at == std::string_view::npos || text.find(wanted, at + 1) != std::string_view::npos) return {};
    const std::string_view value = text.substr(at + wanted.size());
    return value.substr(0, value.find(", "));
}

bool is_known_heading(std::string_view text) {
    static const SqlNames headings{"WITH",
                                   "PROJECTION",
                                   "JOIN TREE",
                                   "TABLE EXPRESSION",
                                   "LEFT TABLE EXPRESSION",
                                   "RIGHT TABLE EXPRESSION",
                                   "JOIN EXPRESSION",
                                   "JOIN EXPRESSIONS",
                                   "WHERE",
                                   "GROUP BY",
                                   "HAVING",
                                   "WINDOW",
                                   "QUALIFY",
                                   "ORDER BY",
                                   "PARTITION BY",
                                   "INTERPOLATE",
                                   "LIMIT",
                                   "LIMIT BY",
                                   "LIMIT BY LIMIT",
                                   "LIMIT BY OFFSET",
                                   "OFFSET",
                                   "QUERIES",
                                   "ARGUMENTS",
                                   "PARAMETERS",
                                   "FILL FROM",
                                   "FILL TO",
                                   "FILL STEP",
                                   "FILL STALENESS",
                                   "FRAME BEGIN OFFSET",
                                   "FRAME END OFFSET",
                                   "INTERPOLATE_EXPRESSION",
                                   "DISTINCT ON"};
    return headings.contains(text) || text == "EXPRESSION" || text.starts_with("EXPRESSION ") ||
           text.starts_with("REPLACEMENTS ") || text.starts_with("REPLACEMENT NAME ");
}

class TreeChecker {
public:
    // An empty database: the tree is as written.
    TreeChecker(std::string_view tree, std::string_view database) : m_database(database) {
        for (const std::string_view line : split(tree, '\n'))
            if (!trim(line).empty()) m_lines.push_back(tree_line(line));
        for (const TreeLine& line : m_lines)
            if (const auto name = value_of(line.text, "cte_name"); name && !line.kind.empty()) m_names.emplace(*name);
    }

    std::optional<Refusal> check() {
        if (m_lines.empty()) return Refusal{"", "the engine shows nothing of this query"};
        for (size_t i = 0; i < m_lines.size(); ++i) {
            const TreeLine& line = m_lines[i];
            if (line.kind.empty() && line.text == "PROJECTION COLUMNS" && is_resolved()) {
                while (i + 1 < m_lines.size() && m_lines[i + 1].indent > line.indent) ++i; // names and types as text
                continue;
            }
            if (auto refusal = line.kind.empty() ? check_heading(line) : check_node(i)) return refusal;
        }
        return {};
    }

private:
    bool is_resolved() const { return !m_database.empty(); }

    std::optional<Refusal> check_heading(const TreeLine& line) const {
        if (is_known_heading(line.text)) return {};
        const std::string_view word = line.text.substr(0, line.text.find(' '));
        return Refusal{std::string(word), std::string(word) + " is not available"};
    }

    std::optional<Refusal> check_node(size_t i) const {
        const TreeLine& line = m_lines[i];
        for (const std::string_view plain :
             {"QUERY", "UNION", "LIST", "LAMBDA", "CONSTANT", "JOIN", "CROSS JOIN", "ARRAY_JOIN", "SORT", "INTERPOLATE",
              "WINDOW", "MATCHER", "EXCEPT COLUMN TRANSFORMER", "REPLACE COLUMN TRANSFORMER"})
            if (line.kind == plain) return {};
        if (line.kind == "FUNCTION") return check_function(i);
        if (line.kind == "COLUMN" && is_resolved()) return check_column(line);
        if (line.kind == "TABLE" && is_resolved()) return check_table(line);
        if (line.kind == "IDENTIFIER") return is_resolved() ? std::nullopt : check_identifier(i);
        if (line.kind == "TABLE_FUNCTION") {
            const std::string name(value_of(line.text, "table_function_name").value_or(""));
            return Refusal{name, "the table function \"" + name + "\" is not available"};
        }
        if (line.kind == "APPLY COLUMN TRANSFORMER") {
            if (value_of(line.text, "apply_transformer_type") == "FUNCTION") return {};
            return Refusal{"APPLY", "APPLY takes the name of a function, not a lambda"};
        }
        return Refusal{"", "this is not available: " + std::string(line.kind)};
    }

    std::optional<Refusal> check_function(size_t i) const {
        const auto name = value_of(m_lines[i].text, "function_name");
        if (!name) return Refusal{"", "a name in this query reads like the engine's own words"};
        if (!is_known_function(*name) && !(is_resolved() ? is_engines_function(*name) : is_lambda(*name)))
            return Refusal{std::string(*name), "the function \"" + std::string(*name) + "\" is not available"};
        return is_resolved() ? std::nullopt : check_right_of_in(i, *name);
    }

    // WITH x -> x + 1 AS next SELECT next(2)
    bool is_lambda(std::string_view name) const {
        return std::any_of(m_lines.begin(), m_lines.end(), [&](const TreeLine& line) {
            return line.kind == "LAMBDA" && value_of(line.text, "alias") == name;
        });
    }

    // What the engine adds to every table of its own accord.
    static std::optional<Refusal> check_column(const TreeLine& line) {
        for (const std::string_view own : {"_table", "_database"})
            if (value_of(line.text, "column_name") == own)
                return Refusal{std::string(own), "there is no column \"" + std::string(own) + "\""};
        return {};
    }

    std::optional<Refusal> check_table(const TreeLine& line) const {
        const auto named = value_of(line.text, "table_name");
        std::string name(named.value_or(""));
        std::erase(name, '`');
        const std::string own = std::string(m_database) + ".";
        if (name == "system.one" || (name.starts_with(own) && is_project_table(name.substr(own.size())))) return {};
        const auto cte = value_of(line.text, "temporary_table_name"); // WITH RECURSIVE
        if (cte && m_names.contains(*cte) && name.starts_with("_temporary_and_external_tables._tmp_")) return {};
        return no_table(name);
    }

    // In the place of a table, or right of IN, a name is a table's.
    std::optional<Refusal> check_identifier(size_t i) const {
        const auto name = value_of(m_lines[i].text, "identifier");
        if (!name) return Refusal{"", "a name in this query reads like the engine's own words"};
        if (m_lines[i].text.find(", sample_size: ") != std::string_view::npos)
            return Refusal{"SAMPLE", "SAMPLE is not available"};
        const bool is_table = i > 0 && m_lines[i - 1].kind.empty() &&
                              (m_lines[i - 1].text == "JOIN TREE" || m_lines[i - 1].text.ends_with("TABLE EXPRESSION"));
        if (!is_table || is_project_table(*name) || m_names.contains(*name) || *name == "system.one") return {};
        return no_table(*name);
    }

    std::optional<Refusal> check_right_of_in(size_t function, std::string_view function_name) const {
        const std::string plain = lowercase_ascii(function_name);
        if (plain != "in" && plain != "notin" && plain != "globalin" && plain != "globalnotin") return {};
        const size_t inside = m_lines[function].indent + 6; // below ARGUMENTS and LIST
        int argument = 0;
        for (size_t i = function + 1; i < m_lines.size() && m_lines[i].indent > m_lines[function].indent; ++i) {
            if (m_lines[i].indent != inside || m_lines[i].kind.empty() || ++argument != 2) continue;
            if (m_lines[i].kind != "IDENTIFIER") continue;
            const std::string_view name = value_of(m_lines[i].text, "identifier").value_or("");
            if (!is_given(name))
                return Refusal{std::string(name),
                               "IN takes a list or a subquery, not the name \"" + std::string(name) + "\""};
        }
        return {};
    }

    // A table of ours, or a name that the query gave to something else than another name.
    bool is_given(std::string_view name) const {
        bool is_given = m_names.contains(name) || is_project_table(name);
        for (const TreeLine& line : m_lines) {
            if (line.kind.empty() || value_of(line.text, "alias") != name) continue;
            if (line.kind == "IDENTIFIER") return false;
            is_given = true;
        }
        return is_given;
    }

    static Refusal no_table(std::string_view name) {
        return {std::string(name),
                "there is no table \"" + std::string(name) + "\"; there are spans, evals, traces and chat_sessions"};
    }

    std::string_view m_database;
    std::vector<TreeLine> m_lines;
    SqlNames m_names; // WITH name AS (…)
};

} // namespace

std::optional<Refusal> check_written_tree(std::string_view tree) {
    return TreeChecker(tree, {}).check();
}

std::optional<Refusal> check_resolved_tree(std::string_view tree, std::string_view database) {
    if (database.empty()) return Refusal{"", "a query needs a database"};
    return TreeChecker(tree, database).check();
}

} // namespace hone::telemetry
