#include "broker/spending/usage_filter.h"

#include "broker/spending/model_json.h"

#include <algorithm>
#include <cstring>

namespace hone::broker {

namespace {

constexpr size_t no_position = std::string_view::npos;

// The place after the empty line that ends the first event, looking from `from` on.
size_t end_of_event(std::string_view bytes, size_t from) {
    for (size_t at = from; (at = bytes.find('\n', at)) != no_position; ++at) {
        size_t next = at + 1;
        if (next < bytes.size() && bytes[next] == '\r') ++next;
        if (next < bytes.size() && bytes[next] == '\n') return next + 1;
    }
    return no_position;
}

bool is_usage_chunk(std::string_view event) {
    constexpr std::string_view key = "\"usage\"";
    if (!event.starts_with("data:") || ::memmem(event.data(), event.size(), key.data(), key.size()) == nullptr)
        return false;
    const std::string_view data = event.substr(skip_json_space(event, 5));
    const auto usage = member(data, "usage");
    const auto choices = member(data, "choices");
    return usage && usage->starts_with('{') && choices && choices->starts_with('[') &&
           skip_json_space(*choices, 1) == choices->size() - 1;
}

} // namespace

void UsageChunkFilter::feed(std::string_view bytes, std::string& out) {
    const size_t known = m_held.size();
    m_held += bytes;
    size_t begin = 0;
    size_t from = known > 2 ? known - 2 : 0; // the empty line may have begun before
    for (size_t end = 0; (end = end_of_event(m_held, from)) != no_position; begin = from = end) {
        const std::string_view event = std::string_view(m_held).substr(begin, end - begin);
        if (m_passing || !is_usage_chunk(event)) out += event;
        m_passing = false;
    }
    m_held.erase(0, begin);
    if (m_passing || m_held.size() > hold_limit) {
        // Two bytes stay, so that the end is still found when it comes in pieces.
        const size_t go = m_held.size() - std::min<size_t>(m_held.size(), 2);
        out.append(m_held, 0, go);
        m_held.erase(0, go);
        m_passing = true;
    }
}

void UsageChunkFilter::finish(std::string& out) {
    out += m_held;
    m_held.clear();
}

} // namespace hone::broker
