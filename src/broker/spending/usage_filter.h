// Removes the one event of a chat stream that is only there because the gateway requested token counts: the client,
// which did not ask, would not know what to do with a chunk without choices. All other bytes pass unchanged; only an
// event that is not complete yet is buffered. One stream, one thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::broker {

class UsageChunkFilter {
public:
    // Appends to `out` what is forwarded.
    void feed(std::string_view bytes, std::string& out);
    // The stream has ended: the rest is forwarded unchanged.
    void finish(std::string& out);

    static constexpr size_t hold_limit = 1 << 20; // a longer event is no usage chunk

private:
    std::string m_held;
    bool m_passing = false; // inside an event that is too long to hold
};

} // namespace hone::broker
