#include "kubernetes/provider/cluster_check.h"

#include "kubernetes/api/object.h"
#include "kubernetes/pod/pod_spec.h"

#include <cstdlib>

namespace hone::kubernetes {

using json::Array, json::Object, json::Value;

namespace {

constexpr int64_t least_minor = 30; // `exec` over WebSockets, v5

struct Right {
    const char* verb;
    const char* resource;
    const char* part; // of the resource; empty: none
    const char* group;
};
// A WebSocket for `exec` needs `get` up to 1.34 and `create` from 1.35 on.
constexpr Right rights[] = {
    {"create", "pods", "", ""},     {"get", "pods", "", ""},
    {"list", "pods", "", ""},       {"watch", "pods", "", ""},
    {"delete", "pods", "", ""},     {"get", "pods", "exec", ""},
    {"create", "pods", "exec", ""}, {"get", "pods", "log", ""},
    {"list", "events", "", ""},     {"list", "networkpolicies", "", "networking.k8s.io"},
};
constexpr Right volume_rights[] = {
    {"create", "persistentvolumeclaims", "", ""},
    {"get", "persistentvolumeclaims", "", ""},
    {"list", "persistentvolumeclaims", "", ""},
    {"delete", "persistentvolumeclaims", "", ""},
};

std::string name_of_right(const Right& right) {
    return std::string(right.verb) + " " + right.resource + (*right.part != 0 ? "/" : "") + right.part;
}

ClusterFinding check_version(Api& api) {
    const auto version = api.get("/version");
    if (!version.ok()) return {"kubernetes", false, version.error().message, "check kubernetes_kubeconfig"};
    if (!version.value().ok())
        return {"kubernetes", false, error_of(version.value(), "read the version").message, "check its credentials"};
    const std::string minor = text_at(version.value().body, {"minor"});
    const bool is_known = std::atoll(minor.c_str()) >= least_minor;
    return {"kubernetes", is_known, "version " + text_at(version.value().body, {"major"}) + "." + minor,
            is_known ? "" : "version 1.30 or later is needed"};
}

ClusterFinding check_rights(Api& api, const std::string& name_space, bool with_volumes) {
    std::vector<Right> needed(std::begin(rights), std::end(rights));
    if (with_volumes) needed.insert(needed.end(), std::begin(volume_rights), std::end(volume_rights));
    std::string missing;
    for (const Right& right : needed) {
        const Object attributes{{"namespace", name_space},
                                {"verb", right.verb},
                                {"resource", right.resource},
                                {"subresource", right.part},
                                {"group", right.group}};
        const auto review = api.create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                       Object{{"apiVersion", "authorization.k8s.io/v1"},
                                              {"kind", "SelfSubjectAccessReview"},
                                              {"spec", Object{{"resourceAttributes", attributes}}}});
        if (!review.ok()) return {"kubernetes rights", false, review.error().message, ""};
        if (!is_true_at(review.value().body, {"status", "allowed"}))
            missing += (missing.empty() ? "" : ", ") + name_of_right(right);
    }
    if (missing.empty()) return {"kubernetes rights", true, "all that runs need, in namespace " + name_space, ""};
    return {"kubernetes rights", false, "missing in namespace " + name_space + ": " + missing,
            "bind a Role with these to the account of this server (docs/providers.md)"};
}

// Denies everything, for the pods of workers.
bool closes_workers(const Value& policy) {
    const Value* labels = value_at(policy, {"spec", "podSelector", "matchLabels"});
    if (labels != nullptr && labels->is_object())
        for (const auto& label : labels->get_object())
            if (label.key() != role_label || label.value() != Value("worker")) return false;
    if (!list_at(policy, {"spec", "podSelector", "matchExpressions"}).empty()) return false;
    bool is_ingress = false, is_egress = false;
    for (const Value& type : list_at(policy, {"spec", "policyTypes"})) {
        is_ingress = is_ingress || type == Value("Ingress");
        is_egress = is_egress || type == Value("Egress");
    }
    return is_ingress && is_egress && list_at(policy, {"spec", "ingress"}).empty() &&
           list_at(policy, {"spec", "egress"}).empty();
}

ClusterFinding check_policy(Api& api, const std::string& name_space) {
    const auto listed = api.list("/apis/networking.k8s.io/v1/namespaces/" + name_space + "/networkpolicies", "");
    if (!listed.ok()) return {"kubernetes network", false, listed.error().message, ""};
    for (const Value& policy : listed.value().items)
        if (closes_workers(policy))
            return {"kubernetes network", true,
                    "policy " + text_at(policy, {"metadata", "name"}) + "; each pod probes that it is enforced", ""};
    return {"kubernetes network", false,
            "no NetworkPolicy of namespace " + name_space + " denies everything to workers",
            "create the one in docs/providers.md: pods with an open network are rejected"};
}

// RuntimeClasses belong to no namespace: an account may not be allowed to read them, and needs not.
ClusterFinding check_runtime_class(Api& api, const std::string& name) {
    const auto found = api.get("/apis/node.k8s.io/v1/runtimeclasses/" + name);
    if (!found.ok()) return {"kubernetes isolation", false, found.error().message, ""};
    const ApiResponse& response = found.value();
    if (response.status == 403)
        return {"kubernetes isolation", true, "RuntimeClass " + name + " may not be read by this account: not checked",
                ""};
    if (response.status == 404)
        return {"kubernetes isolation", false, "the cluster has no RuntimeClass " + name,
                "create it, or correct kubernetes_runtime_class"};
    if (!response.ok()) return {"kubernetes isolation", false, error_of(response, "read the RuntimeClass").message, ""};
    return {"kubernetes isolation", true,
            "RuntimeClass " + name + ", handler " + text_at(response.body, {"handler"}) +
                "; each pod proves that its kernel is gVisor",
            ""};
}

} // namespace

std::vector<ClusterFinding> check_cluster(Api& api, const ClusterWanted& wanted) {
    std::vector<ClusterFinding> findings{check_version(api)};
    if (!findings.front().is_ok) return findings;
    findings.push_back(check_rights(api, wanted.name_space, !wanted.storage_class.empty()));
    findings.push_back(check_policy(api, wanted.name_space));
    if (!wanted.runtime_class.empty()) findings.push_back(check_runtime_class(api, wanted.runtime_class));
    return findings;
}

} // namespace hone::kubernetes
