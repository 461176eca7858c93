#include "kubernetes/pod/pod_state.h"

#include "kubernetes/pod/scheduling_text.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::kubernetes;

namespace {

PodState state_of(const std::string& status, const std::string& events = "[]") {
    const json::Value pod = json::parse(R"({"metadata":{},"status":)" + status + "}").value();
    const json::Value parsed = json::parse(events).value();
    return read_pod_state(pod, {parsed.get_array().begin(), parsed.get_array().end()});
}

std::string waiting(const char* reason, const char* message) {
    return std::string(R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}],)") +
           R"("containerStatuses":[{"name":"worker","image":"example/worker:1","state":{"waiting":{"reason":")" +
           reason + R"(","message":")" + message + R"("}}}]})";
}

std::string terminated(const char* reason, int code) {
    return std::string(
               R"({"phase":"Failed","initContainerStatuses":[{"name":"tools","state":{"terminated":{"exitCode":0}}}],)") +
           R"("containerStatuses":[{"name":"worker","state":{"terminated":{"reason":")" + reason + R"(","exitCode":)" +
           std::to_string(code) + "}}}]}";
}

CreateProblem refused(int status, const std::string& message) {
    ApiResponse response;
    response.status = status;
    response.message = message;
    return explain_refusal(response);
}

} // namespace

TEST_CASE("the scheduler's reasons are in plain words") {
    CHECK(explain_scheduling(
              "0/3 nodes are available: 1 Insufficient memory, 2 node(s) had untolerated taint {gpu: true}. "
              "preemption: 0/3 nodes are available: 3 No preemption victims found.") ==
          "None of the cluster's 3 nodes can take the pod: 1 has too little free memory, 2 have a taint that workers "
          "do not "
          "tolerate (gpu: true)");
    CHECK(
        explain_scheduling("0/2 nodes are available: 1 node(s) had volume node affinity conflict, 1 something new.") ==
        "None of the cluster's 2 nodes can take the pod: 1 has no access to the volume of the thread, 1 something new");
    CHECK(explain_scheduling("no nodes available to schedule pods") ==
          "No node of the cluster can take the pod: no nodes available to schedule pods");
    CHECK(explain_scheduling("") == "No node of the cluster can take the pod");
    CHECK(explain_scheduling("0/1 nodes are available: ").starts_with("None of the cluster's 1 nodes"));
}

TEST_CASE("a running pod has the image of its worker, by its digest") {
    const std::string running = R"({"phase":"Running","containerStatuses":[
        {"name":"sidecar","imageID":"other@sha256:1","state":{"running":{}}},
        {"name":"worker","imageID":"example/worker@sha256:2","state":{"running":{}}}]})";
    CHECK(state_of(running).image == "example/worker@sha256:2");
    CHECK(state_of(R"({"phase":"Running","containerStatuses":[{"name":"worker","state":{"running":{}}}]})").image ==
          "");
}

TEST_CASE("a pending pod states what it waits for") {
    const PodState full = state_of(R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
        "reason":"Unschedulable","message":"0/1 nodes are available: 1 Insufficient cpu."}]})");
    CHECK(full.phase == PodPhase::pending);
    CHECK(full.cause == PodCause::no_room);
    CHECK(full.text == "None of the cluster's 1 nodes can take the pod: 1 has too little free CPU");
    const PodState image = state_of(waiting("ImagePullBackOff", "Back-off pulling image"));
    CHECK(image.cause == PodCause::image);
    CHECK(image.text == "The image cannot be pulled: example/worker:1. Back-off pulling image");
    for (const char* reason : {"ErrImagePull", "InvalidImageName", "ErrImageNeverPull"})
        CHECK(state_of(waiting(reason, "")).cause == PodCause::image);
    for (const char* reason : {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
        CHECK(state_of(waiting(reason, "x")).cause == PodCause::node);
    const std::string starting = waiting("ContainerCreating", "");
    CHECK(state_of(starting).text == "The node starts the pod");
    CHECK(state_of(starting, R"([{"reason":"Pulling","message":"Pulling image"}])").text == "The node pulls the image");
    const PodState mount = state_of(starting, R"([
        {"reason":"FailedMount","message":"new","lastTimestamp":"2026-01-02T00:00:00Z"},
        {"reason":"FailedMount","message":"old","lastTimestamp":"2026-01-01T00:00:00Z"}])");
    CHECK(mount.cause == PodCause::node);
    CHECK(mount.text == "The volume of the thread cannot be mounted: new");
    CHECK(state_of(starting, R"([{"reason":"FailedAttachVolume","message":"Multi-Attach error for volume x"}])").text ==
          "The volume of the thread is still attached to another node: Multi-Attach error for volume x");
    CHECK(state_of(starting, R"([{"reason":"FailedCreatePodSandBox","message":"no address"}])").text ==
          "The node could not set up the pod: no address");
    CHECK(state_of(R"({"phase":"Pending"})").text == "Waiting for a node of the cluster");
    CHECK(state_of("{}").text == "Waiting for a node of the cluster");
    CHECK(patience_with(PodCause::no_room).then == Patience::Then::queue);
    CHECK(patience_with(PodCause::image).after == std::chrono::minutes(2));
    CHECK(patience_with(PodCause::none).then == Patience::Then::wait);
}

TEST_CASE("a running pod is ready with its worker, and its node may be lost") {
    const PodState ready =
        state_of(R"({"phase":"Running","containerStatuses":[{"name":"worker","state":{"running":{}}}]})");
    CHECK(ready.phase == PodPhase::running);
    CHECK(ready.is_ready);
    CHECK(ready.text.empty());
    const PodState lost =
        state_of(R"({"phase":"Running","conditions":[{"type":"Ready","status":"False","reason":"NodeStatusUnknown"}],
        "containerStatuses":[{"name":"worker","state":{"running":{}}}]})");
    CHECK(lost.cause == PodCause::node_lost);
    CHECK(state_of(R"({"phase":"Unknown"})").cause == PodCause::node_lost);
    const PodState ending = state_of(
        R"({"phase":"Running","containerStatuses":[{"name":"worker","state":{"terminated":{"exitCode":3}}}]})");
    CHECK(ending.phase == PodPhase::ended);
    CHECK(ending.exit_code == 3);
}

TEST_CASE("a pod that the cluster has marked states it while it still runs, or is not yet placed") {
    const std::string mark =
        R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","message":"m"}])";
    const PodState running = state_of(R"({"phase":"Running",)" + mark +
                                      R"(,"containerStatuses":[{"name":"worker","state":{"running":{}}}]})");
    CHECK(running.phase == PodPhase::running);
    CHECK(running.is_ready);
    CHECK(running.cause == PodCause::taken);
    CHECK(running.text == "An administrator or a program drained the node: m");
    CHECK(state_of(R"({"phase":"Pending",)" + mark + "}").cause == PodCause::taken);
    CHECK(state_of(R"({"phase":"Running","conditions":[{"type":"DisruptionTarget","status":"False"}]})").cause ==
          PodCause::none);
    const PodState killed =
        state_of(R"({"phase":"Running",)" + mark +
                 R"(,"containerStatuses":[{"name":"worker","state":{"terminated":{"exitCode":143}}}]})");
    CHECK(killed.phase == PodPhase::ended);
    CHECK(killed.cause == PodCause::taken); // its end by a signal is only how
}

TEST_CASE("an ended pod states whose reason it was") {
    CHECK(state_of(terminated("OOMKilled", 137)).cause == PodCause::memory);
    CHECK(state_of(terminated("OOMKilled", 137)).exit_code == 137);
    CHECK(state_of(terminated("Error", 1)).text == "The container worker ended with 1");
    CHECK(state_of(terminated("ContainerStatusUnknown", 137)).cause == PodCause::node_lost);
    CHECK(state_of(terminated("StartError", 128)).cause == PodCause::node);
    const auto ended = [](const std::string& fields) { return state_of(R"({"phase":"Failed",)" + fields + "}"); };
    CHECK(ended(R"("reason":"DeadlineExceeded")").cause == PodCause::deadline);
    CHECK(ended(R"("reason":"Evicted","message":"Usage of EmptyDir volume \"home\" exceeds the limit \"1Gi\". ")")
              .cause == PodCause::disk);
    CHECK(
        ended(
            R"("reason":"Evicted","message":"Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ")")
            .cause == PodCause::disk);
    CHECK(ended(R"("reason":"Evicted","message":"The node was low on resource: memory. ")").cause == PodCause::taken);
    CHECK(ended(R"("reason":"NodeLost")").cause == PodCause::node_lost);
    for (const char* reason : {"PreemptionByScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI",
                               "DeletionByPodGC", "TerminationByKubelet"}) {
        const PodState taken = ended(R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":")" +
                                     std::string(reason) + R"(","message":"why"}])");
        CHECK(taken.cause == PodCause::taken);
        CHECK(taken.text.ends_with(": why"));
        CHECK(!taken.text.starts_with("The cluster ended")); // each has words of its own
    }
    CHECK(ended(R"("message":"odd\u001b[2J")").text == "The pod ended: odd [2J"); // nothing reaches a terminal
}

TEST_CASE("a refused pod is queued, failed or sent again, by the cluster's reason") {
    CHECK(refused(409, "").refusal == CreateRefusal::exists);
    const CreateProblem full = refused(403, "pods \"a\" is forbidden: exceeded quota: pods, requested: pods=1");
    CHECK(full.refusal == CreateRefusal::quota);
    // Each attempt is for another pod: a run that waits shows the reason once.
    CHECK(full.text == "The quota of the namespace is used up: exceeded quota: pods, requested: pods=1");
    CHECK(refused(403, "pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": x").refusal ==
          CreateRefusal::policy);
    CHECK(refused(403, "admission webhook \"x\" denied the request: no").refusal == CreateRefusal::policy);
    CHECK(refused(400, "admission webhook \"x\" denied the request: no").refusal == CreateRefusal::policy);
    CHECK(refused(403, "pods is forbidden: User \"u\" cannot create resource \"pods\"").refusal ==
          CreateRefusal::rights);
    CHECK(refused(401, "Unauthorized").refusal == CreateRefusal::rights);
    CHECK(refused(422, "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")
              .refusal == CreateRefusal::policy);
    CHECK(refused(422, "Pod \"a\" is invalid").refusal == CreateRefusal::invalid);
    for (const int status : {429, 500, 502, 503, 504})
        CHECK(refused(status, "failed calling webhook").refusal == CreateRefusal::later);
    CHECK(refused(503, "").text == "The cluster does not respond: status 503");
}
