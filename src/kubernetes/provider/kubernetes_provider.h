// Sandboxes as pods of a cluster. One pod for each, one channel to each pod, one watch for all of them. Any thread.
#pragma once

#include "kubernetes/api/api.h"
#include "kubernetes/pod/pod_spec.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

#include <optional>

namespace hone::kubernetes {

struct ProviderOptions {
    ClusterAccess access;
    std::string name_space;              // of the pods; empty: that of the access
    PodSettings pods;                    // `installation` is set by the provider
    std::string storage_class;           // of the volumes of threads; "default": that of the cluster; empty: no volumes
    std::string folder;                  // of this machine, for what the provider keeps
    std::optional<sandbox::Store> store; // of prepared layers; none: pods have none
    size_t ready = 0;                    // pods to keep prepared for runs like the last one
    // Addresses with ports that a pod must not reach, beside those of the cluster's own API.
    std::vector<std::string> probe_addresses = {"1.1.1.1:443", "8.8.8.8:53"};
};

// Does not connect: a cluster that does not respond now may do so later.
Result<std::unique_ptr<sandbox::Provider>> open_kubernetes_provider(ProviderOptions options, const Clock& clock);

} // namespace hone::kubernetes
