// Whether a cluster can have this server's pods: its version, the rights of the account, the policy of the namespace.
// For `hone check`. Any thread; blocks.
#pragma once

#include "kubernetes/api/api.h"

#include <string>
#include <vector>

namespace hone::kubernetes {

struct ClusterFinding {
    std::string name;
    bool is_ok = true;
    std::string detail;
    std::string advice;
};
struct ClusterWanted {
    std::string name_space;
    std::string storage_class; // of the volumes of sessions; empty: there are none
    std::string runtime_class; // of tier gvisor; empty: the cluster does not have that tier
};
std::vector<ClusterFinding> check_cluster(Api& api, const ClusterWanted& wanted);

} // namespace hone::kubernetes
