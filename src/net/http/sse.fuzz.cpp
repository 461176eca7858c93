// The event parser: the same events however the bytes are cut; and what we write is read back.
#include "net/http/sse.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace hone;
using namespace hone::net;

namespace {

std::string read(std::string_view bytes, size_t step) {
    EventParser parser(1 << 16);
    std::string seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
        const auto fed = parser.feed(bytes.substr(at, step), [&](ServerEvent&& event) -> Result<> {
            seen += event.event + '\x01' + event.id + '\x01' + event.data + '\x02';
            return {};
        });
        if (!fed.ok()) break;
    }
    return seen + parser.last_id();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    if (bytes.size() < (1 << 15) && read(bytes, 1 + data[0] % 16) != read(bytes, bytes.size() + 1)) std::abort();
    // Round trip: lines may be ended in three ways, but none is lost.
    std::string expected;
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') continue;
        expected += bytes[i] == '\r' ? '\n' : bytes[i];
    }
    EventParser parser(1 << 24);
    size_t events = 0;
    const auto fed = parser.feed(format_event("name", "7", bytes), [&](ServerEvent&& event) -> Result<> {
        ++events;
        if (event.data != expected || event.id != "7" || event.event != "name") std::abort();
        return {};
    });
    if (!fed.ok() || events != 1) std::abort();
    return 0;
}
