// Whatever the export of another tool holds, reading it ends with rows that `dataset push` takes, or with an error. The
// first byte selects the tool.
#include "cli/commands/evaluate/foreign_datasets.h"

#include "base/text.h"

#include <cstdint>

using namespace hone;
using namespace hone::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    constexpr auto names = enum_names(ForeignFormat{});
    const ForeignFormat format = names[data[0] % names.size()].value;
    const auto read = read_foreign(format, std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
    if (!read.ok()) {
        CHECK_OR_ABORT(!read.error().message.empty() && is_valid_utf8(read.error().message));
        return 0;
    }
    for (const json::Object& row : read.value().rows) {
        const json::Value* input = row.if_contains("input");
        CHECK_OR_ABORT(input != nullptr && input->is_object());
        for (const char* part : {"output", "metadata"})
            if (const json::Value* value = row.if_contains(part)) CHECK_OR_ABORT(value->is_object());
        CHECK_OR_ABORT(json::parse(json::print(row)).ok());
    }
    for (const std::string& note : read.value().notes) CHECK_OR_ABORT(is_valid_utf8(note));
    return 0;
}
