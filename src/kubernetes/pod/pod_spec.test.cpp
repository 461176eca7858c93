#include "kubernetes/pod/pod_spec.h"

#include "kubernetes/api/object.h"
#include "kubernetes/pod/admission.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::kubernetes;

namespace {

const sandbox::SandboxId example_sandbox("sbx_01JCQZ5V8M0000000000000001");

PodSettings settings() {
    PodSettings made;
    made.installation = "ins-7";
    made.image = "registry.example/worker@sha256:00";
    made.tools_image = "registry.example/hone:1";
    return made;
}

PodRequest request() {
    PodRequest made;
    made.sandbox = example_sandbox;
    made.limits.cpus = 1.5;
    made.limits.memory_bytes = int64_t{1} << 30;
    made.limits.wall_clock_ms = int64_t{90'500};
    made.user_key = "thread 1";
    return made;
}

json::Value pod() {
    return pod_of(settings(), request()).value();
}

std::string differences(const json::Value& sent, const json::Value& stored) {
    std::string text;
    for (const Difference& each : admission_differences(sent, stored))
        text += (text.empty() ? "" : ", ") + each.path + " " + each.what;
    return text;
}

json::Value& at(json::Value& object, std::initializer_list<std::string_view> path) {
    return const_cast<json::Value&>(*value_at(object, path));
}

} // namespace

TEST_CASE("the pod of a sandbox has everything that PodSecurity `restricted` requires") {
    const json::Value made = pod();
    const json::Value& spec = *value_at(made, {"spec"});
    CHECK(text_at(made, {"metadata", "name"}) == "hone-01jcqz5v8m0000000000000001");
    CHECK(text_at(made, {"metadata", "labels", "hone/installation"}) == "ins-7");
    CHECK(text_at(made, {"metadata", "labels", "hone/sandbox"}) == example_sandbox.text());
    CHECK(text_at(made, {"metadata", "labels", "hone/role"}) == "worker");
    for (const char* name : {"automountServiceAccountToken", "enableServiceLinks", "hostNetwork", "hostPID", "hostIPC"})
        CHECK(*value_at(spec, {name}) == json::Value(false));
    CHECK(text_at(spec, {"restartPolicy"}) == "Never");
    CHECK(integer_at(spec, {"activeDeadlineSeconds"}) == 151);
    CHECK(text_at(spec, {"dnsPolicy"}) == "None");
    CHECK(is_true_at(spec, {"securityContext", "runAsNonRoot"}));
    CHECK(text_at(spec, {"securityContext", "seccompProfile", "type"}) == "RuntimeDefault");
    CHECK(integer_at(spec, {"securityContext", "runAsUser"}) == uid_of("thread 1"));
    CHECK(value_at(spec, {"hostUsers"}) == nullptr);
    CHECK(value_at(spec, {"runtimeClassName"}) == nullptr);
    size_t containers = 0;
    for (const char* list : {"initContainers", "containers"})
        for (const json::Value& container : list_at(spec, {list})) {
            ++containers;
            CHECK(*value_at(container, {"securityContext", "allowPrivilegeEscalation"}) == json::Value(false));
            CHECK(is_true_at(container, {"securityContext", "readOnlyRootFilesystem"}));
            CHECK(json::print(*value_at(container, {"securityContext", "capabilities"})) == R"({"drop":["ALL"]})");
            for (const char* kind : {"requests", "limits"}) {
                CHECK(text_at(container, {"resources", kind, "cpu"}) == "1500m");
                CHECK(text_at(container, {"resources", kind, "memory"}) == "1073741824");
            }
            // Its disk is limited to what its volumes may hold, and does not fill a node before it is used.
            CHECK(text_at(container, {"resources", "requests", "ephemeral-storage"}) == "268435456");
            CHECK(text_at(container, {"resources", "limits", "ephemeral-storage"}) ==
                  std::to_string(*request().limits.disk_bytes + (int64_t{5} << 29)));
        }
    CHECK(containers == 2);
    // Nothing of the node, no secret, no token.
    for (const json::Value& volume : list_at(spec, {"volumes"})) CHECK(value_at(volume, {"emptyDir"}) != nullptr);
    CHECK(json::print(made).find("env\":[{\"name\":\"HONE_SANDBOX\"") != std::string::npos);
}

TEST_CASE("a thread has its volume and its uid, a tier its RuntimeClass") {
    PodSettings wanted = settings();
    PodRequest asked = request();
    asked.volume_claim = "thread-1";
    asked.tier = sandbox::Tier::gvisor;
    CHECK(pod_of(wanted, asked).error().message ==
          "the isolation gvisor needs a RuntimeClass, and none is set for this cluster");
    wanted.runtime_classes[sandbox::Tier::gvisor] = "gvisor";
    wanted.user = PodUser::user_namespace;
    wanted.pull_secrets = {"registry"};
    wanted.node_selector = {{"example.com/pool", "workers"}};
    const json::Value made = pod_of(wanted, asked).value();
    const json::Value& spec = *value_at(made, {"spec"});
    CHECK(text_at(spec, {"runtimeClassName"}) == "gvisor");
    CHECK(*value_at(spec, {"hostUsers"}) == json::Value(false));
    CHECK(integer_at(spec, {"securityContext", "runAsUser"}) == 1000); // the ids of a namespace end at 65,535
    CHECK(json::print(spec).find(R"({"name":"thread","persistentVolumeClaim":{"claimName":"thread-1"}})") !=
          std::string::npos);
    CHECK(json::print(*value_at(spec, {"imagePullSecrets"})) == R"([{"name":"registry"}])");
    CHECK(json::print(*value_at(spec, {"nodeSelector"})) == R"({"example.com/pool":"workers"})");
    wanted.user = PodUser::assigned;
    CHECK(value_at(pod_of(wanted, asked).value(), {"spec", "securityContext", "runAsUser"}) == nullptr);
}

TEST_CASE("uids are in a range that no system uses, and differ") {
    CHECK(uid_of("a") != uid_of("b"));
    CHECK(uid_of("a") == uid_of("a"));
    for (int i = 0; i < 100; ++i) {
        CHECK(uid_of(std::to_string(i)) >= 1'000'000'000);
        CHECK(uid_of(std::to_string(i)) < 2'000'000'000);
    }
}

TEST_CASE("names that Kubernetes would reject, or that would select something else, are refused here") {
    const auto problem = [](auto&& change) {
        PodSettings wanted = settings();
        PodRequest asked = request();
        change(wanted, asked);
        const auto made = pod_of(wanted, asked);
        return made.ok() ? std::string("made") : made.error().message;
    };
    CHECK(problem([](auto& wanted, auto&) { wanted.installation = "a b"; }) == "not the id of an installation: a b");
    CHECK(problem([](auto& wanted, auto&) { wanted.installation = ""; }) == "not the id of an installation: ");
    CHECK(problem([](auto& wanted, auto&) { wanted.image = "a b"; }) == "not an image: a b");
    CHECK(problem([](auto& wanted, auto&) { wanted.pull_secrets = {"../x"}; }) == "not the name of a secret: ../x");
    CHECK(problem([](auto& wanted, auto&) { wanted.node_selector["a/b/c"] = "d"; }) == "not a label of nodes: a/b/c=d");
    CHECK(problem([](auto& wanted, auto&) { wanted.node_selector["a"] = "d d"; }) == "not a label of nodes: a=d d");
    CHECK(problem([](auto&, auto& asked) { asked.volume_claim = "Thread"; }) ==
          "not the name of a volume claim: Thread");
    CHECK(problem([](auto& wanted, auto&) { wanted.runtime_classes[sandbox::Tier::ns] = "-x"; }) ==
          "not the name of a RuntimeClass: -x");
    CHECK(problem([](auto&, auto&) {}) == "made");
}

TEST_CASE("the hash of a spec is that of what was sent, and a delete names one pod") {
    const json::Value made = pod();
    CHECK(text_at(made, {"metadata", "annotations", "hone/spec-hash"}) == spec_hash(made));
    PodRequest other = request();
    other.limits.memory_bytes = int64_t{2} << 30;
    CHECK(spec_hash(pod_of(settings(), other).value()) != spec_hash(made));
    CHECK(json::print(delete_options("uid-1", 5)) ==
          R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":5,"preconditions":{"uid":"uid-1"}})");
}

TEST_CASE("what a cluster adds to every pod is no difference") {
    const json::Value sent = pod();
    json::Value stored = sent;
    json::Object& spec = at(stored, {"spec"}).get_object();
    spec["nodeName"] = "node-1";
    spec["serviceAccountName"] = spec["serviceAccount"] = "default";
    spec["schedulerName"] = "default-scheduler";
    spec["priority"] = 0;
    spec["preemptionPolicy"] = "PreemptLowerPriority";
    spec["tolerations"].get_array().push_back(json::Object{{"key", "x"}});
    spec.erase("hostNetwork");
    for (const char* list : {"containers", "initContainers"})
        for (json::Value& container : spec[list].get_array()) {
            container.get_object()["terminationMessagePath"] = "/dev/termination-log";
            container.get_object()["terminationMessagePolicy"] = "File";
            container.at("resources").at("limits").get_object()["cpu"] = "1500m";
            container.at("resources").at("limits").get_object()["memory"] = "1Gi";
        }
    stored.get_object()["status"] = json::Object{{"phase", "Pending"}};
    at(stored, {"metadata"}).get_object()["uid"] = "u";
    CHECK(differences(sent, stored).empty());
}

TEST_CASE("a sidecar, a token, a wider right or another image is a difference with its path") {
    const json::Value sent = pod();
    const auto after = [&](auto&& change) {
        json::Value stored = sent;
        change(at(stored, {"spec"}).get_object(), stored);
        return differences(sent, stored);
    };
    CHECK(after([](auto& spec, auto&) {
              spec["containers"].get_array().push_back(json::Object{{"name", "sidecar"}});
          }) == "spec.containers[sidecar] was added");
    CHECK(after([](auto& spec, auto&) { spec["initContainers"].get_array().clear(); }) ==
          "spec.initContainers[tools] was removed");
    CHECK(after([](auto& spec, auto&) {
              spec["volumes"].get_array().push_back(
                  json::Object{{"name", "token"}, {"projected", json::Object{{"sources", 1}}}});
          }) == "spec.volumes[token] was added");
    CHECK(after([](auto& spec, auto&) { spec["automountServiceAccountToken"] = true; }) ==
          "spec.automountServiceAccountToken was changed");
    CHECK(after([](auto& spec, auto&) { spec.erase("automountServiceAccountToken"); }) ==
          "spec.automountServiceAccountToken was removed");
    CHECK(after([](auto& spec, auto&) { spec["hostNetwork"] = true; }) == "spec.hostNetwork was changed");
    CHECK(after([](auto& spec, auto&) { spec["ephemeralContainers"] = json::Array{1}; }) ==
          "spec.ephemeralContainers was added");
    CHECK(after([](auto& spec, auto&) { spec["containers"].at(0).get_object()["image"] = "other"; }) ==
          "spec.containers[worker].image was changed");
    CHECK(after([](auto& spec, auto&) {
              spec["containers"].at(0).at("securityContext").at("capabilities").get_object()["add"] =
                  json::Array{"NET_RAW"};
          }) == "spec.containers[worker].securityContext.capabilities.add was added");
    CHECK(after([](auto& spec, auto&) {
              spec["containers"].at(0).at("securityContext").get_object().erase("allowPrivilegeEscalation");
          }) == "spec.containers[worker].securityContext.allowPrivilegeEscalation was removed");
    CHECK(after([](auto& spec, auto&) {
              spec["containers"].at(0).at("resources").at("limits").get_object()["memory"] = "2Gi";
          }) == "spec.containers[worker].resources.limits.memory was changed");
    CHECK(after([](auto& spec, auto&) { spec["containers"].at(0).get_object()["envFrom"] = json::Array{1}; }) ==
          "spec.containers[worker].envFrom was added");
    CHECK(after([](auto&, auto& stored) {
              at(stored, {"metadata", "labels"}).get_object()["hone/role"] = "x";
          }) == "metadata.labels.hone/role was changed");
    CHECK(differences(sent, json::Value(json::Object{})) == "spec was removed");
}

TEST_CASE("a server that does not know user namespaces removes the field, which is a difference") {
    PodSettings wanted = settings();
    wanted.user = PodUser::user_namespace;
    const json::Value sent = pod_of(wanted, request()).value();
    json::Value stored = sent;
    CHECK(differences(sent, stored).empty());
    at(stored, {"spec"}).get_object().erase("hostUsers");
    CHECK(differences(sent, stored) == "spec.hostUsers was removed");
    at(stored, {"spec"}).get_object()["hostUsers"] = true;
    CHECK(differences(sent, stored) == "spec.hostUsers was changed");
    // Added to a pod that has a uid of its own it is no wider, and shows in what the pod says about its user.
    json::Value added = pod();
    at(added, {"spec"}).get_object()["hostUsers"] = false;
    CHECK(differences(pod(), added).empty());
}
