#include "cli/toolkit/slots.h"

#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

Option outcome_option() {
    return {.name = "--outcome",
            .value = "OUTCOME",
            .doc = "Only this outcome.",
            .choices = {"due", "fired", "skipped", "failed"}};
}

Result<> show_slots(Context& context, const std::string& automation) {
    Query query = space_query(context);
    query.emplace_back("outcome", context.value_or_empty("--outcome"));
    return show_list(context, path_of("/v1/automations", {automation, "slots"}), std::move(query),
                     {{.title = "scheduled time", .field = "due_at", .kind = Kind::time},
                      {.title = "trigger", .field = "values.type"},
                      {.title = "outcome", .field = "outcome"},
                      {.title = "reason", .field = "reason"},
                      {.title = "run", .field = "run_id"},
                      {.title = "ended", .field = "run_state"},
                      {.title = "note", .field = "note"},
                      {.title = "id", .field = "id", .kind = Kind::id}},
                     "No scheduled times yet.");
}

} // namespace hone::cli
