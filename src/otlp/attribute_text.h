// Attribute lists as plain JSON objects that people and SQL can read, without losing a type: {"llm.token_count":12,
// "score":1.0}. Integers have no point, reals always have one (or an exponent). What JSON lacks is an object with one
// key that starts with '$': {"$bytes":"hex"}, {"$real":"NaN"}, {"$unset":true}, and {"$map":{…}} around a map that
// would look like one of these. Order and repeated keys are kept. This is how attributes lie on disk. Any thread.
#pragma once

#include "base/result.h"
#include "otlp/message.h"

#include <string>
#include <string_view>

namespace hone::otlp {

void append_attribute_text(std::string& out, const Attributes& attributes);
void append_value_text(std::string& out, const Value& value);

// Reads what append_attribute_text wrote. New texts go to `batch.texts`; bounded in depth.
Result<Attributes> read_attribute_text(std::string_view text, Batch& batch);

// A JSON string with quotes; the text must be UTF-8. Faster than quote_json, which repairs.
void append_json_string(std::string& out, std::string_view text);

} // namespace hone::otlp
