// The pod of one sandbox: PodSecurity `restricted`, without a service account token, without a network of its own use,
// with a read-only root. What the sandbox runs is never in it: the spec travels over the channel, because each
// account that may read pods of the namespace reads these. Pure, any thread.
#pragma once

#include "base/result.h"
#include "kubernetes/link/mount_table.h"
#include "sandbox/provider/spec.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::kubernetes {

// How the processes of a pod differ from those of other pods on the node: one of the two, never both.
enum class PodUser {
    own_uid,        // a number of the thread's own, so that limits per user count for one pod
    user_namespace, // hostUsers: false, which maps 65,536 ids and needs a node that can
    assigned,       // by the cluster (OpenShift)
};
constexpr auto enum_names(PodUser) {
    return std::array{EnumName{PodUser::own_uid, "own_uid"}, EnumName{PodUser::user_namespace, "user_namespace"},
                      EnumName{PodUser::assigned, "assigned"}};
}

// What an installation has set for all its pods.
struct PodSettings {
    std::string installation; // id of this Hone: pods of others are never touched
    std::string image;        // of workers
    std::string tools_image;  // Hone's own: its init container copies hone-pod
    std::string pull_policy = "IfNotPresent";
    std::vector<std::string> pull_secrets;
    std::map<sandbox::Tier, std::string> runtime_classes; // tier `ns` may have none
    std::map<std::string, std::string> node_selector;
    PodUser user = PodUser::own_uid;
};

// What differs between sandboxes.
struct PodRequest {
    sandbox::SandboxId sandbox;
    sandbox::Limits limits;
    sandbox::Tier tier = sandbox::Tier::ns;
    std::string user_key;                    // whose uid it is: the thread, or else the sandbox
    std::optional<std::string> volume_claim; // of the thread; none: /workspace and the home end with the pod
    bool keep_home = false;                  // the home is in the volume too
    int64_t idle_seconds = 0;                // that it may wait for its run
    std::vector<TargetMount> mounts{};       // none below another
};

constexpr std::string_view worker_container = "worker";
constexpr std::string_view installation_label = "hone/installation";
constexpr std::string_view sandbox_label = "hone/sandbox";
constexpr std::string_view role_label = "hone/role";
constexpr std::string_view thread_label = "hone/thread"; // the name of its claim
constexpr std::string_view spec_hash_annotation = "hone/spec-hash";
constexpr std::string_view thread_annotation = "hone/thread"; // of a claim: the thread itself

// "hone-01j…": from the id, so that a repeated request is a conflict and not a second pod.
std::string pod_name(const sandbox::SandboxId& sandbox);
// 1,000,000,000 to 1,999,999,999.
int64_t uid_of(const std::string& user_key);
// Errors: a tier without a RuntimeClass, names that Kubernetes does not allow.
Result<json::Value> pod_of(const PodSettings& settings, const PodRequest& request);
// Of the spec as it was sent: a pod that exists already is ours if it has the same.
std::string spec_hash(const json::Value& pod);
// "hone-thread-…": from the thread, so that each sandbox of it finds the same.
std::string claim_name(const std::string& thread);
// The claim of a thread's volume. `storage_class` "default": that of the cluster.
json::Value claim_of(const std::string& installation, const std::string& storage_class, const std::string& thread,
                     int64_t bytes);
// The body of a delete: only this very object, with `seconds` to end by itself.
json::Value delete_options(const std::string& uid, int64_t seconds);

} // namespace hone::kubernetes
