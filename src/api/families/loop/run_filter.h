// The filter of runs in a query, shared by the list and the export.
#pragma once

#include "api/core/call.h"
#include "run/runs.h"

namespace hone::api {

struct RunQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> preset;
    std::optional<std::string> automation;
    std::optional<run::RunProvider> provider;
    std::optional<std::string> harness;
    std::optional<std::string> person;
    std::optional<std::string> title;
    std::optional<run::Origin> origin;
    std::optional<std::string> state;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> cost_from;
    std::optional<int64_t> cost_to;
};

constexpr auto run_query_fields() {
    return Pack{
        Field{"space", &RunQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &RunQuery::project, "Id or name of a project: only its runs."},
        Field{"preset", &RunQuery::preset, "Id of a preset: only its runs."},
        Field{"automation", &RunQuery::automation, "Id of an automation: only its runs."},
        Field{"provider", &RunQuery::provider, "local, kubernetes or claude-managed: only its runs."},
        Field{"harness", &RunQuery::harness, "Name of a harness: only its runs."},
        Field{"person", &RunQuery::person, "Name in `started_by`: only runs that this person or key started."},
        Field{"title", &RunQuery::title, "Text in the title, in any case."},
        Field{"origin", &RunQuery::origin, "session or automation."},
        Field{"state", &RunQuery::state, "States, separated by commas: running,waiting."},
        Field{"after", &RunQuery::after, "Created at or after this time."},
        Field{"before", &RunQuery::before, "Created before this time."},
        Field{"cost_from", &RunQuery::cost_from, "Cost at least so many millionths of a US dollar."},
        Field{"cost_to", &RunQuery::cost_to, "Cost at most so many millionths of a US dollar."},
    };
}

Result<run::RunFilter> run_filter_of(const RunQuery& query);

} // namespace hone::api
