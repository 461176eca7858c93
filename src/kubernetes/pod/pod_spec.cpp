#include "kubernetes/pod/pod_spec.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "kubernetes/api/object.h"

#include <algorithm>
#include <cmath>

namespace hone::kubernetes {

using json::Array, json::Object, json::Value;

namespace {

constexpr int64_t first_uid = 1'000'000'000;
constexpr int64_t uid_count = 1'000'000'000;
constexpr int64_t namespace_uid = 1000;         // inside a user namespace every pod may have the same
constexpr int64_t deadline_margin_seconds = 60; // the sandbox's own clock ends it first
constexpr int64_t state_bytes = int64_t{512} << 20;
constexpr int64_t tools_bytes = int64_t{64} << 20;
constexpr int64_t files_bytes = int64_t{2} << 30;        // of mounts: harness, skills
constexpr int64_t usual_disk_bytes = int64_t{256} << 20; // of a run: its harness, a repository, its output

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

// A DNS name, as names of objects are.
bool is_object_name(std::string_view name) {
    return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), is_name_character) &&
           name.front() != '-' && name.front() != '.' && name.back() != '-' && name.back() != '.';
}

bool is_label_value(std::string_view value) {
    const auto fits = [](char c) { return is_name_character(c) || c == '_' || (c >= 'A' && c <= 'Z'); };
    const auto is_end = [](char c) { return c != '-' && c != '.' && c != '_'; };
    return !value.empty() && value.size() <= 63 && std::all_of(value.begin(), value.end(), fits) &&
           is_end(value.front()) && is_end(value.back());
}

// "example.com/name", or without the first part.
bool is_label_name(std::string_view name) {
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) return is_label_value(name);
    return is_object_name(name.substr(0, slash)) && is_label_value(name.substr(slash + 1));
}

// Printable, without blanks: an address of an image.
bool is_image(std::string_view image) {
    return !image.empty() && image.size() <= 1024 && is_printable_ascii(image) &&
           image.find(' ') == std::string_view::npos;
}

Value container_security() {
    return Object{{"allowPrivilegeEscalation", false},
                  {"privileged", false},
                  {"readOnlyRootFilesystem", true},
                  {"runAsNonRoot", true},
                  {"capabilities", Object{{"drop", Array{"ALL"}}}},
                  {"seccompProfile", Object{{"type", "RuntimeDefault"}}}};
}

Value pod_security(const PodSettings& settings, const PodRequest& request) {
    Object security{{"runAsNonRoot", true},
                    {"fsGroupChangePolicy", "OnRootMismatch"},
                    {"seccompProfile", Object{{"type", "RuntimeDefault"}}}};
    if (settings.user == PodUser::assigned) return security;
    const int64_t uid = settings.user == PodUser::own_uid ? uid_of(request.user_key) : namespace_uid;
    for (const char* name : {"runAsUser", "runAsGroup", "fsGroup"}) security[name] = uid;
    return security;
}

// Requests of memory and processors equal to limits: such pods are evicted last. Not so for the disk, which does not
// count for that: its limit is the sum of what each volume may hold, 2.5 GiB more than a run's own, and hardly any
// run uses it. A node would be full with a few pods whose disks are empty.
Value resources_of(const sandbox::Limits& limits) {
    const auto thousandths = static_cast<int64_t>(std::ceil(*limits.cpus * 1000));
    const int64_t most_disk = *limits.disk_bytes + state_bytes + files_bytes;
    Object requests{{"cpu", std::to_string(thousandths) + "m"}, {"memory", std::to_string(*limits.memory_bytes)}};
    Object most = requests;
    requests["ephemeral-storage"] = std::to_string(usual_disk_bytes);
    most["ephemeral-storage"] = std::to_string(most_disk);
    return Object{{"requests", std::move(requests)}, {"limits", std::move(most)}};
}

Value empty_volume(const char* name, int64_t bytes) {
    return Object{{"name", name}, {"emptyDir", Object{{"sizeLimit", std::to_string(bytes)}}}};
}

bool has_kept_home(const PodRequest& request) {
    return request.volume_claim && request.keep_home;
}

Value volumes_of(const PodRequest& request) {
    Array volumes{empty_volume("tools", tools_bytes), empty_volume("files", files_bytes),
                  empty_volume("state", state_bytes), empty_volume("tmp", *request.limits.disk_bytes)};
    if (request.volume_claim)
        volumes.push_back(
            Object{{"name", "thread"}, {"persistentVolumeClaim", Object{{"claimName", *request.volume_claim}}}});
    else
        volumes.push_back(empty_volume("workspace", *request.limits.disk_bytes));
    if (!has_kept_home(request)) volumes.push_back(empty_volume("home", *request.limits.disk_bytes));
    return volumes;
}

Value mount_at(const char* volume, const char* path, bool read_only = false) {
    Object mount{{"name", volume}, {"mountPath", path}};
    if (read_only) mount["readOnly"] = true;
    return mount;
}

Array command_of(std::initializer_list<const char*> words, const std::vector<TargetMount>& mounts) {
    Array command;
    for (const char* word : words) command.push_back(word);
    for (const TargetMount& mount : mounts) command.push_back(Value((mount.is_folder ? "d:" : "f:") + mount.target));
    return command;
}

// The init container makes the folders of the thread's volume, so that they belong to the user of the pod.
Value tools_container(const PodSettings& settings, const PodRequest& request) {
    Array mounts{mount_at("tools", "/hone-bin"), mount_at("files", files_volume)};
    if (request.volume_claim) mounts.push_back(mount_at("thread", thread_volume));
    return Object{{"name", "tools"},
                  {"image", settings.tools_image},
                  {"imagePullPolicy", settings.pull_policy},
                  {"command", command_of({"/hone-tools/hone-pod", "install", "/hone-bin"}, request.mounts)},
                  {"resources", resources_of(request.limits)},
                  {"securityContext", container_security()},
                  {"volumeMounts", std::move(mounts)}};
}

Value mount_part(const char* volume, const char* path, const std::string& part, bool read_only) {
    Value mount = mount_at(volume, path, read_only);
    mount.as_object()["subPath"] = part;
    return mount;
}

// The first process writes to the volume of files; the rest of the pod sees each place of it at its target, read-only.
Value mounts_of(const PodRequest& request) {
    Array mounts{mount_at("tools", "/hone-bin", true), mount_at("files", files_volume),
                 mount_at("state", "/hone-state"), mount_at("tmp", "/tmp")};
    mounts.push_back(request.volume_claim ? mount_part("thread", "/workspace", "workspace", false)
                                          : mount_at("workspace", "/workspace"));
    mounts.push_back(has_kept_home(request) ? mount_part("thread", "/home/worker", "home", false)
                                            : mount_at("home", "/home/worker"));
    for (size_t i = 0; i < request.mounts.size(); ++i)
        mounts.push_back(mount_part("files", request.mounts[i].target.c_str(), place_name(i), true));
    return mounts;
}

Value worker(const PodSettings& settings, const PodRequest& request) {
    return Object{{"name", worker_container},
                  {"image", settings.image},
                  {"imagePullPolicy", settings.pull_policy},
                  {"command", command_of({"/hone-bin/hone-pod", "pod"}, request.mounts)},
                  {"workingDir", "/workspace"},
                  {"env", Array{Object{{"name", "HONE_SANDBOX"}, {"value", request.sandbox.text()}}}},
                  {"resources", resources_of(request.limits)},
                  {"securityContext", container_security()},
                  {"terminationMessagePolicy", "File"},
                  {"volumeMounts", mounts_of(request)}};
}

// A pod of a node that is away ends after 30 s instead of five minutes.
Value tolerations() {
    Array list;
    for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
        list.push_back(
            Object{{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 30}});
    return list;
}

Result<> check_names(const PodSettings& settings, const PodRequest& request) {
    if (!is_label_value(settings.installation))
        return invalid("not the id of an installation: " + settings.installation);
    for (const std::string* image : {&settings.image, &settings.tools_image})
        if (!is_image(*image)) return invalid("not an image: " + *image);
    for (const std::string& name : settings.pull_secrets)
        if (!is_object_name(name)) return invalid("not the name of a secret: " + name);
    for (const auto& [name, value] : settings.node_selector)
        if (!is_label_name(name) || (!value.empty() && !is_label_value(value)))
            return invalid("not a label of nodes: " + name + "=" + value);
    if (request.volume_claim && !is_object_name(*request.volume_claim))
        return invalid("not the name of a volume claim: " + *request.volume_claim);
    for (const auto& [tier, name] : settings.runtime_classes)
        if (!is_object_name(name)) return invalid("not the name of a RuntimeClass: " + name);
    if (request.tier != sandbox::Tier::ns && !settings.runtime_classes.contains(request.tier))
        return invalid("the isolation " + std::string(name_of(request.tier)) +
                       " needs a RuntimeClass, and none is set for this cluster");
    return {};
}

void add_choices(Object& spec, const PodSettings& settings, const PodRequest& request) {
    if (const auto found = settings.runtime_classes.find(request.tier); found != settings.runtime_classes.end())
        spec["runtimeClassName"] = found->second;
    if (settings.user == PodUser::user_namespace) spec["hostUsers"] = false;
    if (!settings.pull_secrets.empty()) {
        Array names;
        for (const std::string& name : settings.pull_secrets) names.push_back(Object{{"name", name}});
        spec["imagePullSecrets"] = std::move(names);
    }
    if (!settings.node_selector.empty()) {
        Object selector;
        for (const auto& [name, value] : settings.node_selector) selector[name] = value;
        spec["nodeSelector"] = std::move(selector);
    }
}

} // namespace

std::string pod_name(const sandbox::SandboxId& sandbox) {
    const std::string& text = sandbox.text();
    return "hone-" + lowercase_ascii(text.substr(text.find('_') + 1));
}

int64_t uid_of(const std::string& user_key) {
    const std::string hash = crypto::hash("pod uid " + user_key);
    uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | static_cast<uint8_t>(hash[static_cast<size_t>(i)]);
    return first_uid + static_cast<int64_t>(number % uid_count);
}

std::string spec_hash(const json::Value& pod) {
    const json::Value* spec = value_at(pod, {"spec"});
    return to_hex(crypto::hash(spec != nullptr ? json::print(*spec) : std::string()).substr(0, 16));
}

Result<json::Value> pod_of(const PodSettings& settings, const PodRequest& request) {
    TRY(check_names(settings, request));
    const std::string name = pod_name(request.sandbox);
    if (!is_object_name(name)) return invalid("not the id of a sandbox: " + request.sandbox.text());
    Object spec{{"restartPolicy", "Never"},
                {"activeDeadlineSeconds",
                 (*request.limits.wall_clock_ms + 999) / 1000 + deadline_margin_seconds + request.idle_seconds},
                {"automountServiceAccountToken", false},
                {"enableServiceLinks", false},
                {"hostNetwork", false},
                {"hostPID", false},
                {"hostIPC", false},
                {"shareProcessNamespace", false},
                {"dnsPolicy", "None"},
                {"dnsConfig", Object{{"nameservers", Array{"127.0.0.1"}}}},
                {"hostname", "worker"},
                {"terminationGracePeriodSeconds", 5},
                {"tolerations", tolerations()},
                {"securityContext", pod_security(settings, request)},
                {"volumes", volumes_of(request)},
                {"initContainers", Array{tools_container(settings, request)}},
                {"containers", Array{worker(settings, request)}}};
    add_choices(spec, settings, request);
    Object pod{{"apiVersion", "v1"}, {"kind", "Pod"}};
    Object labels{
        {installation_label, settings.installation}, {sandbox_label, request.sandbox.text()}, {role_label, "worker"}};
    if (request.volume_claim) labels[thread_label] = *request.volume_claim;
    pod["spec"] = std::move(spec);
    // Requests that no sidecar is injected; admission.h checks it.
    Object annotations{{spec_hash_annotation, spec_hash(pod)},
                       {"sidecar.istio.io/inject", "false"},
                       {"linkerd.io/inject", "disabled"}};
    pod["metadata"] = Object{{"name", name}, {"labels", std::move(labels)}, {"annotations", std::move(annotations)}};
    return Value(std::move(pod));
}

std::string claim_name(const std::string& thread) {
    return "hone-thread-" + to_hex(crypto::hash("volume of thread " + thread)).substr(0, 40);
}

json::Value claim_of(const std::string& installation, const std::string& storage_class, const std::string& thread,
                     int64_t bytes) {
    Object spec{{"accessModes", Array{"ReadWriteOnce"}},
                {"resources", Object{{"requests", Object{{"storage", std::to_string(bytes)}}}}}};
    if (storage_class != "default") spec["storageClassName"] = storage_class;
    return Object{{"apiVersion", "v1"},
                  {"kind", "PersistentVolumeClaim"},
                  {"metadata", Object{{"name", claim_name(thread)},
                                      {"labels", Object{{installation_label, installation}, {role_label, "thread"}}},
                                      {"annotations", Object{{thread_annotation, thread}}}}},
                  {"spec", std::move(spec)}};
}

json::Value delete_options(const std::string& uid, int64_t seconds) {
    return Object{{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"gracePeriodSeconds", seconds},
                  {"preconditions", Object{{"uid", uid}}}};
}

} // namespace hone::kubernetes
