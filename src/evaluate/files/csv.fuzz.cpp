// Any bytes are rows or an error, in one piece or in two.
#include "evaluate/files/csv.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto read = [&](size_t cut) {
        std::string all;
        evaluate::CsvReader reader(
            [&](std::vector<std::string>& cells, int64_t) -> Result<> {
                for (const auto& cell : cells) all += evaluate::quote_csv(cell) + ",";
                all += "\n";
                return {};
            },
            1 << 16);
        if (!reader.add(bytes.substr(0, cut)).ok() || !reader.add(bytes.substr(cut)).ok() || !reader.finish().ok())
            return std::string("error");
        return all;
    };
    if (read(size) != read(size / 2)) __builtin_trap();
    return 0;
}
