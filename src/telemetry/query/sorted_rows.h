// Spans and traces in another order than newest first: the slowest, the most expensive. All of the range are read,
// because none can be left out before; SpanStore::list_spans and list_traces are faster for the newest. Thread-safe,
// blocking.
#pragma once

#include "base/fields.h"
#include "telemetry/query/span_store.h"

#include <array>

namespace hone::telemetry {

enum class RowOrder : uint8_t { start, duration, tokens, cost, errors };
constexpr auto enum_names(RowOrder) {
    return std::array{EnumName{RowOrder::start, "start"}, EnumName{RowOrder::duration, "duration"},
                      EnumName{RowOrder::tokens, "tokens"}, EnumName{RowOrder::cost, "cost"},
                      EnumName{RowOrder::errors, "errors"}};
}

struct RowSort {
    RowOrder by = RowOrder::start;
    bool ascending = false;
};

// With cursors of their own: one of another order is not valid. `oldest_first` is ignored.
Result<SpanPage> sorted_spans(ClickHouse& engine, const ListSpans& request, RowSort sort);
Result<TracePage> sorted_traces(ClickHouse& engine, const ListTraces& request, RowSort sort);

} // namespace hone::telemetry
