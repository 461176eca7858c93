// Example requests of phoenix_experiment_runs.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_experiment_runs_examples[] = {
    {"POST /v1/experiments/{experiment}/runs", "",
     R"({"dataset_example_id":"{example}","output":1,"repetition_number":1,"start_time":"2026-01-31T12:00:00","end_time":"2026-01-31T12:00:01Z"})"},
    {"GET /v1/experiments/{experiment}/runs"},
    {"GET /v1/experiments/{experiment}/incomplete-runs"},
    {"GET /v1/experiments/{experiment}/incomplete-evaluations", "evaluation_name=correct"},
    {"POST /v1/experiment_evaluations", "",
     R"({"experiment_run_id":"{experiment_run}","name":"correct","annotator_kind":"CODE","start_time":"2026-01-31T12:00:00","end_time":"2026-01-31T12:00:01Z","result":{"score":1}})"},
    {"GET /v1/experiments/{run_experiment}/json"},
    {"GET /v1/experiments/{run_experiment}/csv"},
};

} // namespace hone::api::testing
