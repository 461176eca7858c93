#include "kubernetes/provider/pod_threads.h"

#include "base/log.h"
#include "kubernetes/api/object.h"
#include "kubernetes/pod/pod_spec.h"
#include "kubernetes/pod/pod_state.h"

#include <set>

namespace hone::kubernetes {

namespace {

// A run is written before its claim is made, but the list of kept threads may be older than both.
constexpr Duration new_for = std::chrono::minutes(10);

} // namespace

sandbox::SandboxSpec reader_spec(const std::string& thread) {
    sandbox::SandboxSpec spec;
    spec.thread = thread;
    spec.keep = spec.detached = true;
    spec.network = sandbox::NetworkMode::broker;
    spec.limits.value.memory_bytes = int64_t{128} << 20;
    spec.limits.value.cpus = 0.25;
    spec.limits.value.disk_bytes = int64_t{64} << 20;
    spec.limits.value.wall_clock_ms = 60 * 60'000;
    return spec;
}

std::string PodThreads::claims_path() const {
    return "/api/v1/namespaces/" + m_options.name_space + "/persistentvolumeclaims";
}

// A control plane that does not respond is no room, as it is for the pod: the run is queued again.
Result<std::string> PodThreads::claim(const std::string& thread, int64_t bytes) {
    auto made = make_claim(thread, bytes);
    if (!made.ok() && made.error().code == Code::unavailable)
        return busy("The cluster does not respond: " + made.error().message);
    return made;
}

Result<std::string> PodThreads::make_claim(const std::string& thread, int64_t bytes) {
    const std::string name = claim_name(thread);
    TRY(require_free(name));
    if (TRY(exists(thread))) return name;
    const ApiResponse made =
        TRY(m_api.create(claims_path(), claim_of(m_options.installation, m_options.storage_class, thread, bytes)));
    if (made.ok() || made.status == 409) return name;
    const CreateProblem problem = explain_refusal(made);
    const std::string text = "The volume of the session cannot be made: " + made.message;
    if (problem.refusal == CreateRefusal::quota || problem.refusal == CreateRefusal::later) return busy(text);
    return conflict(text);
}

// Two pods of one node can mount a volume at the same time, whatever its access mode is: only one of a thread may.
Result<> PodThreads::require_free(const std::string& claim) {
    const std::string pods = "/api/v1/namespaces/" + m_options.name_space + "/pods";
    for (const json::Value& pod : TRY(m_api.list(pods, std::string(thread_label) + "=" + claim)).items)
        if (read_pod_state(pod).phase != PodPhase::ended)
            return busy("the pod " + text_at(pod, {"metadata", "name"}) + " still has the volume of the session");
    return {};
}

Result<bool> PodThreads::exists(const std::string& thread) {
    const ApiResponse found = TRY(m_api.get(claims_path() + "/" + claim_name(thread)));
    if (found.status == 404) return false;
    if (!found.ok()) return error_of(found, "read the volume claim");
    if (text_at(found.body, {"metadata", "labels", installation_label}) != m_options.installation ||
        text_at(found.body, {"metadata", "annotations", thread_annotation}) != thread)
        return conflict("the volume claim " + claim_name(thread) + " belongs to another installation");
    if (!text_at(found.body, {"metadata", "deletionTimestamp"}).empty())
        return busy("the earlier volume of the session is being deleted");
    return true;
}

Result<int64_t> PodThreads::remove_others(const std::vector<std::string>& kept) {
    if (!have_volumes()) return int64_t{0};
    const std::set<std::string> stay(kept.begin(), kept.end());
    const std::string ours = std::string(installation_label) + "=" + m_options.installation;
    int64_t removed = 0;
    for (const json::Value& claim : TRY(m_api.list(claims_path(), ours)).items) {
        const std::string thread = text_at(claim, {"metadata", "annotations", thread_annotation});
        const auto created = parse_time(text_at(claim, {"metadata", "creationTimestamp"}));
        if (thread.empty() || stay.contains(thread) || !created.ok() || m_clock.now() - created.value() < new_for)
            continue;
        const std::string name = text_at(claim, {"metadata", "name"});
        const ApiResponse gone =
            TRY(m_api.remove(claims_path() + "/" + name, delete_options(text_at(claim, {"metadata", "uid"}), 0)));
        if (!gone.ok() && gone.status != 404 && gone.status != 409) return error_of(gone, "delete the volume claim");
        log(Level::info, "volume of a session deleted", {{"claim", name}, {"thread", thread}});
        ++removed;
    }
    return removed;
}

} // namespace hone::kubernetes
