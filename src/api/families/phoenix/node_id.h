// Ids and times as Phoenix' clients need them: padded standard base64 of "Dataset:<id>", by which the Python client
// distinguishes an id from a name, and times with microseconds and an offset. Pure; any thread.
#pragma once

#include "base/id.h"
#include "base/time.h"
#include "json/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace hone::api {

// The text inside padded or unpadded base64, standard or of URLs; absent when it is none.
std::optional<std::string> from_any_base64(std::string_view text);

std::string make_node_id(std::string_view type, std::string_view id);
// The id inside a node id of this type; any other text as it is, so that plain ids and names work too.
std::string plain_id(std::string_view type, std::string_view text);

template <class Tag>
std::string make_node_id(std::string_view type, const Id<Tag>& id) {
    return make_node_id(type, id.text());
}

// Of a path or a body; not_found, as for one that does not exist, when the form is wrong.
template <class Tag>
Result<Id<Tag>> read_node_id(std::string_view type, std::string_view what, std::string_view text) {
    auto id = parse_id<Tag>(plain_id(type, text));
    if (id.ok()) return id;
    return not_found(std::string(what) + " " + std::string(truncate_utf8(text, 100)));
}

// "2026-01-31T12:00:00.123456+00:00"; Python 3.10 reads no other form with a fraction.
std::string phoenix_time(Time time);
// With or without an offset; without one it is UTC.
Result<Time> read_phoenix_time(std::string_view field, const std::string& text);

} // namespace hone::api
