// Finds secrets in a stream of bytes and blanks them out, also when they come in pieces: what a server reflects must
// not reach the sandbox. The text keeps its length, so that framing stays true. Knows each secret as it is and as
// base64, hex, URL-encoded and JSON-escaped text. A Redactor is shared by connections; a RedactedStream is one body's.
#pragma once

#include "crypto/secret_bytes.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

class Redactor {
public:
    // Secrets under 6 bytes are left alone: they would match by chance.
    explicit Redactor(std::span<const std::string_view> secrets);
    ~Redactor(); // wipes: the table spells the secrets
    Redactor(const Redactor&) = delete;
    Redactor& operator=(const Redactor&) = delete;

    bool empty() const { return m_nodes.size() <= 1; }
    // For a text that is whole; true when something was found.
    bool redact(std::string& text) const;

private:
    friend class RedactedStream;
    struct Node {
        std::array<uint16_t, 256> next{}; // complete: every byte leads somewhere
        uint16_t depth = 0;               // bytes matched so far, which is what must be held back
        uint16_t found = 0;               // length of the longest pattern that ends here; 0: none
    };
    void add(std::string_view pattern);
    void complete();

    std::vector<Node> m_nodes; // [0] is the start
};

// Blanks one stream. Call order: feed* finish.
class RedactedStream {
public:
    explicit RedactedStream(const Redactor& redactor) : m_redactor(redactor) {}
    // Appends to `out` everything that cannot be the beginning of a secret.
    void feed(std::string_view bytes, std::string& out);
    // The stream has ended. A beginning of a secret that is longer than a few bytes is blanked as well.
    void finish(std::string& out);
    bool has_found() const { return m_found; }

private:
    const Redactor& m_redactor;
    std::string m_held;
    uint16_t m_node = 0;
    bool m_found = false;
};

} // namespace hone::broker
