// JSON Schema for data of users: a checked schema, and values compared with it. Only keywords whose cost is bounded are
// accepted: no references, no regular expressions, nothing that is fetched. Wraps valijson. A schema is immutable; any
// thread.
#pragma once

#include "json/json.h"

#include <memory>

namespace hone::json {

class JsonSchema {
public:
    // An object of supported keywords, at most 64 KiB of text.
    static Result<JsonSchema> create(const Value& schema);
    ~JsonSchema();
    JsonSchema(JsonSchema&&) noexcept;
    JsonSchema& operator=(JsonSchema&&) noexcept;

    // The first reason why the value does not fit, with its place: "city: …".
    Result<> validate(const Value& value) const;

private:
    struct Parsed;
    explicit JsonSchema(std::unique_ptr<Parsed> parsed);

    std::unique_ptr<Parsed> m_parsed;
};

} // namespace hone::json
