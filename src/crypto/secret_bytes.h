// A secret value in memory: locked (never swapped), left out of core dumps, wiped when it goes. It cannot be copied,
// compared, printed, logged or turned into JSON; `reveal` is the one way in, easy to find in a review. One owner.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace hone::crypto {

class SecretBytes {
public:
    SecretBytes() = default;
    // Copies the bytes in; the caller wipes its own copy (see `take`).
    explicit SecretBytes(std::string_view bytes);
    // Copies the bytes in and wipes the text they came from.
    static SecretBytes take(std::string& text);
    // `size` zero bytes, to be filled in place through `writable`.
    static SecretBytes zeros(std::size_t size);
    SecretBytes(SecretBytes&& other) noexcept;
    SecretBytes& operator=(SecretBytes&& other) noexcept;
    SecretBytes(const SecretBytes&) = delete;
    SecretBytes& operator=(const SecretBytes&) = delete;
    ~SecretBytes();

    std::size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    // The plain value, valid as long as this object. Never keep it, never copy it into a std::string that outlives
    // the call.
    std::string_view reveal() const { return {m_bytes, m_size}; }
    unsigned char* writable() { return reinterpret_cast<unsigned char*>(m_bytes); }

    bool operator==(const SecretBytes&) const = delete;
    operator std::string() const = delete;
    operator std::string_view() const = delete;
    friend std::ostream& operator<<(std::ostream&, const SecretBytes&) = delete;

private:
    char* m_bytes = nullptr; // sodium_malloc: guard pages around, mlock and MADV_DONTDUMP on
    std::size_t m_size = 0;
};

// Overwrites the text's bytes, then empties it.
void wipe(std::string& text);

} // namespace hone::crypto
