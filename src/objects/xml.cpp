#include "objects/xml.h"

#include "base/text.h"

#include <algorithm>
#include <optional>

namespace hone::objects {

namespace {

constexpr int deepest = 8;
constexpr size_t most_elements = 50'000; // a page of 1000 objects has about 6000
constexpr size_t longest_name = 64;

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
}

bool is_xml_character(uint32_t c) {
    return c == 9 || c == 10 || c == 13 || (c >= 0x20 && c < 0xd800) || (c >= 0xe000 && c <= 0x10ffff);
}

std::string utf8_of(uint32_t c) {
    std::string bytes;
    const auto add = [&](uint32_t byte) { bytes += static_cast<char>(byte); };
    if (c < 0x80) {
        add(c);
    } else if (c < 0x800) {
        add(0xc0 | c >> 6);
        add(0x80 | (c & 63));
    } else if (c < 0x10000) {
        add(0xe0 | c >> 12);
        add(0x80 | (c >> 6 & 63));
        add(0x80 | (c & 63));
    } else {
        add(0xf0 | c >> 18);
        add(0x80 | (c >> 12 & 63));
        add(0x80 | (c >> 6 & 63));
        add(0x80 | (c & 63));
    }
    return bytes;
}

// "#65", "#x41" -> the character.
std::optional<std::string> numbered_character(std::string_view reference) {
    const bool is_hex = reference.size() > 1 && reference[1] == 'x';
    const std::string_view digits = reference.substr(is_hex ? 2 : 1);
    if (digits.empty() || digits.size() > 7) return std::nullopt;
    uint32_t value = 0;
    for (const char c : digits) {
        const bool is_digit = c >= '0' && c <= '9';
        const char lower = static_cast<char>(c | 0x20);
        if (!is_digit && !(is_hex && lower >= 'a' && lower <= 'f')) return std::nullopt;
        value = value * (is_hex ? 16 : 10) + static_cast<uint32_t>(is_digit ? c - '0' : lower - 'a' + 10);
    }
    if (!is_xml_character(value)) return std::nullopt;
    return utf8_of(value);
}

class XmlReader {
public:
    explicit XmlReader(std::string_view text) : m_text(text) {}

    Result<XmlElement> read() {
        if (m_text.starts_with("\xef\xbb\xbf")) m_at = 3;
        if (rest().starts_with("<?xml") && rest().size() > 5 && is_space(rest()[5])) {
            const size_t end = m_text.find("?>", m_at);
            if (end == std::string_view::npos) return bad("its declaration does not end");
            if (m_text.substr(m_at, end - m_at).find('<', 1) != std::string_view::npos)
                return bad("its declaration is malformed");
            m_at = end + 2;
        }
        skip_space();
        XmlElement root = TRY(element(1));
        skip_space();
        if (m_at != m_text.size()) return bad("there is more after its end");
        return root;
    }

private:
    std::string_view rest() const { return m_text.substr(m_at); }
    bool is_next(char c) const { return m_at < m_text.size() && m_text[m_at] == c; }
    void skip_space() {
        while (m_at < m_text.size() && is_space(m_text[m_at])) ++m_at;
    }
    bool take(std::string_view expected) {
        if (!rest().starts_with(expected)) return false;
        m_at += expected.size();
        return true;
    }
    static Error bad(const std::string& why) { return unavailable("malformed XML: " + why); }

    Result<std::string> name() {
        const size_t begin = m_at;
        while (m_at < m_text.size() && is_name_character(m_text[m_at])) ++m_at;
        if (m_at == begin || m_at - begin > longest_name) return bad("a name is missing or too long");
        return std::string(m_text.substr(begin, m_at - begin));
    }

    // Attributes are read past: S3 uses them for namespaces only. True: the element has no content (<a/>).
    Result<bool> finish_tag() {
        for (;;) {
            const bool had_space = m_at < m_text.size() && is_space(m_text[m_at]);
            skip_space();
            if (take("/>")) return true;
            if (take(">")) return false;
            if (!had_space) return bad("a tag does not end");
            TRY(name());
            skip_space();
            if (!take("=")) return bad("an attribute has no value");
            skip_space();
            const char quote = is_next('"') ? '"' : '\'';
            if (!is_next(quote)) return bad("an attribute has no quotes");
            const size_t end = m_text.find(quote, m_at + 1);
            if (end == std::string_view::npos) return bad("an attribute does not end");
            if (m_text.substr(m_at, end - m_at).find('<') != std::string_view::npos)
                return bad("an attribute is malformed");
            m_at = end + 1;
        }
    }

    Result<std::string> reference() {
        const size_t end = m_text.find(';', m_at);
        if (end == std::string_view::npos || end - m_at > 10) return bad("an entity does not end");
        const std::string_view named = m_text.substr(m_at + 1, end - m_at - 1);
        m_at = end + 1;
        if (named == "lt") return std::string("<");
        if (named == "gt") return std::string(">");
        if (named == "amp") return std::string("&");
        if (named == "quot") return std::string("\"");
        if (named == "apos") return std::string("'");
        if (named.starts_with('#'))
            if (auto character = numbered_character(named)) return std::move(*character);
        return bad("an unknown entity");
    }

    Result<XmlElement> element(int depth) {
        if (depth > deepest) return bad("elements are nested too deeply");
        if (++m_elements > most_elements) return bad("too many elements");
        if (!take("<")) return bad("an element is missing");
        XmlElement made;
        const std::string full_name = TRY(name());
        made.name = full_name.substr(full_name.rfind(':') + 1); // npos + 1 is 0
        if (TRY(finish_tag())) return made;
        while (!rest().starts_with("</")) {
            if (m_at == m_text.size()) return bad("an element does not end");
            if (is_next('<')) {
                made.children.push_back(TRY(element(depth + 1)));
            } else if (is_next('&')) {
                made.text += TRY(reference());
            } else {
                const size_t end = std::min(m_text.find_first_of("<&", m_at), m_text.size());
                made.text += m_text.substr(m_at, end - m_at);
                m_at = end;
            }
        }
        m_at += 2;
        if (TRY(name()) != full_name) return bad("an element ends with another name");
        skip_space();
        if (!take(">")) return bad("a tag does not end");
        if (made.children.empty()) return made;
        if (!trim(made.text).empty()) return bad("text and elements are mixed");
        made.text.clear();
        return made;
    }

    std::string_view m_text;
    size_t m_at = 0;
    size_t m_elements = 0;
};

} // namespace

const XmlElement* XmlElement::find(std::string_view child) const {
    const auto found =
        std::find_if(children.begin(), children.end(), [&](const XmlElement& one) { return one.name == child; });
    return found == children.end() ? nullptr : &*found;
}

std::string_view XmlElement::text_of(std::string_view child) const {
    const XmlElement* found = find(child);
    return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Result<XmlElement> parse_xml(std::string_view text) {
    if (!is_valid_utf8(text)) return unavailable("malformed XML: it is not UTF-8");
    for (const char c : text)
        if (!is_xml_character(static_cast<unsigned char>(c)))
            return unavailable("malformed XML: it has control characters");
    return XmlReader(text).read();
}

std::string escape_xml(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '<')
            escaped += "&lt;";
        else if (c == '>')
            escaped += "&gt;";
        else if (c == '&')
            escaped += "&amp;";
        else if (c == '"')
            escaped += "&quot;";
        else
            escaped += c;
    }
    return escaped;
}

} // namespace hone::objects
