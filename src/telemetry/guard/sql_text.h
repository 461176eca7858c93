// SQL that people wrote, after the engine rendered it as one line: read strictly, so that what is not known is refused.
// Pure, fuzzed; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

// Why a query may not run, and the part of it that is to blame.
struct Refusal {
    std::string part;
    std::string why;
};

// Knows the rendering's own words and signs only: no comments, parameters, settings, formats, files.
std::optional<Refusal> check_sql_text(std::string_view rendered);

// The same query over the project's views, which have no database in front and no PREWHERE. The result has to be
// rendered and checked again.
std::string over_views(std::string_view rendered);

} // namespace hone::telemetry
