// Any text is refused or, between brackets, cannot end them; any tree is judged without fault.
#include "telemetry/sql_guard.h"

#include "telemetry/sql_text.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string plain = hone::telemetry::plain_sql(text);
    if (plain.size() != text.size()) std::abort();
    const bool fine = hone::telemetry::check_sql_text(plain).ok();
    return hone::telemetry::check_sql_tree(text, hone::telemetry::names_in_sql(text)).ok() && fine ? 0 : 0;
}
