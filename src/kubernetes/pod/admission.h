// What a cluster made of a pod that was sent: admission controllers add, change and remove fields. A pod that is not
// the one that was sent, in anything that decides about isolation, must not run. Pure, any thread.
#pragma once

#include "json/json.h"

#include <string>
#include <vector>

namespace hone::kubernetes {

// A difference, named by its path: "spec.containers[sidecar]".
struct Difference {
    std::string path;
    std::string what; // "was added", "was removed", "was changed"
};

// Compares the pod that was sent with the one that the cluster stored. Fields that a cluster fills in by default and
// that widen nothing are no difference: the list of these is here, everything else is one. Empty: it is our pod.
std::vector<Difference> admission_differences(const json::Value& sent, const json::Value& stored);

} // namespace hone::kubernetes
