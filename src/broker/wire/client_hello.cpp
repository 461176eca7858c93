#include "broker/wire/client_hello.h"

#include "base/text.h"

#include <cstdint>

namespace hone::broker {

namespace {

// Takes numbers and blocks from the front; an error sticks.
class Reader {
public:
    explicit Reader(std::string_view bytes) : m_bytes(bytes) {}
    bool ok() const { return m_ok; }
    bool at_end() const { return m_bytes.empty(); }
    size_t number(size_t size) {
        size_t value = 0;
        for (const char c : block(size)) value = value << 8 | static_cast<unsigned char>(c);
        return value;
    }
    std::string_view block(size_t size) {
        if (size > m_bytes.size()) {
            m_ok = false;
            m_bytes = {};
            return {};
        }
        const std::string_view taken = m_bytes.substr(0, size);
        m_bytes.remove_prefix(size);
        return taken;
    }
    // A block that has its length before it.
    std::string_view counted(size_t size) { return block(number(size)); }

private:
    std::string_view m_bytes;
    bool m_ok = true;
};

constexpr size_t handshake_record = 22;
constexpr size_t client_hello_message = 1;
constexpr size_t server_name_extension = 0;
constexpr size_t encrypted_hello_extension = 0xfe0d;

bool read_server_name(std::string_view body, ClientHello& hello) {
    Reader reader(body);
    Reader list(reader.counted(2));
    if (!reader.ok() || !reader.at_end()) return false;
    const size_t kind = list.number(1);
    const std::string_view name = list.counted(2);
    // One name of the one kind there is; anything else could be read in two ways.
    if (!list.ok() || !list.at_end() || kind != 0 || name.empty() || !is_printable_ascii(name)) return false;
    hello.server_name = lowercase_ascii(name);
    return true;
}

bool read_extensions(Reader& reader, ClientHello& hello) {
    bool named = false;
    while (!reader.at_end()) {
        const size_t kind = reader.number(2);
        const std::string_view body = reader.counted(2);
        if (!reader.ok()) return false;
        if (kind == server_name_extension) {
            if (named || !read_server_name(body, hello)) return false;
            named = true;
        }
        hello.hides_its_name |= kind == encrypted_hello_extension;
    }
    return true;
}

bool read_hello(std::string_view message, ClientHello& hello) {
    Reader reader(message);
    reader.block(2 + 32); // version, random
    reader.counted(1);    // session id
    reader.counted(2);    // cipher suites
    reader.counted(1);    // compression
    if (!reader.ok()) return false;
    if (reader.at_end()) return true;
    Reader extensions(reader.counted(2));
    return reader.ok() && reader.at_end() && read_extensions(extensions, hello) && extensions.ok();
}

} // namespace

HelloState parse_client_hello(std::string_view bytes, ClientHello& hello) {
    std::string message; // may be spread over several records
    std::string_view rest = bytes;
    for (;;) {
        if (message.size() >= 4) {
            Reader header(message);
            if (header.number(1) != client_hello_message) return HelloState::bad;
            const size_t size = header.number(3);
            if (size > largest_client_hello) return HelloState::bad;
            if (message.size() >= 4 + size) {
                if (message.size() > 4 + size) return HelloState::bad; // nothing may follow before the response
                hello = {};
                return read_hello(std::string_view(message).substr(4), hello) ? HelloState::complete : HelloState::bad;
            }
        }
        Reader record(rest);
        if (!rest.empty() && static_cast<unsigned char>(rest[0]) != handshake_record) return HelloState::bad;
        if (rest.size() > 1 && rest[1] != 3) return HelloState::bad;
        if (rest.size() < 5) return bytes.size() > largest_client_hello ? HelloState::bad : HelloState::more;
        record.block(3);
        const size_t size = record.number(2);
        if (size == 0 || size > (16 << 10)) return HelloState::bad;
        const std::string_view body = record.block(size);
        if (!record.ok()) return bytes.size() > largest_client_hello ? HelloState::bad : HelloState::more;
        message += body;
        rest.remove_prefix(5 + size);
    }
}

} // namespace hone::broker
