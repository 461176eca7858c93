#include "broker/redactor.h"

#include "base/text.h"

#include <algorithm>
#include <queue>

namespace hone::broker {

namespace {

constexpr size_t shortest = 6;
constexpr size_t telling = 8;        // a cut-off beginning of this many bytes tells something
constexpr size_t most_nodes = 60000; // 16 bit indexes; about 100 secrets of usual size

// The part of the base64 text that is the same whatever stands around the secret, for each alignment.
std::vector<std::string> base64_forms(std::string_view secret) {
    std::vector<std::string> forms;
    for (size_t offset = 0; offset < 3; ++offset) {
        std::string padded = std::string(offset, '\0') + std::string(secret);
        const std::string text = to_base64(padded);
        const size_t first = offset == 0 ? 0 : offset + 1; // letters that mix with what stands before
        const size_t last = padded.size() * 8 / 6;         // whole letters only
        if (last > first + shortest) forms.push_back(text.substr(first, last - first));
        crypto::wipe(padded);
    }
    return forms;
}

std::string to_url_safe(std::string text) {
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

std::string escape_slashes(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '/' ? std::string("\\/") : std::string(1, c);
    return escaped;
}

std::vector<std::string> forms_of(std::string_view secret) {
    std::vector<std::string> forms{std::string(secret)};
    for (std::string& form : base64_forms(secret)) {
        forms.push_back(to_url_safe(form));
        forms.push_back(std::move(form));
    }
    forms.push_back(to_hex(secret));
    forms.push_back(to_hex(secret));
    for (char& c : forms.back())
        if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
    forms.push_back(percent_encode(secret));
    std::string quoted = quote_json(secret);
    forms.push_back(quoted.substr(1, quoted.size() - 2));
    crypto::wipe(quoted);
    forms.push_back(escape_slashes(secret));
    std::sort(forms.begin(), forms.end());
    forms.erase(std::unique(forms.begin(), forms.end()), forms.end());
    return forms;
}

} // namespace

Redactor::Redactor(std::span<const std::string_view> secrets) : m_nodes(1) {
    for (const std::string_view secret : secrets) {
        if (secret.size() < shortest) continue;
        for (std::string& form : forms_of(secret)) {
            if (m_nodes.size() + form.size() < most_nodes) add(form);
            crypto::wipe(form);
        }
    }
    complete();
}

Redactor::~Redactor() {
    for (Node& node : m_nodes) {
        volatile uint16_t* cells = node.next.data();
        for (size_t i = 0; i < node.next.size(); ++i) cells[i] = 0;
    }
}

void Redactor::add(std::string_view pattern) {
    // Growing would leave copies of the table behind that nobody wipes.
    if (m_nodes.capacity() < m_nodes.size() + pattern.size()) {
        std::vector<Node> grown;
        grown.reserve((m_nodes.size() + pattern.size()) * 2);
        grown = m_nodes;
        for (Node& node : m_nodes) {
            volatile uint16_t* cells = node.next.data();
            for (size_t i = 0; i < node.next.size(); ++i) cells[i] = 0;
        }
        m_nodes.swap(grown);
    }
    uint16_t node = 0;
    for (const char c : pattern) {
        const auto byte = static_cast<unsigned char>(c);
        if (m_nodes[node].next[byte] == 0) {
            Node child;
            child.depth = static_cast<uint16_t>(m_nodes[node].depth + 1);
            m_nodes[node].next[byte] = static_cast<uint16_t>(m_nodes.size());
            m_nodes.push_back(child);
        }
        node = m_nodes[node].next[byte];
    }
    m_nodes[node].found = static_cast<uint16_t>(pattern.size());
}

// Aho and Corasick: where to go on when the next byte does not fit.
void Redactor::complete() {
    std::vector<uint16_t> fallback(m_nodes.size(), 0);
    std::queue<uint16_t> waiting;
    for (const uint16_t child : m_nodes[0].next)
        if (child != 0) waiting.push(child);
    while (!waiting.empty()) {
        const uint16_t index = waiting.front();
        waiting.pop();
        Node& node = m_nodes[index];
        const Node& behind = m_nodes[fallback[index]];
        node.found = std::max(node.found, behind.found);
        for (size_t byte = 0; byte < 256; ++byte) {
            if (node.next[byte] == 0) {
                node.next[byte] = behind.next[byte];
            } else {
                fallback[node.next[byte]] = behind.next[byte];
                waiting.push(node.next[byte]);
            }
        }
    }
}

bool Redactor::redact(std::string& text) const {
    if (empty()) return false;
    RedactedStream stream(*this);
    std::string out;
    stream.feed(text, out);
    stream.finish(out);
    text = std::move(out);
    return stream.has_found();
}

void RedactedStream::feed(std::string_view bytes, std::string& out) {
    if (m_redactor.empty()) {
        out += bytes;
        return;
    }
    const size_t start = out.size();
    out += m_held;
    size_t at = out.size();
    out += bytes;
    const Redactor::Node* const nodes = m_redactor.m_nodes.data();
    uint16_t node = m_node;
    for (; at < out.size(); ++at) {
        node = nodes[node].next[static_cast<unsigned char>(out[at])];
        if (const size_t found = nodes[node].found; found > 0) [[unlikely]] {
            // All of it is here: whatever could become a secret was held back.
            std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at + 1 - found), found, '*');
            m_found = true;
        }
    }
    m_node = node;
    const size_t hold = std::min<size_t>(nodes[node].depth, out.size() - start);
    m_held.assign(out, out.size() - hold, hold);
    out.resize(out.size() - hold);
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
