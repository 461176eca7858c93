// A sandbox in a pod, as its callers see it: each function is a call over the pod's connection. Any thread.
#pragma once

#include "kubernetes/provider/pod_connection.h"
#include "sandbox/provider/provider.h"

namespace hone::kubernetes {

// Of one that builds a layer: `cancelled` is called meanwhile.
using SaveCapture = std::function<Result<>(const std::function<bool()>& cancelled)>;

// `destroy` deletes the pod.
std::unique_ptr<sandbox::Sandbox> sandbox_of(const sandbox::SandboxId& id, std::shared_ptr<PodConnection> connection,
                                             std::function<Result<>()> destroy, SaveCapture save = {});

} // namespace hone::kubernetes
