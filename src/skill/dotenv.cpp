#include "skill/dotenv.h"

#include "base/text.h"

#include <algorithm>

namespace hone::skill {

namespace {

constexpr size_t largest_text = 256 << 10;
constexpr size_t most_entries = 500;
constexpr size_t most_problems = 20;
constexpr size_t longest_name = 128;

bool is_name(std::string_view name) {
    if (name.empty() || name.size() > longest_name || (name[0] >= '0' && name[0] <= '9')) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

class Reader {
public:
    explicit Reader(std::string_view text) : m_text(text) { m_value.reserve(text.size()); }
    ~Reader() { crypto::wipe(m_value); }

    EnvText read() {
        if (m_text.starts_with("\xEF\xBB\xBF")) m_at = 3;
        while (m_at < m_text.size() && m_found.entries.size() < most_entries && m_found.problems.size() < most_problems)
            read_line();
        if (m_at < m_text.size()) problem("too many variables or problems; the rest was not read");
        return std::move(m_found);
    }

private:
    char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\n'; }
    void skip_blanks() {
        while (m_at < m_text.size() && (peek() == ' ' || peek() == '\t' || peek() == '\r')) ++m_at;
    }
    void skip_line() {
        while (m_at < m_text.size() && peek() != '\n') ++m_at;
        if (m_at < m_text.size()) ++m_at;
        ++m_line;
    }
    void problem(std::string_view why) {
        m_found.problems.push_back("line " + std::to_string(m_line) + ": " + std::string(why));
    }

    void read_line() {
        skip_blanks();
        if (peek() == '\n' || peek() == '#') return skip_line();
        const int64_t line = m_line;
        const size_t end = std::min(m_text.find('\n', m_at), m_text.size());
        const size_t equals = m_text.find('=', m_at);
        if (equals >= end) {
            // `export NAME` marks a variable for the shell's children; it sets nothing.
            std::string_view line_text = trim(m_text.substr(m_at, end - m_at));
            line_text = trim(line_text.substr(0, line_text.find('#')));
            const bool is_export = line_text.starts_with("export ") || line_text.starts_with("export\t");
            if (!is_export || !is_name(trim(line_text.substr(7)))) problem("there is no = in it");
            return skip_line();
        }
        std::string_view name = trim(m_text.substr(m_at, equals - m_at));
        if (name.starts_with("export ") || name.starts_with("export\t")) name = trim(name.substr(7));
        if (!is_name(name)) {
            problem("the text before = is not a name of a variable");
            return skip_line();
        }
        m_at = equals + 1;
        skip_blanks();
        m_value.clear();
        if (const char* why = read_value()) {
            m_line = line;
            problem(why);
            return skip_line();
        }
        keep(name, line);
        skip_line();
    }

    // Null when all is well; otherwise why not, with the place set back to the value's first line.
    const char* read_value() {
        if (peek() != '"' && peek() != '\'') {
            read_bare();
            return nullptr;
        }
        const size_t start = m_at;
        const char quote = m_text[m_at++];
        while (m_at < m_text.size() && m_text[m_at] != quote) {
            const char c = m_text[m_at++];
            if (c == '\r' && peek() == '\n' && m_at < m_text.size()) continue; // CRLF is one line end
            if (c == '\n') ++m_line;
            if (c == '\\' && quote == '"' && m_at < m_text.size())
                read_escape();
            else
                m_value += c;
        }
        if (m_at >= m_text.size()) {
            m_at = start;
            return "the quote is not closed";
        }
        ++m_at;
        skip_blanks();
        if (m_at < m_text.size() && peek() != '\n' && peek() != '#') return "something follows the closing quote";
        return nullptr;
    }
    // After a backslash within "…".
    void read_escape() {
        const char c = m_text[m_at];
        constexpr std::string_view known = "nrt\"\\$`", meaning = "\n\r\t\"\\$`";
        if (const size_t found = known.find(c); found != std::string_view::npos) {
            m_value += meaning[found];
            ++m_at;
        } else {
            m_value += '\\'; // what follows is read as usual
        }
    }
    // To the end of the line, or to a # that follows a blank.
    void read_bare() {
        const size_t start = m_at;
        while (m_at < m_text.size() && peek() != '\n') {
            if (peek() == '#' && (m_at == start || m_text[m_at - 1] == ' ' || m_text[m_at - 1] == '\t')) break;
            ++m_at;
        }
        m_value = trim(m_text.substr(start, m_at - start));
    }

    void keep(std::string_view name, int64_t line) {
        if (m_value.find('\0') != m_value.npos) return problem("the value holds a NUL");
        auto& entries = m_found.entries;
        std::erase_if(entries, [&](const EnvEntry& entry) { return entry.name == name; });
        entries.push_back({std::string(name), crypto::SecretBytes(m_value), line});
    }

    std::string_view m_text;
    size_t m_at = 0;
    int64_t m_line = 1;
    std::string m_value;
    EnvText m_found;
};

} // namespace

Result<EnvText> parse_dotenv(std::string_view text) {
    if (text.size() > largest_text) return too_large("a .env text must be at most 256 KiB long");
    if (!is_valid_utf8(text)) return invalid("a .env text must be UTF-8");
    return Reader(text).read();
}

} // namespace hone::skill
