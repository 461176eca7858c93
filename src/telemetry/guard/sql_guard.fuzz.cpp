// Any rendering and any tree is checked without fault; what is put over the views keeps its brackets.
#include "telemetry/guard/sql_text.h"
#include "telemetry/guard/sql_tree.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const bool is_fine = !hone::telemetry::check_sql_text(text);
    const std::string over = hone::telemetry::over_views(text);
    if (is_fine && hone::telemetry::check_sql_text(over)) std::abort();
    const bool is_written = !hone::telemetry::check_written_tree(text);
    const bool is_resolved = !hone::telemetry::check_resolved_tree(text, "hone_project_x");
    return is_written && is_resolved ? 0 : 0;
}
