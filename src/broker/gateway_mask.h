// Blanks a secret out of an answer while it passes: a provider, or something in front of it, may repeat the key it was
// sent. The text keeps its length, so that the framing stays true. Bytes are held back only while they could be the
// beginning of the secret. One body, one thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::broker {

class SecretMask {
public:
    // `secret` must outlive the mask. Short ones are not masked: they would match by chance.
    explicit SecretMask(std::string_view secret) : m_secret(secret.size() < shortest ? std::string_view() : secret) {}

    // Appends what may go on to `out`.
    void feed(std::string_view bytes, std::string& out);
    void finish(std::string& out);
    // For a text that is whole.
    void mask_all(std::string& text) const;

    static constexpr size_t shortest = 8;

private:
    size_t possible_start(std::string_view text) const;

    std::string_view m_secret;
    std::string m_held; // a proper prefix of the secret, so worth wiping no more than what a guess is worth
};

} // namespace hone::broker
