#include "kubernetes/pod/pod_state.h"

#include "base/text.h"
#include "kubernetes/api/object.h"
#include "kubernetes/pod/pod_spec.h"
#include "kubernetes/pod/scheduling_text.h"

#include <algorithm>
#include <array>

namespace hone::kubernetes {

namespace {

constexpr size_t most_text_bytes = 1000;

// The cluster's words, fit to be shown.
std::string shown(std::string_view text) {
    std::string line = repair_utf8(trim(text));
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return std::string(truncate_utf8(line, most_text_bytes));
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

const json::Value* condition_of(const json::Value& pod, std::string_view type) {
    for (const json::Value& condition : list_at(pod, {"status", "conditions"}))
        if (text_at(condition, {"type"}) == type) return &condition;
    return nullptr;
}

// Containers, those of the init phase first: the first that waits for a reason is the one that holds up the rest.
std::vector<const json::Value*> container_states(const json::Value& pod) {
    std::vector<const json::Value*> states;
    for (const char* list : {"initContainerStatuses", "containerStatuses"})
        for (const json::Value& status : list_at(pod, {"status", list})) states.push_back(&status);
    return states;
}

// The message of the latest event with this reason.
std::string event_message(const std::vector<json::Value>& events, std::string_view reason) {
    std::string latest, message;
    for (const json::Value& event : events) {
        if (text_at(event, {"reason"}) != reason) continue;
        std::string time = text_at(event, {"lastTimestamp"});
        if (time.empty()) time = text_at(event, {"eventTime"});
        if (time < latest) continue;
        latest = time;
        message = text_at(event, {"message"});
    }
    return shown(message);
}

struct Waiting {
    std::string_view reason;
    PodCause cause;
    std::string_view text; // before the image or the cluster's message
};
constexpr std::array waiting_reasons{
    Waiting{"ErrImagePull", PodCause::image, "The image cannot be pulled"},
    Waiting{"ImagePullBackOff", PodCause::image, "The image cannot be pulled"},
    Waiting{"RegistryUnavailable", PodCause::image, "The registry of the image does not respond"},
    Waiting{"InvalidImageName", PodCause::image, "The name of the image is not valid"},
    Waiting{"ErrImageNeverPull", PodCause::image,
            "The image is not on the node, and the policy does not let it be pulled"},
    Waiting{"ImageInspectError", PodCause::image, "The image on the node is damaged"},
    Waiting{"CreateContainerConfigError", PodCause::node, "The node rejects the configuration of the container"},
    Waiting{"CreateContainerError", PodCause::node, "The node could not create the container"},
    Waiting{"RunContainerError", PodCause::node, "The node could not start the container"},
    Waiting{"PostStartHookError", PodCause::node, "The node could not start the container"},
};

struct EventReason {
    std::string_view reason;
    PodCause cause;
    std::string_view text;
};
constexpr std::array event_reasons{
    EventReason{"FailedAttachVolume", PodCause::node, "The volume of the thread cannot be attached"},
    EventReason{"FailedMount", PodCause::node, "The volume of the thread cannot be mounted"},
    EventReason{"FailedCreatePodSandBox", PodCause::node, "The node could not set up the pod"},
    EventReason{"NetworkNotReady", PodCause::node, "The network of the node is not ready"},
};

bool explain_waiting(const json::Value& pod, PodState& state) {
    for (const json::Value* status : container_states(pod)) {
        const std::string reason = text_at(*status, {"state", "waiting", "reason"});
        for (const Waiting& known : waiting_reasons) {
            if (known.reason != reason) continue;
            const std::string message = shown(text_at(*status, {"state", "waiting", "message"}));
            state.cause = known.cause;
            state.text = std::string(known.text) + ": " +
                         (known.cause == PodCause::image ? shown(text_at(*status, {"image"})) + ". " : "") + message;
            return true;
        }
    }
    return false;
}

bool explain_events(const std::vector<json::Value>& events, PodState& state) {
    for (const EventReason& known : event_reasons)
        if (const std::string message = event_message(events, known.reason); !message.empty()) {
            state.cause = known.cause;
            state.text = std::string(known.text) + ": " + message;
            if (contains(message, "Multi-Attach"))
                state.text = "The volume of the thread is still attached to another node: " + message;
            return true;
        }
    return false;
}

void explain_pending(const json::Value& pod, const std::vector<json::Value>& events, PodState& state) {
    const json::Value* scheduled = condition_of(pod, "PodScheduled");
    if (scheduled != nullptr && text_at(*scheduled, {"status"}) == "False") {
        std::string message = text_at(*scheduled, {"message"});
        if (message.empty()) message = event_message(events, "FailedScheduling");
        state.cause = PodCause::no_room;
        state.text = text_at(*scheduled, {"reason"}) == "SchedulingGated"
                         ? "The cluster holds the pod before it is placed on a node"
                         : explain_scheduling(shown(message));
        return;
    }
    if (explain_waiting(pod, state) || explain_events(events, state)) return;
    state.text = scheduled == nullptr || text_at(*scheduled, {"status"}) != "True" ? "Waiting for a node of the cluster"
                 : event_message(events, "Pulling").empty() || !event_message(events, "Pulled").empty()
                     ? "The node starts the pod"
                     : "The node pulls the image";
}

struct Disruption {
    std::string_view reason, text;
};
constexpr std::array disruptions{
    Disruption{"PreemptionByScheduler", "The cluster gave the place to a pod with a higher priority"},
    Disruption{"DeletionByTaintManager", "The node was marked as not usable"},
    Disruption{"EvictionByEvictionAPI", "An administrator or a program drained the node"},
    Disruption{"DeletionByPodGC", "The node no longer exists"},
    Disruption{"TerminationByKubelet", "The node ended the pod"},
};

void explain_eviction(const std::string& message, PodState& state) {
    const bool is_ours = contains(message, "Usage of EmptyDir volume") ||
                         contains(message, "local ephemeral storage limit") ||
                         contains(message, "ephemeral local storage usage exceeds");
    state.cause = is_ours ? PodCause::disk : PodCause::taken;
    state.text = (is_ours ? "The sandbox reached its disk limit: " : "The node was low on a resource: ") + message;
}

// Of the worker's container; false when it has not ended.
bool explain_termination(const json::Value& pod, PodState& state) {
    for (const json::Value* status : container_states(pod)) {
        const json::Value* ended = value_at(*status, {"state", "terminated"});
        if (ended == nullptr || !ended->is_object()) continue;
        const std::string name = text_at(*status, {"name"});
        const auto code = integer_at(*ended, {"exitCode"});
        const std::string reason = text_at(*ended, {"reason"});
        if (name != worker_container && code == 0) continue; // an init container that has done its work
        if (name == worker_container) state.exit_code = code;
        if (reason == "OOMKilled") {
            state.cause = PodCause::memory;
            state.text = "The sandbox reached its memory limit";
        } else if (reason == "ContainerStatusUnknown") {
            state.cause = PodCause::node_lost;
            state.text = "The node does not report what happened to the container";
        } else if (reason == "ContainerCannotRun" || reason == "StartError") {
            state.cause = PodCause::node;
            state.text = "The node could not start the container: " + shown(text_at(*ended, {"message"}));
        } else {
            state.cause = PodCause::exited;
            state.text = "The container " + shown(name) + " ended with " + std::to_string(code.value_or(-1));
        }
        return true;
    }
    return false;
}

// False: the cluster has not marked it.
bool explain_disruption(const json::Value& pod, PodState& state) {
    const json::Value* target = condition_of(pod, "DisruptionTarget");
    if (target == nullptr || text_at(*target, {"status"}) != "True") return false;
    const std::string why = text_at(*target, {"reason"});
    const std::string message = shown(text_at(*target, {"message"}));
    std::string_view text = "The cluster ended the pod";
    for (const Disruption& known : disruptions)
        if (known.reason == why) text = known.text;
    state.cause = PodCause::taken;
    state.text = std::string(text) + (message.empty() ? "" : ": " + message);
    return true;
}

void explain_end(const json::Value& pod, PodState& state) {
    const std::string reason = text_at(pod, {"status", "reason"});
    const std::string message = shown(text_at(pod, {"status", "message"}));
    if (reason == "DeadlineExceeded") {
        state.cause = PodCause::deadline;
        state.text = "The pod reached its deadline";
        return;
    }
    if (reason == "Evicted") return explain_eviction(message, state);
    if (explain_disruption(pod, state)) return;
    if (reason == "NodeLost" || reason == "NodeShutdown" || reason == "Terminated") {
        state.cause = reason == "NodeLost" ? PodCause::node_lost : PodCause::taken;
        state.text = reason == "NodeLost" ? "The node does not respond" : "The node was shut down";
        return;
    }
    if (explain_termination(pod, state)) return;
    state.cause = PodCause::exited;
    state.text = message.empty() ? "The pod ended" : "The pod ended: " + message;
}

} // namespace

PodState read_pod_state(const json::Value& pod, const std::vector<json::Value>& events) {
    PodState state;
    const std::string phase = text_at(pod, {"status", "phase"});
    state.is_terminating = !text_at(pod, {"metadata", "deletionTimestamp"}).empty();
    if (phase == "Failed" || phase == "Succeeded") {
        state.phase = PodPhase::ended;
        explain_end(pod, state);
        return state;
    }
    for (const json::Value& status : list_at(pod, {"status", "containerStatuses"}))
        if (text_at(status, {"name"}) == worker_container) {
            state.is_ready = value_at(status, {"state", "running"}) != nullptr;
            state.image = truncate_utf8(text_at(status, {"imageID"}), most_text_bytes);
        }
    if (phase == "Running") state.phase = PodPhase::running;
    if (const json::Value* ready = condition_of(pod, "Ready");
        phase == "Running" && ready != nullptr && text_at(*ready, {"reason"}) == "NodeStatusUnknown") {
        state.cause = PodCause::node_lost;
        state.text = "The node does not respond";
    } else if (phase == "Unknown") {
        state.phase = PodPhase::running;
        state.cause = PodCause::node_lost;
        state.text = "The node does not respond";
    } else if (phase == "Running" && !state.is_ready && explain_termination(pod, state)) {
        state.phase = PodPhase::ended; // its phase follows a moment later
        explain_disruption(pod, state);
    } else if (explain_disruption(pod, state)) {
        return state; // it is about to be deleted
    } else if (!state.is_ready) {
        explain_pending(pod, events, state);
    }
    return state;
}

Patience patience_with(PodCause cause) {
    using std::chrono::minutes;
    switch (cause) {
    case PodCause::no_room:
        return {Patience::Then::queue, minutes(5)};
    case PodCause::image:
    case PodCause::node:
        return {Patience::Then::fail, minutes(2)};
    case PodCause::none:
    case PodCause::memory:
    case PodCause::disk:
    case PodCause::deadline:
    case PodCause::taken:
    case PodCause::node_lost:
    case PodCause::deleted:
    case PodCause::exited:
        break;
    }
    return {};
}

CreateProblem explain_refusal(const ApiResponse& response) {
    const std::string message = shown(response.message);
    switch (response.status) {
    case 409:
        return {CreateRefusal::exists, "A pod with this name exists: " + message};
    case 403:
        // Without the name of the pod, which is another one in each attempt: the same reason is the same text.
        if (const size_t at = message.find("exceeded quota"); at != std::string::npos)
            return {CreateRefusal::quota, "The quota of the namespace is used up: " + message.substr(at)};
        if (contains(message, "violates PodSecurity") || contains(message, "admission webhook") ||
            contains(message, "ValidatingAdmissionPolicy") || contains(message, "unable to validate against any"))
            return {CreateRefusal::policy, "A policy of the cluster rejects the pod: " + message};
        return {CreateRefusal::rights,
                "Hone's account in the cluster does not have the right to create pods: " + message};
    case 400:
    case 404:
    case 413:
    case 422:
        if (contains(message, "admission webhook") || contains(message, "ValidatingAdmissionPolicy"))
            return {CreateRefusal::policy, "A policy of the cluster rejects the pod: " + message};
        return {CreateRefusal::invalid, "The cluster rejects the pod: " + message};
    case 401:
        return {CreateRefusal::rights, "The cluster rejects Hone's credentials: " + message};
    default:
        return {CreateRefusal::later, "The cluster does not respond: " +
                                          (message.empty() ? "status " + std::to_string(response.status) : message)};
    }
}

} // namespace hone::kubernetes
