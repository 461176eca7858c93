// What both decoders do to every text, id and span: repair, cut, mark, check. Internal to otlp/.
#pragma once

#include "otlp/message.h"

#include <optional>
#include <string_view>

namespace hone::otlp {

// Collects what happened to the span being decoded.
struct Marks {
    std::vector<std::string_view> truncated;
    std::vector<std::string_view> dropped_keys;
};

// UTF-8 and at most `bytes` long. Cutting is marked under `key`.
std::string_view bounded_text(Batch& batch, std::string_view raw, size_t bytes, std::string_view key, Marks& marks);

// Adds the attribute unless its key or the list is over the limit; then it is counted as dropped.
void add_attribute(Attributes& attributes, uint32_t& dropped, KeyValue&& attribute, const Limits& limits, Marks& marks);

// Empty when the span may be kept; else the reason for its rejection. Turns an all-zero parent into none.
std::string_view check_span(Span& span);

} // namespace hone::otlp
