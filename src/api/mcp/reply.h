// What a tool's schema and reply look like: a schema that every client understands, a reply that fits its byte budget.
#pragma once

#include "base/result.h"
#include "json/schema.h"

#include <functional>

namespace hone::api {

// An object at the top, no references, no null alternatives.
json::Value plain_schema(json::Value schema);

// Fetches a page and makes it fit: long texts are cut, and a page that is still too large is fetched again with fewer
// rows, so that its cursor leaves nothing out.
Result<json::Value> fit_page(const std::function<Result<json::Value>(int64_t limit)>& fetch, int64_t limit,
                             size_t bytes);

// Adds as many of `rows` from `first` on, at most `limit`, as fit; `next_cursor` is the number of the first row that is
// not in the reply.
void fit_rows(json::Value& reply, std::string_view name, const json::Array& rows, int64_t first, int64_t limit,
              size_t bytes);

// A part of a text that begins and ends between characters; invalid bytes are replaced.
struct TextPart {
    size_t offset = 0;
    std::string text;
    std::optional<size_t> next;
};
TextPart part_of(std::string_view text, size_t offset, size_t length);

// Makes a reply fit: long texts are cut first, then lists are shortened; both note how much is missing.
void fit(json::Value& reply, size_t bytes);

} // namespace hone::api
