// Any bytes are a schema and an example, or an error; an example that fits once fits again. The first line is the
// schema, the rest the example.
#include "evaluate/datasets/example_schema.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const size_t line = bytes.find('\n');
    const auto schema = json::parse(bytes.substr(0, line));
    if (!schema.ok()) return 0;
    const auto checked = evaluate::ExampleSchema::create(schema.value());
    if (!checked.ok()) return 0;
    const auto value = json::parse(line == std::string_view::npos ? "{}" : bytes.substr(line + 1));
    if (!value.ok()) return 0;
    evaluate::NewExample example;
    example.input = example.output = example.metadata = value.value();
    const bool fits = checked.value().check(example).ok();
    // A schema that was stored is the same schema.
    const auto stored = json::parse(json::print(schema.value()));
    CHECK_OR_ABORT(stored.ok());
    const auto again = evaluate::ExampleSchema::create(stored.value());
    CHECK_OR_ABORT(again.ok());
    CHECK_OR_ABORT(again.value().check(example).ok() == fits);
    return 0;
}
