// Whatever a file holds, reading it ends; what was read, and any JSON, is written so that it reads back as the same.
#include "cli/toolkit/yaml.h"
#include "base/text.h"

#include <cstdint>

using namespace hone;
using namespace hone::cli;

namespace {

void check(const json::Value& value) {
    const auto again = parse_yaml(print_yaml(value));
    CHECK_OR_ABORT(again.ok());
    CHECK_OR_ABORT(json::print(again.value()) == json::print(value));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto value = parse_yaml(text); value.ok()) check(value.value());
    if (const auto value = json::parse(text); value.ok()) check(value.value());
    check(json::Value(repair_utf8(text)));
    return 0;
}
