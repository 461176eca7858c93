#include "broker/egress/redactor.h"

#include "base/text.h"

#include <algorithm>
#include <cstring>

namespace hone::broker {

namespace {

constexpr size_t shortest = 6;
constexpr size_t telling = 8; // a truncated secret of this many bytes reveals something
constexpr size_t widest_window = 200;

// The part of the base64 text that is the same whatever stands around the secret, for each alignment.
void add_base64(std::string_view secret, std::vector<std::string>& spellings) {
    for (size_t offset = 0; offset < 3; ++offset) {
        std::string padded;
        padded.reserve(offset + secret.size());
        padded.append(offset, '\0').append(secret);
        const size_t first = offset == 0 ? 0 : offset + 1; // letters that mix with what stands before
        const size_t last = padded.size() * 8 / 6;         // whole letters only
        for (std::string text : {to_base64(padded), to_base64url(padded)}) {
            if (last > first + shortest) spellings.push_back(text.substr(first, last - first));
            crypto::wipe(text);
        }
        crypto::wipe(padded);
    }
}

void make_upper(std::string& text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
}

// Lower-case letters after each percent sign: both are in use.
void make_lower_escapes(std::string& text) {
    for (size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += 3)
        for (size_t i = at + 1; i < at + 3 && i < text.size(); ++i)
            if (text[i] >= 'A' && text[i] <= 'F') text[i] = static_cast<char>(text[i] - 'A' + 'a');
}

std::string escape_slashes(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size() * 2);
    for (const char c : text) {
        if (c == '/') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string escape_html(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size() * 6);
    for (const char c : text) {
        if (c == '&')
            escaped += "&amp;";
        else if (c == '<')
            escaped += "&lt;";
        else if (c == '>')
            escaped += "&gt;";
        else if (c == '"')
            escaped += "&quot;";
        else if (c == '\'')
            escaped += "&#39;";
        else
            escaped += c;
    }
    return escaped;
}

template <class Table>
void wipe_table(Table& table) {
    volatile auto* cells = reinterpret_cast<volatile unsigned char*>(table.data());
    for (size_t i = 0; i < table.size() * sizeof(table[0]); ++i) cells[i] = 0;
}

size_t slot_of(const char* bytes) {
    uint32_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return (value * 0x9E3779B1u) >> 20;
}

} // namespace

std::vector<std::string> spellings_of(std::string_view secret) {
    std::vector<std::string> spellings;
    if (secret.size() < shortest) return spellings;
    spellings.reserve(20);
    spellings.emplace_back(secret);
    add_base64(secret, spellings);
    spellings.push_back(to_hex(secret));
    spellings.push_back(to_hex(secret));
    make_upper(spellings.back());
    spellings.push_back(percent_encode(secret));
    spellings.push_back(percent_encode(secret));
    make_lower_escapes(spellings.back());
    std::string quoted = quote_json(secret);
    spellings.push_back(quoted.substr(1, quoted.size() - 2));
    spellings.push_back(escape_slashes(spellings.back()));
    crypto::wipe(quoted);
    spellings.push_back(escape_html(secret));
    std::sort(spellings.begin(), spellings.end());
    for (size_t i = 1; i < spellings.size(); ++i)
        if (spellings[i] == spellings[i - 1]) crypto::wipe(spellings[i - 1]);
    std::erase(spellings, std::string());
    return spellings;
}

Redactor::Redactor(std::span<const std::string_view> secrets) {
    std::vector<std::string> spellings;
    size_t bytes = 1;
    for (const std::string_view secret : secrets)
        for (std::string& spelling : spellings_of(secret)) {
            bytes += spelling.size();
            spellings.push_back(std::move(spelling));
        }
    m_nodes.reserve(bytes); // growing would leave copies of the table that are not wiped
    m_nodes.emplace_back();
    for (const std::string& spelling : spellings) add(spelling);
    complete();
    fill_tables(spellings);
    for (std::string& spelling : spellings) crypto::wipe(spelling);
}

Redactor::~Redactor() {
    wipe_table(m_nodes);
    wipe_table(m_first);
    wipe_table(m_shift);
    wipe_table(m_begins);
}

uint32_t Redactor::child(uint32_t node, unsigned char byte) const {
    if (node == 0) return m_first[byte];
    uint32_t found = m_nodes[node].child;
    while (found != 0 && m_nodes[found].byte != byte) found = m_nodes[found].sibling;
    return found;
}

uint32_t Redactor::step(uint32_t node, unsigned char byte) const {
    for (;; node = m_nodes[node].fallback) {
        const uint32_t next = child(node, byte);
        if (next != 0 || node == 0) return next;
    }
}

void Redactor::add(std::string_view spelling) {
    uint32_t node = 0;
    for (const char c : spelling) {
        const auto byte = static_cast<unsigned char>(c);
        uint32_t next = child(node, byte);
        if (next == 0) {
            next = static_cast<uint32_t>(m_nodes.size());
            Node made;
            made.byte = byte;
            made.depth = m_nodes[node].depth + 1;
            made.sibling = std::exchange(m_nodes[node].child, next);
            m_nodes.push_back(made);
            if (node == 0) m_first[byte] = next;
        }
        node = next;
    }
    m_nodes[node].found = static_cast<uint32_t>(spelling.size());
}

// Shallow nodes first: the place to fall back to is always less deep.
void Redactor::complete() {
    std::vector<uint32_t> waiting;
    waiting.reserve(m_nodes.size());
    for (uint32_t child = m_nodes[0].child; child != 0; child = m_nodes[child].sibling) waiting.push_back(child);
    for (size_t i = 0; i < waiting.size(); ++i) {
        const Node& parent = m_nodes[waiting[i]];
        for (uint32_t index = parent.child; index != 0; index = m_nodes[index].sibling) {
            Node& node = m_nodes[index];
            node.fallback = step(parent.fallback, node.byte);
            node.found = std::max(node.found, m_nodes[node.fallback].found);
            waiting.push_back(index);
        }
    }
}

void Redactor::fill_tables(std::span<const std::string> spellings) {
    m_window = widest_window;
    for (const std::string& spelling : spellings) m_window = std::min(m_window, spelling.size());
    const size_t farthest = m_window - block;
    m_shift.fill(static_cast<unsigned char>(farthest + 1));
    for (const std::string& spelling : spellings) {
        m_begins[slot_of(spelling.data())] = 1;
        for (size_t at = 0; at <= farthest; ++at) {
            unsigned char& shift = m_shift[slot_of(spelling.data() + at)];
            shift = std::min(shift, static_cast<unsigned char>(farthest - at));
        }
    }
}

size_t Redactor::skip(std::string_view text, size_t at) const {
    const size_t farthest = m_window - block;
    const char* const bytes = text.data();
    while (at + m_window <= text.size()) {
        const size_t shift = m_shift[slot_of(bytes + at + farthest)];
        if (shift == 0 && m_begins[slot_of(bytes + at)] != 0) return at;
        at += std::max<size_t>(shift, 1);
    }
    return at;
}

bool Redactor::redact(std::string& text) const {
    RedactedStream stream(*this);
    stream.feed(text);
    stream.finish(text);
    return stream.has_found();
}

void RedactedStream::feed(std::string& piece) {
    if (m_redactor.empty()) return;
    size_t at = m_held.size();
    if (at > 0) piece.insert(0, m_held);
    uint32_t node = m_node;
    while (at < piece.size()) {
        if (node == 0) {
            at = m_redactor.skip(piece, at);
            if (at >= piece.size()) break;
        }
        // At least one byte, then as long as this could become a secret.
        do {
            node = m_redactor.step(node, static_cast<unsigned char>(piece[at]));
            ++at;
            if (const size_t found = m_redactor.m_nodes[node].found; found > 0) [[unlikely]] {
                // All of it is here: whatever could become a secret was buffered.
                std::fill_n(piece.begin() + static_cast<std::ptrdiff_t>(at - found), found, '*');
                m_found = true;
            }
        } while (node != 0 && at < piece.size());
    }
    m_node = node;
    const size_t hold = m_redactor.m_nodes[node].depth;
    m_held.assign(piece, piece.size() - hold, hold);
    piece.resize(piece.size() - hold);
}

void RedactedStream::finish(std::string& out) {
    if (m_held.size() >= telling) {
        std::fill(m_held.begin(), m_held.end(), '*');
        m_found = true;
    }
    out += m_held;
    m_held.clear();
    m_node = 0;
}

} // namespace hone::broker
