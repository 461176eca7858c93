#include "evaluate/prompts/prompt_template.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace hone::evaluate {

namespace {

constexpr size_t deepest_section = 16;

std::string template_text(const json::Value& value) {
    if (value.is_string()) return std::string(value.get_string());
    return json::print(value);
}

std::string template_excerpt(std::string_view text) {
    return std::string(truncate_utf8(text, 60));
}

Result<> check_missing(const std::set<std::string>& missing) {
    if (missing.empty()) return {};
    std::string list;
    for (const std::string& name : missing) list += (list.empty() ? "" : ", ") + name;
    return invalid("missing template variable" + std::string(missing.size() == 1 ? " " : "s ") + list);
}

// --- mustache ------------------------------------------------------------------------------------------------------

struct TemplateNode {
    enum class Kind { text, variable, section, inverted };
    Kind kind = Kind::text;
    std::string text; // or the name
    std::vector<TemplateNode> children{};
};

// One pass from left to right; sections recurse.
class MustacheParser {
public:
    explicit MustacheParser(std::string_view text) : m_text(text) {}

    Result<std::vector<TemplateNode>> parse() { return parse_until("", 0); }

private:
    struct Tag {
        char kind = 0; // 0: a variable
        std::string name;
        size_t begin = 0, end = 0; // in the text
    };

    Result<Tag> read_tag(size_t begin) const {
        const bool is_triple = m_text.substr(begin).starts_with("{{{");
        const std::string_view closing = is_triple ? "}}}" : "}}";
        const size_t from = begin + (is_triple ? 3 : 2);
        const size_t end = m_text.find(closing, from);
        if (end == std::string_view::npos)
            return invalid("template: {{ is not closed at \"" + template_excerpt(m_text.substr(begin)) + "\"");
        Tag tag{0, {}, begin, end + closing.size()};
        std::string_view inside = trim(m_text.substr(from, end - from));
        if (!is_triple && !inside.empty() && std::string_view("#^/!&>=").find(inside.front()) != inside.npos) {
            tag.kind = inside.front();
            inside = trim(inside.substr(1));
        }
        if (tag.kind == '&') tag.kind = 0;
        if (tag.kind == '!') return tag;
        if (tag.kind == '>' || tag.kind == '=')
            return invalid("template: partials and other delimiters are not available: \"" +
                           template_excerpt(m_text.substr(begin, tag.end - begin)) + "\"");
        if (inside.empty() || inside.find_first_of("{} \t\r\n") != std::string_view::npos)
            return invalid("template: \"" + template_excerpt(m_text.substr(begin, tag.end - begin)) +
                           "\" is not a variable");
        tag.name = inside;
        return tag;
    }

    // A section's tag or a comment that has a line for itself takes the line with it.
    void drop_own_line(Tag& tag, std::string& before) const {
        const size_t line = before.rfind('\n');
        const size_t begin = line == std::string::npos ? 0 : line + 1;
        if (line == std::string::npos && m_begins_inside_line) return;
        if (before.find_first_not_of(" \t", begin) != std::string::npos) return;
        size_t after = m_text.find_first_not_of(" \t", tag.end);
        if (after == std::string_view::npos)
            after = m_text.size();
        else if (m_text.substr(after).starts_with("\r\n"))
            after += 2;
        else if (m_text[after] == '\n')
            after += 1;
        else
            return;
        before.resize(begin);
        tag.end = after;
    }

    Result<std::vector<TemplateNode>> parse_until(const std::string& section, size_t depth) {
        if (depth > deepest_section) return invalid("template: sections are nested too deeply");
        std::vector<TemplateNode> nodes;
        for (;;) {
            const size_t begin = m_text.find("{{", m_at);
            std::string before(m_text.substr(m_at, begin == std::string_view::npos ? begin : begin - m_at));
            if (begin == std::string_view::npos) {
                if (!section.empty())
                    return invalid("template: section " + template_excerpt(section) + " is not closed");
                if (!before.empty()) nodes.push_back({TemplateNode::Kind::text, std::move(before)});
                m_at = m_text.size();
                return nodes;
            }
            Tag tag = TRY(read_tag(begin));
            if (tag.kind != 0) drop_own_line(tag, before);
            if (!before.empty()) nodes.push_back({TemplateNode::Kind::text, std::move(before)});
            m_at = tag.end;
            m_begins_inside_line = tag.end == 0 || m_text[tag.end - 1] != '\n';
            if (tag.kind == '!') continue;
            if (tag.kind == '/') {
                if (tag.name != section)
                    return invalid("template: {{/" + template_excerpt(tag.name) +
                                   "}} closes a section that is not open");
                return nodes;
            }
            if (tag.kind == 0) {
                nodes.push_back({TemplateNode::Kind::variable, tag.name});
                continue;
            }
            TemplateNode node{tag.kind == '#' ? TemplateNode::Kind::section : TemplateNode::Kind::inverted, tag.name};
            node.children = TRY(parse_until(tag.name, depth + 1));
            nodes.push_back(std::move(node));
        }
    }

    const std::string_view m_text;
    size_t m_at = 0;
    bool m_begins_inside_line = false; // what follows m_at is not the begin of a line
};

class MustacheRenderer {
public:
    explicit MustacheRenderer(const json::Object& variables) : m_variables(variables) {}

    Result<std::string> render(const std::vector<TemplateNode>& nodes) {
        TRY(render_all(nodes));
        TRY(check_missing(m_missing));
        return std::move(m_out);
    }

private:
    static const json::Value* in_value(const json::Value& value, std::string_view name) {
        if (value.is_object()) return value.get_object().if_contains(name);
        if (value.is_array()) {
            const auto index = parse_integer(name);
            if (index.ok() && index.value() >= 0 && static_cast<size_t>(index.value()) < value.get_array().size())
                return &value.get_array()[static_cast<size_t>(index.value())];
        }
        return nullptr;
    }

    // A whole key first, then the parts of a dotted name; inner contexts before outer ones.
    const json::Value* find(const std::string& name) const {
        if (name == ".") return m_contexts.empty() ? nullptr : m_contexts.back();
        const auto find_first = [&](std::string_view key) -> const json::Value* {
            for (auto context = m_contexts.rbegin(); context != m_contexts.rend(); ++context)
                if (const json::Value* found = in_value(**context, key)) return found;
            return m_variables.if_contains(key);
        };
        if (const json::Value* whole = find_first(name)) return whole;
        const json::Value* found = nullptr;
        for (size_t at = 0; at <= name.size();) {
            const size_t dot = std::min(name.find('.', at), name.size());
            const std::string_view part = std::string_view(name).substr(at, dot - at);
            found = at == 0 ? find_first(part) : in_value(*found, part);
            if (found == nullptr) return nullptr;
            at = dot + 1;
        }
        return found;
    }

    static bool is_true(const json::Value& value) {
        if (value.is_null()) return false;
        if (value.is_bool()) return value.get_bool();
        if (value.is_array()) return !value.get_array().empty();
        if (value.is_object()) return !value.get_object().empty();
        if (value.is_string()) return !value.get_string().empty();
        return value.to_number<double>() != 0;
    }

    Result<> render_all(const std::vector<TemplateNode>& nodes) {
        for (const TemplateNode& node : nodes) {
            if (m_out.size() > largest_rendered || ++m_steps > most_steps)
                return too_large(fmt::format("the rendered template has more than {} MiB", largest_rendered >> 20));
            if (node.kind == TemplateNode::Kind::text) {
                m_out += node.text;
                continue;
            }
            const json::Value* found = find(node.text);
            if (node.kind == TemplateNode::Kind::variable) {
                if (found == nullptr || found->is_null())
                    m_missing.insert(template_excerpt(node.text));
                else
                    m_out += template_text(*found);
                continue;
            }
            // Items of a list may lack what others have; the variables themselves may not.
            if (found == nullptr && m_contexts.empty()) {
                m_missing.insert(template_excerpt(node.text));
                continue;
            }
            const bool is_set = found != nullptr && is_true(*found);
            if (node.kind == TemplateNode::Kind::inverted) {
                if (!is_set) TRY(render_all(node.children));
                continue;
            }
            if (!is_set) continue;
            if (!found->is_array()) {
                TRY(render_in(*found, node.children));
                continue;
            }
            for (const json::Value& item : found->get_array()) TRY(render_in(item, node.children));
        }
        return {};
    }

    Result<> render_in(const json::Value& context, const std::vector<TemplateNode>& nodes) {
        m_contexts.push_back(&context);
        TRY(render_all(nodes));
        m_contexts.pop_back();
        return {};
    }

    static constexpr size_t most_steps = 1'000'000;
    const json::Object& m_variables;
    std::vector<const json::Value*> m_contexts;
    std::set<std::string> m_missing;
    std::string m_out;
    size_t m_steps = 0;
};

// --- f-string ------------------------------------------------------------------------------------------------------

struct FStringPiece {
    std::string text;
    bool is_name = false;
};

Result<std::vector<FStringPiece>> parse_f_string(std::string_view text) {
    std::vector<FStringPiece> pieces;
    std::string plain;
    for (size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c != '{' && c != '}') {
            const size_t next = std::min(text.find_first_of("{}", at), text.size());
            plain += text.substr(at, next - at);
            at = next;
            continue;
        }
        if (at + 1 < text.size() && text[at + 1] == c) {
            plain += c;
            at += 2;
            continue;
        }
        if (c == '}') return invalid("template: a single } is not closed by another one; write }} for a brace");
        const size_t end = text.find_first_of("{}", at + 1);
        if (end == std::string_view::npos || text[end] == '{')
            return invalid("template: { is not closed at \"" + template_excerpt(text.substr(at)) +
                           "\"; write {{ for a brace");
        const std::string_view name = text.substr(at + 1, end - at - 1);
        if (name.empty() || name.find_first_of("!:[]. \t\r\n\"'") != std::string_view::npos)
            return invalid("template: {" + template_excerpt(name) +
                           "} is not the name of a variable; formats and paths are not available, and a brace is "
                           "written twice");
        if (!plain.empty()) pieces.push_back({std::exchange(plain, {})});
        pieces.push_back({std::string(name), true});
        at = end + 1;
    }
    if (!plain.empty()) pieces.push_back({std::move(plain)});
    return pieces;
}

Result<std::string> render_f_string(std::string_view text, const json::Object& variables) {
    std::string out;
    std::set<std::string> missing;
    for (const FStringPiece& piece : TRY(parse_f_string(text))) {
        if (!piece.is_name) {
            out += piece.text;
            continue;
        }
        const json::Value* found = variables.if_contains(piece.text);
        if (found == nullptr || found->is_null())
            missing.insert(template_excerpt(piece.text));
        else
            out += template_text(*found);
        if (out.size() > largest_rendered)
            return too_large(fmt::format("the rendered template has more than {} MiB", largest_rendered >> 20));
    }
    TRY(check_missing(missing));
    return out;
}

} // namespace

Result<std::string> render_template(TemplateFormat format, std::string_view text, const json::Object& variables) {
    switch (format) {
    case TemplateFormat::none:
        return std::string(text);
    case TemplateFormat::f_string:
        return render_f_string(text, variables);
    case TemplateFormat::mustache:
        break;
    }
    const auto nodes = TRY(MustacheParser(text).parse());
    return MustacheRenderer(variables).render(nodes);
}

Result<> check_template(TemplateFormat format, std::string_view text) {
    if (format == TemplateFormat::mustache) TRY(MustacheParser(text).parse());
    if (format == TemplateFormat::f_string) TRY(parse_f_string(text));
    return {};
}

} // namespace hone::evaluate
