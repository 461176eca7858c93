// Little-endian numbers, varints and counted texts in byte strings: ClickHouse's RowBinary and our own frames. The
// reader is bounded: after the first fault it stays failed and returns zeros. Internal to telemetry/.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hone::telemetry {

inline void put_varint(std::string& out, uint64_t number) {
    while (number >= 0x80) {
        out.push_back(static_cast<char>(number | 0x80));
        number >>= 7;
    }
    out.push_back(static_cast<char>(number));
}

inline void put_text(std::string& out, std::string_view text) {
    put_varint(out, text.size());
    out += text;
}

template <class Number>
void put_number(std::string& out, Number number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

class BinaryReader {
public:
    explicit BinaryReader(std::string_view bytes) : m_bytes(bytes) {}

    bool failed() const { return m_failed; }
    bool at_end() const { return m_failed || m_bytes.empty(); }
    size_t left() const { return m_bytes.size(); }

    uint64_t varint() {
        uint64_t number = 0;
        for (int shift = 0; shift < 64 && !m_bytes.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_bytes.front());
            m_bytes.remove_prefix(1);
            number |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return number;
        }
        fail();
        return 0;
    }
    std::string_view bytes(uint64_t length) {
        if (length > m_bytes.size()) {
            fail();
            return {};
        }
        const std::string_view piece = m_bytes.substr(0, static_cast<size_t>(length));
        m_bytes.remove_prefix(piece.size());
        return piece;
    }
    std::string_view text() { return bytes(varint()); }
    template <class Number>
    Number number() {
        Number value{};
        const std::string_view piece = bytes(sizeof value);
        if (piece.size() == sizeof value) std::memcpy(&value, piece.data(), sizeof value);
        return value;
    }

private:
    void fail() {
        m_failed = true;
        m_bytes = {};
    }
    std::string_view m_bytes;
    bool m_failed = false;
};

} // namespace hone::telemetry
