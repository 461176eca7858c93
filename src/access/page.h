// Lists in pages: keyset pagination with an opaque cursor, stable under concurrent writes.
#pragma once

#include "base/result.h"
#include "base/text.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::access {

constexpr int64_t default_page = 100;
constexpr int64_t largest_page = 1000;

struct PageRequest {
    int64_t limit = default_page;
    std::optional<std::string> cursor;

    // The cursor of the next page; empty at the start.
    Result<std::string> after() const {
        if (!cursor) return std::string();
        if (cursor->size() > 300) return invalid("cursor is not valid for this list");
        auto place = from_base64url(*cursor);
        if (!place.ok() || place.value().empty() || place.value().size() > 200 || !is_printable_ascii(place.value()))
            return invalid("cursor is not valid for this list");
        return std::move(place).value();
    }
};

template <class T>
struct Page {
    std::vector<T> data;
    std::optional<std::string> next_cursor;
};

// `rows` were fetched with limit + 1: the extra one shows that there is more. `place` gives a row's cursor text.
template <class T, class Place>
Page<T> make_page(std::vector<T> rows, const PageRequest& request, Place place) {
    Page<T> page;
    if (rows.size() > static_cast<size_t>(request.limit)) {
        rows.resize(static_cast<size_t>(request.limit));
        page.next_cursor = to_base64url(place(rows.back()));
    }
    page.data = std::move(rows);
    return page;
}

} // namespace hone::access
