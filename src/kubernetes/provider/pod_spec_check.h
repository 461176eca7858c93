// What a spec must be for a pod, and where its mounts are in one. Any thread.
#pragma once

#include "kubernetes/link/mount_table.h"
#include "sandbox/provider/spec.h"

#include <vector>

namespace hone::kubernetes {

// Errors: what a pod cannot have. Nothing is left out silently.
// `has_layers`: there is a place for prepared layers.
Result<> check_spec(const sandbox::SandboxSpec& spec, bool has_layers);
// The mounts that are not below another one; those are files of it.
Result<std::vector<TargetMount>> targets_of(const sandbox::SandboxSpec& spec);

} // namespace hone::kubernetes
