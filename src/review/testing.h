// For tests of this folder: the run whose artifacts are reviewed. Not part of the product.
#pragma once

#include "access/testing.h"

namespace hone::review::testing {

// A running session `run_1` of the project.
inline void add_run(access::testing::World& world, const access::ProjectId& project) {
    access::testing::must(world.database.execute(
        "INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, "
        "started_by, started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, "
        "cache_write_tokens, output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, "
        "wish, created_at, queued_at) VALUES ('run_1', ?, ?, 'session', '', '', '', '{}', 'running', '', '', '', "
        "'{}', 0, 0, 0, 0, 0, 0, 0, 0, '', '', '', 0, '', 1, 1)",
        world.space, project));
}

} // namespace hone::review::testing
