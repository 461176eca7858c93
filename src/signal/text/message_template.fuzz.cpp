#include "signal/text/message_template.h"

#include "base/text.h"

#include <cstdint>
#include <cstdlib>

using namespace hone::signal;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (template_words(text).size() > 30) std::abort();
    const std::string line = plain_line(text, 100);
    if (line.size() > 100 || !hone::is_valid_utf8(line)) std::abort();
    for (const char letter : line)
        if (static_cast<unsigned char>(letter) < 0x20 || letter == '[' || letter == '<' || letter == '`') std::abort();
    if (text.find(fixed_part(text)) == std::string_view::npos) std::abort();
    if (quote_filter(text).size() < size + 2) std::abort();
    return 0;
}
