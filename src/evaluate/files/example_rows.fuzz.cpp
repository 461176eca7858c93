// Any bytes as CSV or JSON lines are examples or an error, the same in one piece and in two; parts are objects. The
// first byte selects the format and the columns.
#include "evaluate/files/example_rows.h"

#include <cstdint>

using namespace hone;
using namespace hone::evaluate;

namespace {

std::string read_all(FileFormat format, const ColumnNames& names, std::string_view bytes, size_t cut) {
    std::string all;
    ExampleReader reader(format, names, [&](NewExample example) -> Result<> {
        CHECK_OR_ABORT(example.input.is_object() && example.output.is_object() && example.metadata.is_object());
        all += json::print(example.input) + json::print(example.output) + json::print(example.metadata) +
               example.example_id.value_or("") + "\n";
        for (const std::string& split : example.splits) all += split + ",";
        return {};
    });
    if (!reader.add(bytes.substr(0, cut)).ok() || !reader.add(bytes.substr(cut)).ok() || !reader.finish().ok())
        return "error";
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    ColumnNames names;
    if ((data[0] & 2) != 0) names.input = {"a"};
    if ((data[0] & 4) != 0) names.output = {"b"};
    if ((data[0] & 8) != 0) names.flatten = {"a"};
    if ((data[0] & 16) != 0) names.example_id = "c";
    if ((data[0] & 32) != 0) names.splits = {"d"};
    const FileFormat format = (data[0] & 1) != 0 ? FileFormat::csv : FileFormat::jsonl;
    CHECK_OR_ABORT(read_all(format, names, bytes, bytes.size()) == read_all(format, names, bytes, bytes.size() / 2));
    return 0;
}
