// What a tool's schema and reply look like: a schema that every client understands, a reply that fits its byte budget.
#pragma once

#include "json/schema.h"

namespace hone::api {

// An object at the top, no references, no null alternatives.
json::Value plain_schema(json::Value schema);

// Makes a reply fit: long texts are cut first, then lists are shortened; both note how much is missing.
void fit(json::Value& reply, size_t bytes);

} // namespace hone::api
