#include "review/branch/diff.h"

#include "base/text.h"

#include <charconv>

namespace hone::review {

namespace {

bool is_octal(char c) {
    return c >= '0' && c <= '7';
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

Error malformed(std::string_view what) {
    return corrupt("a diff that cannot be read: " + std::string(what));
}

// "f\303\274" between quotes, as git writes names that are not plain. Moves `text` behind the closing quote.
Result<std::string> unquote(std::string_view& text) {
    if (!take(text, "\"")) return malformed("a name without its quote");
    std::string name;
    while (!text.empty() && text.front() != '"') {
        char c = text.front();
        text.remove_prefix(1);
        if (c != '\\') {
            name += c;
            continue;
        }
        if (text.empty()) break;
        c = text.front();
        if (text.size() >= 3 && c <= '3' && is_octal(c) && is_octal(text[1]) && is_octal(text[2])) {
            name += static_cast<char>((c - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0'));
            text.remove_prefix(3);
            continue;
        }
        constexpr std::string_view letters = "abtnvfr\"\\";
        constexpr std::string_view meant = "\a\b\t\n\v\f\r\"\\";
        const size_t which = letters.find(c);
        if (which == std::string_view::npos) return malformed("an escape in a name");
        name += meant[which];
        text.remove_prefix(1);
    }
    if (!take(text, "\"")) return malformed("a name without its closing quote");
    return name;
}

struct Name {
    std::string shown;
    bool odd = false;
};

// How a name is shown: as it is, or quoted again where it would be unclear.
Name name_of_bytes(std::string_view bytes) {
    bool plain = is_valid_utf8(bytes);
    for (const char c : bytes) plain = plain && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (plain) return {std::string(bytes), false};
    std::string quoted = "\"";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
            quoted += c;
            continue;
        }
        quoted += '\\';
        for (const int shift : {6, 3, 0}) quoted += static_cast<char>('0' + ((byte >> shift) & 7));
    }
    return {quoted + "\"", true};
}

// A name that ends at the line's end, quoted or not, with the prefix `a/` or `b/` already known to be there or not.
Result<std::string> whole_name(std::string_view text, std::string_view prefix) {
    std::string name;
    if (text.starts_with('"')) {
        name = TRY(unquote(text));
        if (!text.empty() && text != "\t") return malformed("text behind a name");
    } else {
        if (text.ends_with('\t')) text.remove_suffix(1);
        name = text;
    }
    if (name == "/dev/null" && !prefix.empty()) return std::string();
    if (!name.starts_with(prefix)) return malformed("a name without its prefix");
    return name.substr(prefix.size());
}

// "a/x b/x" of the first line, which counts only where no other line names the file: then both are the same.
std::optional<std::string> name_of_header(std::string_view text) {
    if (text.starts_with('"')) {
        const auto first = unquote(text);
        if (!first.ok() || !first.value().starts_with("a/")) return std::nullopt;
        return first.value().substr(2);
    }
    if (text.size() < 6 || text.size() % 2 == 0) return std::nullopt;
    const size_t half = text.size() / 2;
    if (text[half] != ' ' || !text.starts_with("a/") || text.substr(half + 1, 2) != "b/" ||
        text.substr(2, half - 2) != text.substr(half + 3))
        return std::nullopt;
    return std::string(text.substr(2, half - 2));
}

Result<int64_t> take_number(std::string_view& text) {
    int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || number < 0 || number > 1'000'000'000) return malformed("a line number");
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return number;
}

// "12,3" or "12"
Result<std::pair<int64_t, int64_t>> take_range(std::string_view& text) {
    const int64_t start = TRY(take_number(text));
    if (!take(text, ",")) return std::pair<int64_t, int64_t>{start, 1};
    const int64_t count = TRY(take_number(text));
    return std::pair<int64_t, int64_t>{start, count};
}

class Parser {
public:
    Parser(std::string_view text, const DiffCaps& caps) : m_rest(text), m_caps(caps) {}

    Result<Diff> parse() {
        while (!m_rest.empty()) {
            std::string_view line = next();
            if (take(line, "diff --git ")) {
                TRY(finish_file());
                if (m_diff.files.size() >= m_caps.files) {
                    m_diff.truncated = true;
                    return std::move(m_diff);
                }
                m_header = line;
                m_file.emplace();
                m_old.reset();
                m_new.reset();
                m_file_lines = 0;
            } else if (!m_file) {
                return malformed("text before the first file");
            } else if (take(line, "@@ -")) {
                TRY(parse_hunk(line));
            } else {
                TRY(parse_extended(line));
            }
        }
        TRY(finish_file());
        return std::move(m_diff);
    }

private:
    std::string_view next() {
        const size_t end = m_rest.find('\n');
        const std::string_view line = m_rest.substr(0, end);
        if (end == std::string_view::npos) m_diff.truncated = true; // every line of git has its end
        m_rest.remove_prefix(end == std::string_view::npos ? m_rest.size() : end + 1);
        return line;
    }

    Result<> parse_extended(std::string_view line) {
        FileChange& file = m_file->file;
        if (take(line, "old mode ")) {
            file.old_mode = mode(line);
        } else if (take(line, "new mode ")) {
            file.new_mode = mode(line);
        } else if (take(line, "deleted file mode ")) {
            file.change = ChangeKind::deleted;
            file.old_mode = mode(line);
        } else if (take(line, "new file mode ")) {
            file.change = ChangeKind::added;
            file.new_mode = mode(line);
        } else if (take(line, "rename from ") || take(line, "copy from ")) {
            m_old = TRY(whole_name(line, ""));
        } else if (take(line, "rename to ")) {
            file.change = ChangeKind::renamed;
            m_new = TRY(whole_name(line, ""));
        } else if (take(line, "copy to ")) {
            file.change = ChangeKind::copied;
            m_new = TRY(whole_name(line, ""));
        } else if (take(line, "index ")) {
            // "index 3b18e51..9daeafb 100644": the mode of a file whose mode stays.
            const size_t blank = line.rfind(' ');
            if (blank != std::string_view::npos) file.old_mode = file.new_mode = mode(line.substr(blank + 1));
        } else if (line.starts_with("Binary files ") || line == "GIT binary patch") {
            file.binary = true;
        } else if (take(line, "--- ")) {
            const std::string name = TRY(whole_name(line, "a/"));
            if (!name.empty()) m_old = name;
        } else if (take(line, "+++ ")) {
            const std::string name = TRY(whole_name(line, "b/"));
            if (!name.empty()) m_new = name;
        } else if (!line.starts_with("similarity index ") && !line.starts_with("dissimilarity index ") &&
                   !m_rest.empty()) {
            return malformed("an unknown line about a file");
        }
        return {};
    }

    static std::string mode(std::string_view text) {
        std::string kept;
        for (const char c : text.substr(0, 6))
            if (is_octal(c)) kept += c;
        return kept;
    }

    Result<> parse_hunk(std::string_view line) {
        Hunk hunk;
        std::tie(hunk.old_start, hunk.old_count) = TRY(take_range(line));
        if (!take(line, " +")) return malformed("the head of a hunk");
        std::tie(hunk.new_start, hunk.new_count) = TRY(take_range(line));
        if (!take(line, " @@")) return malformed("the head of a hunk");
        hunk.heading = shown(trim(line), 200);
        int64_t old_line = hunk.old_start, new_line = hunk.new_start;
        const int64_t old_end = old_line + hunk.old_count, new_end = new_line + hunk.new_count;
        while ((old_line < old_end || new_line < new_end || m_rest.starts_with('\\')) && !m_rest.empty()) {
            std::string_view content = next();
            const char sign = content.empty() ? ' ' : content.front();
            if (!content.empty()) content.remove_prefix(1);
            if (sign == '\\') {
                if (!hunk.lines.empty()) hunk.lines.back().no_newline = true;
                continue;
            }
            DiffLine made;
            if (sign == '+' && new_line < new_end) {
                made.kind = LineKind::added;
                made.new_line = new_line++;
                m_file->file.additions += 1;
            } else if (sign == '-' && old_line < old_end) {
                made.kind = LineKind::deleted;
                made.old_line = old_line++;
                m_file->file.deletions += 1;
            } else if (sign == ' ' && old_line < old_end && new_line < new_end) {
                made.old_line = old_line++;
                made.new_line = new_line++;
            } else {
                return malformed("a line of a hunk");
            }
            if (!keep_line()) continue;
            made.cut = content.size() > m_caps.line_bytes;
            made.content = shown(content, m_caps.line_bytes);
            hunk.lines.push_back(std::move(made));
        }
        if (old_line < old_end || new_line < new_end) m_diff.truncated = true;
        if (!hunk.lines.empty()) m_file->hunks.push_back(std::move(hunk));
        return {};
    }

    // Whether one more line fits; what does not is counted but not kept.
    bool keep_line() {
        if (m_file_lines < m_caps.file_lines && m_lines < m_caps.lines) {
            m_file_lines += 1;
            m_lines += 1;
            return true;
        }
        m_file->file.too_large = true;
        return false;
    }

    static std::string shown(std::string_view text, size_t bytes) {
        return repair_utf8(truncate_utf8(text.substr(0, bytes + 4), bytes));
    }

    Result<> finish_file() {
        if (!m_file) return {};
        FileChange& file = m_file->file;
        if (!m_old && !m_new) {
            auto both = name_of_header(m_header);
            if (!both && m_rest.empty()) { // cut in the middle of its first line
                m_diff.truncated = true;
                m_file.reset();
                return {};
            }
            if (!both) return malformed("a file without a name");
            m_old = m_new = std::move(both);
        }
        const Name now = name_of_bytes(m_new ? *m_new : *m_old);
        const Name before = name_of_bytes(m_old ? *m_old : *m_new);
        file.path = now.shown;
        file.old_path = before.shown;
        file.odd_name = now.odd || before.odd;
        if (file.change == ChangeKind::added) file.old_mode.clear();
        if (file.change == ChangeKind::deleted) file.new_mode.clear();
        file.submodule = file.old_mode == "160000" || file.new_mode == "160000";
        file.symlink = file.old_mode == "120000" || file.new_mode == "120000";
        m_diff.additions += file.additions;
        m_diff.deletions += file.deletions;
        m_diff.files.push_back(std::move(*m_file));
        m_file.reset();
        return {};
    }

    std::string_view m_rest;
    const DiffCaps& m_caps;
    Diff m_diff;
    std::string_view m_header;
    std::optional<FileDiff> m_file;
    std::optional<std::string> m_old, m_new; // names as bytes
    size_t m_lines = 0, m_file_lines = 0;
};

} // namespace

Result<Diff> parse_diff(std::string_view text, const DiffCaps& caps) {
    return Parser(text, caps).parse();
}

} // namespace hone::review
