// Handlers of presets, harnesses, runs and artifacts.
#pragma once

#include "api/call.h"
#include "api/run_requests.h"
#include "api/run_services.h"

namespace hone::api {

Result<List<run::Preset>> list_presets(const Call&, const ListInSpace&);
Result<One<run::Preset>> create_preset(const Call&, const InSpace&, const CreatePreset&);
Result<One<run::Preset>> get_preset(const Call&, const InSpace&);
Result<One<run::Preset>> update_preset(const Call&, const InSpace&, const UpdatePreset&);
Result<NoContent> delete_preset(const Call&, const InSpace&);
Result<List<run::PresetVersion>> list_preset_versions(const Call&, const InSpace&);
Result<List<HarnessView>> list_harnesses(const Call&);

Result<List<run::Run>> list_runs(const Call&, const ListRuns&);
Result<One<run::Run>> start_run(const Call&, const InSpace&, const run::StartRun&);
Result<One<run::Run>> get_run(const Call&);
Result<One<run::Manifest>> get_run_manifest(const Call&);
Result<net::Response> get_run_events(const Call&, const ListRunEvents&);
Result<One<run::RunEvent>> get_run_event(const Call&);
Result<List<run::EgressRow>> list_run_egress(const Call&, const ListRunEgress&);
Result<One<run::Run>> say_to_run(const Call&, const SayToRun&);
Result<One<run::Run>> interrupt_run(const Call&);
Result<One<run::Run>> cancel_run(const Call&);
Result<One<run::Run>> rerun(const Call&, const Rerun&);
Result<One<run::Run>> fork_run(const Call&, const ForkRun&);

// artifact_handlers.cpp
Result<List<review::Artifact>> list_artifacts(const Call&, const ListArtifacts&);
Result<One<review::Artifact>> get_artifact(const Call&);
Result<net::Response> get_artifact_content(const Call&);
Result<One<review::Artifact>> review_artifact(const Call&, const ReviewArtifact&);

Result<RunServices*> runs_of(const Call& call);

} // namespace hone::api
