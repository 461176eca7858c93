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
// `storage_class`: of the volumes of sessions; empty: there are none.
std::vector<ClusterFinding> check_cluster(Api& api, const std::string& name_space, const std::string& storage_class);

} // namespace hone::kubernetes
