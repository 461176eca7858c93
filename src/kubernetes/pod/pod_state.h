// What a pod does, why it does not start, and why it ended: from its status and its events, in words for people. Also
// what a refused request to create one means. Pure, any thread.
#pragma once

#include "base/time.h"
#include "kubernetes/api/api.h"
#include "json/json.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::kubernetes {

enum class PodPhase { pending, running, ended };

enum class PodCause {
    none,
    no_room,   // no node can take it now
    image,     // cannot be pulled
    node,      // a node could not make its container, or mount its volume
    memory,    // its memory limit
    disk,      // its disk limit
    deadline,  // activeDeadlineSeconds
    taken,     // evicted, preempted or drained: the cluster needs the place
    node_lost, // the node does not respond
    deleted,   // by another client
    exited,    // the first process ended by itself
};
constexpr auto enum_names(PodCause) {
    return std::array{EnumName{PodCause::none, "none"},           EnumName{PodCause::no_room, "no_room"},
                      EnumName{PodCause::image, "image"},         EnumName{PodCause::node, "node"},
                      EnumName{PodCause::memory, "memory"},       EnumName{PodCause::disk, "disk"},
                      EnumName{PodCause::deadline, "deadline"},   EnumName{PodCause::taken, "taken"},
                      EnumName{PodCause::node_lost, "node_lost"}, EnumName{PodCause::deleted, "deleted"},
                      EnumName{PodCause::exited, "exited"}};
}

struct PodState {
    PodPhase phase = PodPhase::pending;
    bool is_ready = false;       // the worker's container runs
    bool is_terminating = false; // a delete was requested
    PodCause cause = PodCause::none;
    std::string text; // one sentence or two: why it is pending, or why it ended
    std::optional<int64_t> exit_code;
    std::string image{}; // of the worker, by its digest, once its container runs; empty: not reported
};
// `events`: those of the pod, in any order; they explain what the status does not.
PodState read_pod_state(const json::Value& pod, const std::vector<json::Value>& events = {});

// What to do about a pod that stays pending for this cause: how long it may last, and what happens then.
struct Patience {
    enum class Then { wait, queue, fail } then = Then::wait;
    Duration after{};
};
Patience patience_with(PodCause cause);

// Why a request to create a pod was refused.
enum class CreateRefusal {
    exists,  // 409: compare its spec hash
    quota,   // the namespace is full: queue the run
    policy,  // PodSecurity, or a webhook: fail, with the cluster's words
    rights,  // RBAC: fail; the installation is not set up
    invalid, // the request is wrong
    later,   // the control plane does not respond: retry
};
struct CreateProblem {
    CreateRefusal refusal = CreateRefusal::later;
    std::string text;
};
CreateProblem explain_refusal(const ApiResponse& response);

} // namespace hone::kubernetes
