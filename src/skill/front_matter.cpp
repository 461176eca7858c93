// A small, strict part of YAML: `key: value`, quoted values, folded and literal blocks, and nested lines under the keys
// that may have some. Nothing else is guessed at.
#include "base/text.h"
#include "skill/folder.h"

#include <algorithm>
#include <map>

namespace hone::skill {

namespace {

constexpr size_t largest_front = 16 << 10;

struct Lines {
    std::vector<std::string_view> all;
    size_t at = 0;
    bool more() const { return at < all.size(); }
    bool indented() const { return more() && (all[at].starts_with(' ') || trim(all[at]).empty()); }
};

Error bad_line(size_t line, std::string_view why) {
    return invalid("SKILL.md, line " + std::to_string(line) + ": " + std::string(why));
}

Result<std::string> quoted(std::string_view value, size_t line) {
    const char quote = value.front();
    std::string text;
    for (size_t i = 1; i < value.size(); ++i) {
        char c = value[i];
        if (c == quote && quote == '\'' && i + 1 < value.size() && value[i + 1] == quote) {
            ++i;
        } else if (c == quote) {
            if (!trim(value.substr(i + 1)).empty()) return bad_line(line, "something follows the closing quote");
            return text;
        } else if (c == '\\' && quote == '"') {
            if (++i >= value.size()) break;
            c = value[i] == 'n' ? '\n' : value[i] == 't' ? '\t' : value[i];
        }
        text += c;
    }
    return bad_line(line, "the quote is not closed");
}

// The lines that are indented below a key; `fold` joins them with blanks.
std::string nested(Lines& lines, bool fold) {
    std::string text;
    while (lines.indented()) {
        const auto line = trim(lines.all[lines.at++]);
        if (!text.empty()) text += fold ? " " : "\n";
        text += line;
    }
    return std::string(trim(text));
}

Result<std::string> read_value(std::string_view value, Lines& lines, size_t line, bool may_nest) {
    if (value == ">" || value == ">-" || value == ">+") return nested(lines, true);
    if (value == "|" || value == "|-" || value == "|+") return nested(lines, false);
    if (value.empty() && may_nest) return nested(lines, false);
    if (value.empty()) return bad_line(line, "the value is missing");
    if (value.front() == '"' || value.front() == '\'') return quoted(value, line);
    if (std::string_view("&*!%@`{}").find(value.front()) != std::string_view::npos ||
        (value.front() == '[' && !may_nest))
        return bad_line(line, "put the value into quotes");
    std::string text(value);
    if (lines.indented()) {
        // A plain value continues in the lines below it.
        const std::string rest = nested(lines, true);
        if (!rest.empty()) text += " " + rest;
    }
    return text;
}

Result<FrontMatter> checked(const std::map<std::string, std::string, std::less<>>& values) {
    const auto name = values.find("name");
    const auto description = values.find("description");
    if (name == values.end()) return invalid("SKILL.md: the front matter has no name");
    if (description == values.end()) return invalid("SKILL.md: the front matter has no description");
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (name->second.empty() || name->second.size() > 64 ||
        !std::all_of(name->second.begin(), name->second.end(), fits))
        return invalid("SKILL.md: name must be 1 to 64 lower-case letters, digits and hyphens");
    if (description->second.empty() || description->second.size() > 1024)
        return invalid("SKILL.md: description must be 1 to 1024 bytes long");
    return FrontMatter{name->second, description->second};
}

} // namespace

Result<FrontMatter> parse_front_matter(std::string_view skill_md) {
    static constexpr std::string_view known[] = {"name",          "description",   "license", "version",
                                                 "allowed-tools", "compatibility", "metadata"};
    if (!is_valid_utf8(skill_md) || skill_md.find('\0') != skill_md.npos) return invalid("SKILL.md must be UTF-8 text");
    if (skill_md.starts_with("\xEF\xBB\xBF")) skill_md.remove_prefix(3);
    Lines lines;
    for (auto line : split(skill_md.substr(0, largest_front), '\n')) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.all.push_back(line);
    }
    if (lines.all.front() != "---") return bad_line(1, "it must begin with --- and name and description");
    lines.at = 1;
    std::map<std::string, std::string, std::less<>> values;
    while (lines.more() && lines.all[lines.at] != "---") {
        const std::string_view line = lines.all[lines.at];
        const size_t number = ++lines.at;
        if (trim(line).empty() || line.starts_with('#')) continue;
        const size_t colon = line.find(':');
        if (line.starts_with(' ') || line.starts_with('\t') || colon == line.npos ||
            (colon + 1 < line.size() && line[colon + 1] != ' '))
            return bad_line(number, "expected `key: value`");
        const std::string key(trim(line.substr(0, colon)));
        if (std::find(std::begin(known), std::end(known), key) == std::end(known))
            return bad_line(number, "unknown key " + std::string(truncate_utf8(key, 60)));
        const bool may_nest = key == "metadata" || key == "allowed-tools" || key == "compatibility";
        std::string value = TRY(read_value(trim(line.substr(colon + 1)), lines, number, may_nest));
        if (!values.emplace(key, std::move(value)).second) return bad_line(number, key + " is there twice");
    }
    if (!lines.more()) return invalid("SKILL.md: the front matter is not closed by --- (within 16 KiB)");
    return checked(values);
}

} // namespace hone::skill
