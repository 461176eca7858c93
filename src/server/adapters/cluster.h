// The provider of pods, from the server's settings.
#pragma once

#include "config/config.h"
#include "kubernetes/provider/cluster_check.h"
#include "kubernetes/provider/kubernetes_provider.h"

namespace hone::server {

// Null: no cluster is set.
Result<std::unique_ptr<sandbox::Provider>> open_cluster(const config::Config& config, const Clock& clock);

// Nothing when no cluster is set.
std::vector<kubernetes::ClusterFinding> check_cluster(const config::Config& config, const Clock& clock);

} // namespace hone::server
