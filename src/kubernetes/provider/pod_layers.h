// Prepared layers of pods: the archive of a home (sandbox/archive/home_archive.h), in the place of a layer in the store
// of this machine, with its SHA-256 and the image on which it was built. It is never unpacked here. Any thread; blocks.
//   upper/home   upper/sha256   upper/image
#pragma once

#include "kubernetes/provider/pod_connection.h"
#include "sandbox/archive/home_archive.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

#include <optional>

namespace hone::kubernetes {

// What a home may have, by the limits of its sandbox.
sandbox::LayerLimits limits_of_home(const sandbox::Limits& limits);

class PodLayers {
public:
    explicit PodLayers(sandbox::Store store) : m_store(std::move(store)) {}

    // The home of a pod in which nothing runs any more, to `directory`/upper. The pod is hostile: an archive that is
    // too large, or that is none, is an error. `image`: what the node runs, as the cluster reports it.
    Result<> save(PodConnection& connection, const std::string& directory, const std::string& image,
                  const sandbox::LayerLimits& limits, const std::function<bool()>& cancelled) const;

    // Makes the home of a pod that has run nothing yet. Each layer of a pod has the whole home, so the uppermost is
    // enough. corrupt: it is damaged or was built on another image, and was removed.
    Result<> send(PodConnection& connection, const std::vector<std::string>& layers, bool is_kept,
                  const std::string& image, const sandbox::StartProgress& progress) const;

private:
    Result<> stream(PodConnection& connection, const std::string& place, bool is_kept, const std::string& image,
                    const sandbox::StartProgress& progress) const;

    const sandbox::Store m_store;
};

} // namespace hone::kubernetes
