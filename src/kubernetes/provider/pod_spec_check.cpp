#include "kubernetes/provider/pod_spec_check.h"

#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace hone::kubernetes {

using sandbox::SandboxSpec;

Result<> check_spec(const SandboxSpec& spec, bool has_layers) {
    TRY(validate(spec));
    if (*spec.root != "host") return invalid("a pod has the image of the installation (kubernetes_image)");
    if (!has_layers && (!spec.layers.value.empty() || spec.capture))
        return invalid("there is no place for prepared layers of pods");
    if (spec.capture && *spec.minimum_tier != sandbox::Tier::ns) return unavailable("tier gvisor builds no layers");
    if (spec.command && *spec.command->direct_stdout) return invalid("a pod has no direct stdout");
    for (const sandbox::Mount& mount : *spec.mounts)
        if (!*mount.read_only) return invalid("a pod has copies of files, which it cannot write: " + mount.target);
    return {};
}

Result<std::vector<TargetMount>> targets_of(const SandboxSpec& spec) {
    std::vector<TargetMount> targets;
    for (const sandbox::Mount& mount : *spec.mounts) {
        const bool is_below = std::any_of(spec.mounts.value.begin(), spec.mounts.value.end(), [&](const auto& other) {
            return mount.target.starts_with(other.target + "/");
        });
        if (is_below) continue;
        struct stat status {};
        if (::stat(mount.source.c_str(), &status) != 0) return system_error("read " + mount.source, errno);
        targets.push_back({S_ISDIR(status.st_mode), mount.target});
    }
    return targets;
}

} // namespace hone::kubernetes
