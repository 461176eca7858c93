// Files of any kind through the cutter and the readers: whatever the bytes, no crash, and every element is bounded.
#include "telemetry/transfer/import_lines.h"

#include <cstdlib>

using namespace hone;
using namespace hone::telemetry;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    if (size < 2) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto kind = static_cast<ElementSplitter::Kind>(data[0] % 4);
    ElementSplitter splitter(
        kind,
        [&](std::string_view element, int64_t) -> Result<> {
            if (element.empty() || element.size() > size) std::abort();
            (void)read_span_line(element).ok();
            (void)read_otlp_line(element).ok();
            (void)read_phoenix_span(element).ok();
            return {};
        },
        [](int64_t, std::string) {});
    const size_t piece = 1 + data[1] % 32;
    for (size_t at = 0; at < bytes.size(); at += piece)
        if (!splitter.add(bytes.substr(at, piece)).ok()) return 0;
    (void)splitter.finish().ok();
    return 0;
}
