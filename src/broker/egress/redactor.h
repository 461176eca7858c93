// Finds secrets in a stream of bytes and blanks them out, also when they come in pieces: what a server reflects must
// not reach the sandbox. The text keeps its length, so that framing stays true. Knows each secret in all the spellings
// of `spellings_of`. A Redactor is shared by connections, any thread; a RedactedStream is one body's.
#pragma once

#include "crypto/secret_bytes.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

// A secret as it is, and as base64 (three alignments, both alphabets), hex, URL-encoded, JSON- and HTML-escaped text.
// None for secrets under 6 bytes: they would match by chance. The caller wipes them.
std::vector<std::string> spellings_of(std::string_view secret);

// Two stages. Text that holds no secret is skipped over in steps of nearly the shortest spelling's length (Wu and
// Manber); only where the first bytes of a spelling may stand, an automaton of all spellings (Aho and Corasick) reads
// at each byte.
class Redactor {
public:
    explicit Redactor(std::span<const std::string_view> secrets);
    ~Redactor(); // wipes: the tables spell the secrets
    Redactor(const Redactor&) = delete;
    Redactor& operator=(const Redactor&) = delete;

    bool empty() const { return m_nodes.size() <= 1; }
    // For a text that is whole; true when something was found.
    bool redact(std::string& text) const;

private:
    friend class RedactedStream;
    struct Node {
        uint32_t fallback = 0; // the next node when the next byte does not match
        uint32_t child = 0;    // 0: none
        uint32_t sibling = 0;
        uint32_t depth = 0; // bytes matched so far, which is what must be buffered
        uint32_t found = 0; // length of the longest spelling that ends here; 0: none
        unsigned char byte = 0;
    };
    static constexpr size_t block = 4; // bytes that one look of the first stage takes
    static constexpr size_t slots = 4096;

    void add(std::string_view spelling);
    void complete();
    void fill_tables(std::span<const std::string> spellings);
    uint32_t child(uint32_t node, unsigned char byte) const;
    uint32_t step(uint32_t node, unsigned char byte) const;
    // The first place at or after `at` where a spelling may begin, or else the first that is too near the end to
    // decide.
    size_t skip(std::string_view text, size_t at) const;

    std::vector<Node> m_nodes;                   // [0] is the start
    std::array<uint32_t, 256> m_first{};         // the start's children
    size_t m_window = 0;                         // bytes of a spelling that the first stage knows
    std::array<unsigned char, slots> m_shift{};  // by the last block of a window: how far the next one can be
    std::array<unsigned char, slots> m_begins{}; // whether a spelling begins with such a block
};

// Blanks one stream. Call order: feed* finish.
class RedactedStream {
public:
    explicit RedactedStream(const Redactor& redactor) : m_redactor(redactor) {}
    // Turns the next piece, in place, into what can be given on: what was buffered before and is none after all comes
    // to its front, and its end is buffered if that could be the beginning of a secret.
    void feed(std::string& piece);
    // The stream has ended: appends what was buffered. A beginning of a secret that is longer than a few bytes is
    // blanked as well.
    void finish(std::string& out);
    bool has_found() const { return m_found; }

private:
    const Redactor& m_redactor;
    std::string m_held;
    uint32_t m_node = 0;
    bool m_found = false;
};

} // namespace hone::broker
