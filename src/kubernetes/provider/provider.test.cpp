// The provider against tests/kubernetes_fake (HONE_SOURCE_DIR): what a cluster refuses, changes and ends before a pod
// can respond. What pods do is tested with a real cluster (tests/kubernetes).
#include "kubernetes/fake_cluster_fixture.h"
#include "kubernetes/provider/cluster_check.h"
#include "kubernetes/provider/kubernetes_provider.h"
#include "kubernetes/provider/pod_threads.h"

#include <filesystem>

using namespace hone;
using namespace hone::kubernetes;
using namespace hone::kubernetes::testing;

namespace {

sandbox::SandboxSpec kept() {
    sandbox::SandboxSpec spec;
    spec.keep = true; // there is no command
    return spec;
}

struct ProviderBench {
    ProviderBench() {
        char pattern[] = "/tmp/hone-provider-XXXXXX";
        folder = ::mkdtemp(pattern);
        provider = open();
    }
    ~ProviderBench() {
        provider.reset();
        std::filesystem::remove_all(folder);
    }
    std::unique_ptr<sandbox::Provider> open() const { return open_with(clock); }
    std::unique_ptr<sandbox::Provider> open_with(const Clock& clock, PodUser user = PodUser::own_uid) const {
        ProviderOptions options;
        options.pods.user = user;
        options.access = cluster.access();
        options.pods.image = options.pods.tools_image = "example/worker:1";
        options.folder = folder;
        auto opened = open_kubernetes_provider(std::move(options), clock);
        REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
        return std::move(opened).value();
    }
    // A pod of this installation, as an earlier server left it.
    void make_pod(const std::string& letter, const std::string& sandbox = "") const {
        Client client(cluster.access());
        json::Value pod = pod_for(letter);
        json::Object& labels = pod.at("metadata").at("labels").get_object();
        labels[installation_label] = read_file(folder + "/installation").value();
        if (!sandbox.empty()) labels[sandbox_label] = sandbox;
        REQUIRE(client.api.create(pods, pod).value().status == 201);
        cluster.run_pod(name_for(letter));
    }
    void end_pod(const std::string& letter) const {
        cluster.control(R"({"do":"status","pod":")" + name_for(letter) + R"(","status":{"phase":"Failed"}})");
    }
    Error refused(const sandbox::SandboxSpec& spec = kept()) {
        auto started = provider->start(spec);
        REQUIRE_FALSE(started.ok());
        return started.error();
    }

    const FakeCluster cluster;
    const SystemClock clock;
    std::string folder;
    std::unique_ptr<sandbox::Provider> provider;
};

} // namespace

TEST_CASE("what a cluster refuses is a reason: room later, policies and rights now") {
    ProviderBench bench;
    const auto refuse = [&](const std::string& message, int status) {
        bench.cluster.control(R"({"do":"fail","method":"POST","path":"/pods","status":)" + std::to_string(status) +
                              R"(,"message":")" + message + R"("})");
        return bench.refused();
    };
    CHECK(refuse("exceeded quota: pods", 403).code == Code::busy);
    CHECK(refuse("failed calling webhook", 500).code == Code::busy);
    const Error policy = refuse("violates PodSecurity \\\"restricted:latest\\\"", 403);
    CHECK(policy.code == Code::conflict);
    CHECK(policy.message.find("violates PodSecurity") != std::string::npos);
    CHECK(refuse("pods is forbidden: User x cannot create resource pods", 403).code == Code::conflict);
    CHECK(bench.provider->list().value().empty());
}

TEST_CASE("a pod that the cluster changed is deleted before it starts") {
    ProviderBench bench;
    bench.cluster.control(R"({"do":"inject","container":"sidecar"})");
    const Error error = bench.refused();
    CHECK(error.message.find("spec.containers[sidecar] was added") != std::string::npos);
    CHECK(bench.cluster.requests("DELETE ") == 1);
    CHECK(bench.provider->list().value().empty());
}

TEST_CASE("a spec that a pod cannot keep is rejected before anything is made") {
    ProviderBench bench;
    sandbox::SandboxSpec spec = kept();
    spec.layers.value = {"layer"};
    CHECK(bench.refused(spec).code == Code::invalid);
    spec = kept();
    spec.capture = bench.folder + "/capture";
    CHECK(bench.refused(spec).code == Code::invalid);
    spec = kept();
    spec.root = std::string("debian");
    CHECK(bench.refused(spec).code == Code::invalid);
    spec = kept();
    spec.mounts.value = {{bench.folder, "/data", false}};
    CHECK(bench.refused(spec).code == Code::invalid);
    spec = kept();
    spec.minimum_tier = sandbox::Tier::gvisor;
    CHECK(bench.refused(spec).code == Code::invalid);
    CHECK(bench.cluster.requests("POST /api") == 0);
    CHECK_FALSE(bench.provider->capabilities().threads);
    CHECK_FALSE(bench.provider->capabilities().layers);
}

TEST_CASE("a pod that ends before it responds is a reason, and nothing of it is left") {
    ProviderBench bench;
    std::optional<Error> error;
    std::jthread starter([&] { error = bench.provider->start(kept()).error(); });
    std::vector<sandbox::SandboxId> ids;
    while (ids.empty()) ids = bench.provider->list().value();
    bench.cluster.control(
        R"({"do":"status","pod":")" + pod_name(ids[0]) +
        R"(","status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}})");
    starter.join();
    REQUIRE(error);
    CHECK(error->code == Code::busy); // the cluster's need is no fault of the run: another pod is made
    CHECK(error->message.find("low on") != std::string::npos);
    CHECK(bench.provider->list().value().empty());
    CHECK(bench.provider->attach(ids[0]).error().code == Code::not_found);
}

TEST_CASE("how a pod ends before it responds decides whether another one is made") {
    ProviderBench bench;
    // The status that the cluster gives it; with "deleted" it is deleted after that, while its container still runs.
    const auto ended = [&](const std::string& status, bool is_deleted = false) {
        std::optional<Error> error;
        std::jthread starter([&] { error = bench.provider->start(kept()).error(); });
        std::vector<sandbox::SandboxId> ids;
        while (ids.empty()) ids = bench.provider->list().value();
        bench.cluster.control(R"({"do":"status","pod":")" + pod_name(ids[0]) + R"(","status":)" + status + "}");
        Client client(bench.cluster.access());
        if (is_deleted) CHECK(client.api.remove(pods + "/" + pod_name(ids[0]), json::Object{}).value().ok());
        starter.join();
        REQUIRE(error);
        CHECK(bench.provider->list().value().empty());
        return std::string(code_name(error->code)) + ": " + error->message;
    };
    const auto marked = [](const std::string& phase, const std::string& reason) {
        return R"({"phase":")" + phase + R"(","conditions":[{"type":"DisruptionTarget","status":"True","reason":")" +
               reason + R"(","message":"why"}]})";
    };
    const std::string again = std::string(code_name(Code::busy)) + ": ";
    const std::string failed = std::string(code_name(Code::unavailable)) + ": ";
    CHECK(ended(marked("Failed", "PreemptionByScheduler")) ==
          again + "The cluster gave the place to a pod with a higher priority: why");
    CHECK(ended(marked("Pending", "EvictionByEvictionAPI"), true) ==
          again + "An administrator or a program drained the node: why");
    CHECK(ended(R"({"phase":"Failed","reason":"NodeLost"})") == again + "The node does not respond");
    CHECK(ended(R"({"phase":"Failed","containerStatuses":[{"name":"worker","state":)"
                R"({"terminated":{"reason":"ContainerStatusUnknown","exitCode":137}}}]})")
              .starts_with(again + "The node does not report"));
    CHECK(ended(R"({"phase":"Failed","reason":"DeadlineExceeded"})").starts_with(failed));
    CHECK(ended(R"({"phase":"Failed","containerStatuses":[{"name":"worker","state":)"
                R"({"terminated":{"reason":"OOMKilled","exitCode":137}}}]})")
              .starts_with(failed + "The sandbox reached its memory limit"));
}

TEST_CASE("pods that nothing here knows are removed: those that have ended immediately, others after ten minutes") {
    ProviderBench bench;
    FakeClock clock{parse_time("2026-01-01T01:00:00Z").value()};
    const auto provider = bench.open_with(clock);
    Client client(bench.cluster.access());
    bench.make_pod("1");
    bench.make_pod("2");
    std::optional<Error> error;
    std::atomic<bool> is_seen{false};
    std::atomic<bool> may_start{true};
    std::jthread starter([&] {
        error = provider
                    ->start(kept(),
                            [&](const std::string&) {
                                is_seen = true;
                                return may_start.load();
                            })
                    .error();
    });
    while (!is_seen) std::this_thread::yield();
    CHECK(provider->list().value().size() == 3);
    CHECK(provider->reconcile().value() == 0);
    bench.end_pod("1");
    CHECK(provider->reconcile().value() == 1);
    CHECK(provider->list().value().size() == 2);
    clock.advance(std::chrono::minutes(11));
    CHECK(provider->reconcile().value() == 1);
    CHECK(client.api.get(pods + "/" + name_for("2")).value().status == 404);
    CHECK(provider->list().value().size() == 1); // the one that is being started
    may_start = false;
    starter.join();
    REQUIRE(error);
    CHECK(provider->list().value().empty());
}

TEST_CASE("each leftover takes one request, its own, and one that cannot be deleted does not keep the others") {
    ProviderBench bench;
    bench.make_pod("6"); // of a run that works
    bench.make_pod("7", "not-an-id");
    // Its label is that of the run that works: what is deleted is the pod that has ended.
    bench.make_pod("5", "sbx_01JCQZ5V8M0000000000000006");
    for (const char* letter : {"1", "2", "3", "4"}) bench.make_pod(letter);
    for (const char* letter : {"1", "2", "3", "4", "5"}) bench.end_pod(letter);
    bench.cluster.control(R"({"do":"terminate","pod":")" + name_for("4") + R"("})");
    CHECK(bench.provider->list().value().size() == 5); // neither the one without an id nor the one being deleted
    bench.cluster.control(R"({"do":"fail","method":"DELETE","path":")" + name_for("2") +
                          R"(","status":500,"message":"the webhook is broken"})");
    const Error error = bench.provider->reconcile().error();
    CHECK(error.message == "could not delete the pod " + name_for("2") + ": the webhook is broken");
    CHECK(bench.cluster.requests("DELETE ") == 4); // 1, 2, 3 and 5
    CHECK(bench.cluster.requests("GET /api/v1/namespaces/workers/pods/") == 0);
    CHECK(bench.provider->reconcile().value() == 1);
    Client client(bench.cluster.access());
    const auto exists = [&](const std::string& letter) {
        return client.api.get(pods + "/" + name_for(letter)).value().ok();
    };
    for (const char* letter : {"1", "2", "3", "5"}) CHECK_FALSE(exists(letter));
    for (const char* letter : {"4", "6", "7"}) CHECK(exists(letter));
}

TEST_CASE("a server that starts again connects to its pods without a request to read each of them") {
    ProviderBench bench;
    bench.provider.reset();
    for (const char* letter : {"1", "2", "3", "4"}) bench.make_pod(letter);
    bench.end_pod("4");
    bench.provider = bench.open();
    const auto attach = [&](const std::string& letter) {
        return bench.provider->attach(sandbox::SandboxId("sbx_01JCQZ5V8M000000000000000" + letter));
    };
    for (const char* letter : {"1", "2", "3"}) CHECK(attach(letter).ok());
    CHECK(attach("4").error().code == Code::not_found);
    CHECK(bench.cluster.requests("/exec") == 3);
    CHECK(bench.cluster.requests("GET /api/v1/namespaces/workers/pods/") == 3); // the same
    CHECK(attach("5").error().code == Code::not_found);                         // it may be newer than the last event
    CHECK(bench.cluster.requests("GET " + pods + "/" + name_for("5")) == 1);
    // One that is destroyed is not read before either.
    REQUIRE(bench.provider->destroy(sandbox::SandboxId("sbx_01JCQZ5V8M0000000000000004")).ok());
    CHECK(bench.cluster.requests("DELETE ") == 1);
    CHECK(bench.cluster.requests("GET /api/v1/namespaces/workers/pods/") == 4);
}

TEST_CASE("nothing waits for the channel of a pod that ends meanwhile") {
    ProviderBench bench;
    bench.make_pod("1");
    bench.cluster.control(R"({"do":"fail","method":"GET","path":"/exec","times":1000,"status":500})");
    const Duration began = bench.clock.steady();
    std::jthread ender([&] {
        while (bench.cluster.requests("/exec") < 1) std::this_thread::yield();
        bench.cluster.control(R"({"do":"terminate","pod":")" + name_for("1") + R"("})");
    });
    const auto attached = bench.provider->attach(sandbox::SandboxId("sbx_01JCQZ5V8M0000000000000001"));
    CHECK(attached.error().code == Code::not_found);
    CHECK(attached.error().message.find("is being deleted") != std::string::npos);
    CHECK(bench.clock.steady() - began < long_enough); // a channel that does not open is waited for a minute
}

TEST_CASE("a server without user namespaces is refused pods that need them") {
    ProviderBench bench;
    bench.cluster.control(R"({"do":"drop","field":"hostUsers"})");
    const auto provider = bench.open_with(bench.clock, PodUser::user_namespace);
    const auto started = provider->start(kept());
    REQUIRE_FALSE(started.ok());
    CHECK(started.error().code == Code::conflict);
    CHECK(started.error().message == "the cluster changed the pod, so it was deleted: spec.hostUsers was removed");
    CHECK(provider->list().value().empty());
}

TEST_CASE("the check of a cluster names what is missing") {
    const FakeCluster cluster;
    Client client(cluster.access());
    const auto checked = [&](const ClusterWanted& wanted = {"workers", "", ""}) {
        std::string text;
        for (const ClusterFinding& finding : check_cluster(client.api, wanted))
            text += (finding.is_ok ? "ok " : "no ") + finding.name + ": " + finding.detail + "\n";
        return text;
    };
    const std::string version = "ok kubernetes: version 1.34\n";
    const std::string rights = "ok kubernetes rights: all that runs need, in namespace workers\n";
    const std::string network = "ok kubernetes network: policy workers-deny-all; each pod probes that it is enforced\n";
    CHECK(checked() == version + rights + network);

    cluster.control(R"({"do":"version","minor":"29"})");
    CHECK(checked() == "no kubernetes: version 1.29\n");  // and nothing is asked of such a server
    cluster.control(R"({"do":"version","minor":"30+"})"); // as some vendors write it
    CHECK(checked().starts_with("ok kubernetes: version 1.30+\n"));
    cluster.control(R"({"do":"version","minor":"34"})");

    for (const char* right : {"create pods", "get pods", "list pods", "watch pods", "delete pods", "get pods/exec",
                              "create pods/exec", "get pods/log", "list events", "list networkpolicies"}) {
        cluster.control(R"({"do":"rights","missing":[")" + std::string(right) + R"("]})");
        CHECK(checked() == version + "no kubernetes rights: missing in namespace workers: " + right + "\n" + network);
    }
    for (const char* verb : {"create", "get", "list", "delete"}) {
        const std::string right = std::string(verb) + " persistentvolumeclaims";
        cluster.control(R"({"do":"rights","missing":[")" + right + R"("]})");
        CHECK(checked() == version + rights + network); // needed with volumes only
        CHECK(checked({"workers", "default", ""}).find("missing in namespace workers: " + right) != std::string::npos);
    }
    cluster.control(R"({"do":"rights","missing":[]})");

    const auto with_policy = [&](const std::string& spec) {
        cluster.control(R"({"do":"policies","items":[)" +
                        (spec.empty() ? "" : R"({"metadata":{"name":"p"},"spec":)" + spec + "}") + "]}");
        return checked().substr((version + rights).size(), 2) == "ok";
    };
    CHECK_FALSE(with_policy(""));
    CHECK_FALSE(with_policy("{}"));
    CHECK_FALSE(with_policy(R"({"podSelector":{},"policyTypes":["Ingress"]})"));
    CHECK_FALSE(with_policy(R"({"podSelector":{},"policyTypes":["Egress"]})"));
    CHECK_FALSE(with_policy(R"({"podSelector":{},"policyTypes":["Ingress","Egress"],"egress":[{}]})"));
    CHECK_FALSE(with_policy(R"({"podSelector":{"matchLabels":{"app":"other"}},"policyTypes":["Ingress","Egress"]})"));
    CHECK_FALSE(with_policy(
        R"({"podSelector":{"matchExpressions":[{"key":"x","operator":"Exists"}]},"policyTypes":["Ingress","Egress"]})"));
    CHECK(with_policy(R"({"podSelector":{},"policyTypes":["Ingress","Egress"]})"));
    CHECK(with_policy(
        R"({"podSelector":{"matchLabels":{"hone/role":"worker"}},"policyTypes":["Ingress","Egress"],"ingress":[]})"));

    const ClusterWanted with_class{"workers", "", "gvisor"};
    CHECK(checked(with_class).find("no kubernetes isolation: the cluster has no RuntimeClass gvisor\n") !=
          std::string::npos);
    cluster.control(R"({"do":"runtime_classes","names":["gvisor"]})");
    CHECK(checked(with_class).find("ok kubernetes isolation: RuntimeClass gvisor, handler runsc") != std::string::npos);
    cluster.control(R"({"do":"runtime_classes","names":[],"may_read":false})");
    CHECK(checked(with_class).find("ok kubernetes isolation: RuntimeClass gvisor may not be read") !=
          std::string::npos);
}

TEST_CASE("a thread has one claim, which goes when nothing needs it, and one pod") {
    const FakeCluster cluster;
    Client client(cluster.access());
    FakeClock clock{parse_time("2026-01-01T01:00:00Z").value()};
    PodThreads threads(client.api, clock, {"workers", "ins-1", "fast"});
    PodThreads others(client.api, clock, {"workers", "ins-2", "fast"});
    CHECK_FALSE(threads.exists("a").value());
    const std::string claim = threads.claim("a", 1000).value();
    CHECK(threads.claim("a", 2000).value() == claim);
    CHECK(threads.exists("a").value());
    CHECK(cluster.requests("POST /api/v1/namespaces/workers/persistentvolumeclaims") == 1);
    CHECK(others.exists("a").error().code == Code::conflict);
    const auto stored = client.api.get("/api/v1/namespaces/workers/persistentvolumeclaims/" + claim).value();
    CHECK(text_at(stored.body, {"spec", "resources", "requests", "storage"}) == "1000");
    CHECK(text_at(stored.body, {"spec", "storageClassName"}) == "fast");

    json::Value pod = pod_for("1");
    pod.at("metadata").at("labels").get_object()[thread_label] = claim;
    REQUIRE(client.api.create(pods, pod).value().status == 201);
    CHECK(threads.claim("a", 1000).error().code == Code::busy);
    cluster.control(R"({"do":"status","pod":")" + name_for("1") + R"(","status":{"phase":"Failed"}})");
    CHECK(threads.claim("a", 1000).ok());

    // A control plane that is away is no reason to fail a run: it is retried.
    for (const char* request : {R"("GET","path":"/pods?limit")", R"("GET","path":"persistentvolumeclaims")",
                                R"("POST","path":"persistentvolumeclaims")"}) {
        cluster.control(R"({"do":"fail","times":2,"cut":true,"method":)" + std::string(request) + "}");
        CHECK(threads.claim("b", 1000).error().code == Code::busy);
        cluster.control(R"({"do":"forget_faults"})");
    }
    REQUIRE(threads.claim("b", 1000).ok());
    cluster.control(R"({"do":"claims_created","at":"2026-01-01T00:55:00Z"})");
    REQUIRE(threads.claim("new", 1000).ok());
    CHECK(others.remove_others({}).value() == 0);
    CHECK(threads.remove_others({"b"}).value() == 1);
    CHECK_FALSE(threads.exists("a").value());
    CHECK(threads.exists("b").value());
    CHECK(threads.exists("new").value());
    PodThreads none(client.api, clock, {"workers", "ins-1", ""});
    CHECK(none.remove_others({}).value() == 0);
}

TEST_CASE("a start that is cancelled, or whose pod another client deletes, leaves no pod") {
    ProviderBench bench;
    const auto cancelled = bench.provider->start(kept(), [](const std::string&) { return false; });
    CHECK(cancelled.error().message == "the start was cancelled");
    CHECK(bench.provider->list().value().empty());
    std::string told;
    bool is_seen = false;
    const auto deleted = bench.provider->start(kept(), [&](const std::string& text) {
        if (!text.empty()) told = text;
        const auto ids = bench.provider->list().value();
        const std::string name = ids.empty() ? "" : pod_name(ids[0]);
        if (!name.empty() && told.empty())
            bench.cluster.control(R"({"do":"status","pod":")" + name +
                                  R"(","status":{"phase":"Pending","conditions":[{"type":"PodScheduled",)" +
                                  R"("status":"False","reason":"Unschedulable","message":"no"}]}})");
        Client client(bench.cluster.access());
        if (!told.empty() && !is_seen) {
            is_seen = true;
            CHECK(client.api.remove(pods + "/" + name, json::Object{}).value().ok());
        }
        return true;
    });
    CHECK(deleted.error().message == "the pod was deleted before it was ready");
    CHECK(told == "No node of the cluster can take the pod: no");
}

TEST_CASE("a pod that is being deleted is gone: nothing waits for its channel") {
    ProviderBench bench;
    Client client(bench.cluster.access());
    REQUIRE(client.api.create(pods, pod_for("1")).value().status == 201);
    bench.cluster.run_pod(name_for("1"));
    bench.cluster.control(R"({"do":"terminate","pod":")" + name_for("1") + R"("})");
    const auto stored = client.api.get(pods + "/" + name_for("1")).value();
    const auto attached =
        bench.provider->attach(sandbox::SandboxId(text_at(stored.body, {"metadata", "labels", sandbox_label})));
    CHECK(attached.error().code == Code::not_found);
    CHECK(bench.cluster.requests("/exec") == 0);
}

TEST_CASE("pods of another installation are not touched, and the name of this one stays") {
    ProviderBench bench;
    Client client(bench.cluster.access());
    REQUIRE(client.api.create(pods, pod_for("1")).value().status == 201); // of ins-1
    CHECK(bench.provider->list().value().empty());
    CHECK(bench.provider->reconcile().value() == 0);
    const std::string installation = read_file(bench.folder + "/installation").value();
    CHECK(installation.size() == 26);
    const auto again = bench.open();
    CHECK(read_file(bench.folder + "/installation").value() == installation);
}
