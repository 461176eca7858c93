// The REST client and the watcher against tests/kubernetes_fake, which the fixture finds by HONE_SOURCE_DIR.
#include "kubernetes/fake_cluster_fixture.h"

#include "kubernetes/api/watcher.h"
#include "kubernetes/pod/admission.h"
#include "kubernetes/pod/pod_records.h"
#include "kubernetes/pod/pod_state.h"

using namespace hone;
using namespace hone::kubernetes;
using namespace hone::kubernetes::testing;

namespace {

struct Seen final : WatchHandler {
    void seen(const json::Value& object) override {
        log.push_back("seen " + text_at(object, {"metadata", "name"}).substr(30));
    }
    void gone(const std::string& name, const std::string&) override { log.push_back("gone " + name.substr(30)); }
    void listed() override { log.push_back("listed"); }
    std::string take() {
        std::string text;
        for (const std::string& line : log) text += (text.empty() ? "" : ", ") + line;
        log.clear();
        return text;
    }
    std::vector<std::string> log;
};

} // namespace

TEST_CASE("a pod is created, found, changed by a condition and deleted by its uid") {
    const FakeCluster cluster;
    Client client(cluster.access());
    CHECK(text_at(client.api.get("/version").value().body, {"minor"}) == "34");
    const json::Value sent = pod_for("1");
    const ApiResponse created = client.api.create(pods, sent).value();
    CHECK(created.status == 201);
    CHECK(admission_differences(sent, created.body).empty());
    const ApiResponse again = client.api.create(pods, sent).value();
    CHECK(again.status == 409);
    CHECK(again.reason == "AlreadyExists");
    CHECK(explain_refusal(again).refusal == CreateRefusal::exists);
    const ApiResponse found = client.api.get(pods + "/" + name_for("1")).value();
    CHECK(text_at(found.body, {"metadata", "annotations", spec_hash_annotation}) == spec_hash(sent));
    // Two servers claim it: one wins.
    const json::Value claim = json::parse(R"([{"op":"test","path":"/metadata/labels/hone~1role","value":"worker"},
        {"op":"replace","path":"/metadata/labels/hone~1role","value":"claimed"}])")
                                  .value();
    CHECK(client.api.patch(pods + "/" + name_for("1"), Api::Patch::json, claim).value().status == 200);
    CHECK(client.api.patch(pods + "/" + name_for("1"), Api::Patch::json, claim).value().status == 422);
    CHECK(client.api.remove(pods + "/" + name_for("1"), delete_options("other", 5)).value().status == 409);
    const std::string uid = text_at(created.body, {"metadata", "uid"});
    CHECK(client.api.remove(pods + "/" + name_for("1"), delete_options(uid, 5)).value().status == 200);
    CHECK(client.api.get(pods + "/" + name_for("1")).value().status == 404);
    cluster.control(R"({"do":"inject","container":"sidecar"})");
    const auto differences = admission_differences(sent, client.api.create(pods, sent).value().body);
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].path == "spec.containers[sidecar]");
}

TEST_CASE("a server that wants a request later gets it later, and no more often than allowed") {
    const FakeCluster cluster;
    Client client(cluster.access());
    cluster.control(R"({"do":"fail","method":"POST","path":"/pods","times":2,"status":429,"retry_after":3})");
    CHECK(client.api.create(pods, pod_for("1")).value().status == 201);
    CHECK(client.waits == std::vector<Duration>{3s, 3s});
    cluster.control(R"({"do":"fail","method":"GET","path":"/version","times":100,"status":503,"retry_after":1})");
    client.waits.clear();
    CHECK(client.api.get("/version").value().status == 503);
    CHECK(client.waits.size() == 4);
    // Without Retry-After the caller decides; an hour is not waited for.
    cluster.control(
        R"({"do":"fail","method":"DELETE","path":"/pods","status":500,"message":"failed calling webhook"})");
    cluster.control(R"({"do":"fail","method":"PATCH","path":"/pods","status":429,"retry_after":3600})");
    client.waits.clear();
    const auto failed = client.api.remove(pods + "/x", delete_options("u", 5)).value();
    CHECK(explain_refusal(failed).refusal == CreateRefusal::later);
    CHECK(client.api.patch(pods + "/x", Api::Patch::merge, json::Object{}).value().status == 429);
    CHECK(client.waits.empty());
    // The bucket: 50 at a time, then 20 a second.
    for (int i = 0; i < 60; ++i) CHECK(client.api.get(pods).ok());
    CHECK(client.waits.size() > 10);
    CHECK(client.waits.front() == 50ms);
}

TEST_CASE("a connection that is cut is an error for a create, and a second attempt for a read") {
    const FakeCluster cluster;
    Client client(cluster.access());
    REQUIRE(client.api.get("/version").ok()); // a kept connection
    cluster.control(R"({"do":"fail","method":"POST","path":"/pods","cut":true})");
    CHECK(client.api.create(pods, pod_for("1")).error().code == Code::unavailable);
    REQUIRE(client.api.get("/version").ok());
    cluster.control(R"({"do":"fail","method":"GET","path":"/version","cut":true})");
    CHECK(client.api.get("/version").value().status == 200);
}

TEST_CASE("a rotated token is read again after 401; a fixed one is an error; a certificate needs none") {
    FakeCluster cluster;
    const std::string folder = cluster.authority().directory();
    REQUIRE(write_file(folder + "/token", "first-token").ok());
    ClusterAccess by_file = cluster.access("");
    by_file.token_file = folder + "/token";
    Client client(std::move(by_file)), fixed(cluster.access());
    CHECK(client.api.get("/version").value().ok());
    cluster.control(R"({"do":"token","token":"second-token"})");
    CHECK(client.api.get("/version").value().status == 401);
    REQUIRE(write_file(folder + "/token", "second-token").ok());
    CHECK(client.api.get("/version").value().status == 200);
    const auto rejected = fixed.api.get("/version").value();
    CHECK(error_of(rejected, "read").code == Code::unauthorized);
    const auto files = cluster.authority().issue("client", "DNS:client");
    ClusterAccess certified = cluster.access("");
    certified.client_certificate = read_file(files.certificate).value();
    certified.client_key = crypto::SecretBytes(read_file(files.key).value());
    certified.server_name = "kubernetes.default";
    Client by_certificate(std::move(certified));
    CHECK(by_certificate.api.get("/version").value().status == 200);
    ClusterAccess misnamed = cluster.access("second-token");
    misnamed.server_name = "other.example";
    Client other(std::move(misnamed));
    CHECK(other.api.get("/version").error().code == Code::unavailable);
    ClusterAccess untrusted = cluster.access("second-token");
    untrusted.authorities = read_file(net::testing::TestAuthority().ca_file()).value();
    Client stranger(std::move(untrusted));
    CHECK(stranger.api.get("/version").error().code == Code::unavailable);
}

TEST_CASE("lists come in pages, and start again when a page has expired") {
    const FakeCluster cluster;
    Client client(cluster.access());
    for (const char* letter : {"1", "2", "3", "4", "5"}) REQUIRE(client.api.create(pods, pod_for(letter)).value().ok());
    cluster.control(R"({"do":"pages","limit":2})");
    CHECK(client.api.list(pods, "hone/installation=ins-1").value().items.size() == 5);
    CHECK(client.api.list(pods, "hone/installation=other").value().items.empty());
    cluster.control(R"({"do":"fail","method":"GET","path":"continue=","status":410,"reason":"Expired"})");
    const auto listed = client.api.list(pods, "").value();
    CHECK(listed.items.size() == 5);
    CHECK(listed.resource_version == "105");
    cluster.control(R"({"do":"fail","method":"GET","path":"continue=","times":9,"status":410,"reason":"Expired"})");
    CHECK(client.api.list(pods, "").error().code == Code::unavailable);
    // One object at a time: those that were given before are given again.
    cluster.control(R"({"do":"forget_faults"})");
    cluster.control(R"({"do":"fail","method":"GET","path":"continue=","status":410,"reason":"Expired"})");
    std::string given;
    const Api::ListHandler handler{[&](const json::Value& pod) {
                                       given += text_at(pod, {"metadata", "name"}).substr(30);
                                   },
                                   [&] { given += "|"; }};
    CHECK(client.api.list_each(pods, "", handler).value() == "105");
    CHECK(given == "12|12345");
}

TEST_CASE("a watcher reports what is gone since a list that it could not read to its end") {
    const FakeCluster cluster;
    Client client(cluster.access()), other(cluster.access());
    Seen seen;
    Watcher watcher(client.api, seen, {pods, ""});
    for (const char* letter : {"1", "2", "3"}) REQUIRE(client.api.create(pods, pod_for(letter)).value().ok());
    cluster.control(R"({"do":"pages","limit":2})");
    cluster.control(R"({"do":"fail","method":"GET","path":"continue=","status":500})");
    CHECK(watcher.step().value() > Duration(0));
    CHECK(seen.take() == "seen 1, seen 2");
    REQUIRE(other.api.remove(pods + "/" + name_for("1"), json::Object{}).value().ok());
    CHECK(watcher.step().value() == Duration(0));
    CHECK(seen.take() == "seen 2, seen 3, gone 1, listed");
    CHECK(watcher.known() == 2);
}

TEST_CASE("why a pod is pending comes from its own events, and the end of a log is bounded") {
    const FakeCluster cluster;
    Client client(cluster.access());
    const ApiResponse created = client.api.create(pods, pod_for("1")).value();
    const std::string uid = text_at(created.body, {"metadata", "uid"});
    cluster.control(
        R"({"do":"event","involvedObject":{"uid":"other"},"reason":"FailedMount","message":"of another pod"})");
    cluster.control(R"({"do":"event","involvedObject":{"uid":")" + uid +
                    R"("},"reason":"FailedCreatePodSandBox","message":"no address is free"})");
    const auto events = read_events(client.api, "workers", uid).value();
    REQUIRE(events.size() == 1);
    CHECK(read_pod_state(created.body, events).text == "The node could not set up the pod: no address is free");
    cluster.control(R"({"do":"fail","method":"GET","path":"/events","status":403,"message":"events is forbidden"})");
    CHECK(read_events(client.api, "workers", uid).error().code == Code::forbidden);
    const std::string log = read_log_end(client.api, "workers", name_for("1"), "worker").value();
    CHECK(log.starts_with("log of worker\nxxx"));
    CHECK(log.size() == 64 << 10);
    CHECK(read_log_end(client.api, "workers", name_for("2"), "worker").error().code == Code::not_found);
}

TEST_CASE("a watch sees every change, through cuts, bookmarks, restarts and expired versions") {
    const FakeCluster cluster;
    Client client(cluster.access()), other(cluster.access());
    Seen seen;
    Watcher watcher(client.api, seen, {pods, "hone/installation=ins-1"});
    REQUIRE(other.api.create(pods, pod_for("1")).value().ok());
    CHECK(watcher.step().value() == Duration(0));
    CHECK(seen.take() == "seen 1, listed");
    // What happened before the watch begins is in it; a bookmark moves its version.
    REQUIRE(other.api.create(pods, pod_for("2")).value().ok());
    cluster.run_pod(name_for("1"));
    cluster.control(R"({"do":"bookmark"})");
    std::jthread ender([&] {
        while (cluster.requests("watch=true") < 1) std::this_thread::yield();
        cluster.control(R"({"do":"end_watches"})");
    });
    CHECK(watcher.step().value() < 1s);
    ender.join();
    CHECK(seen.take() == "seen 2, seen 1");
    CHECK(watcher.resource_version() == "104");
    // Cut in the middle of a line: the next watch continues.
    std::jthread cutter([&] {
        while (cluster.requests("watch=true") < 2) std::this_thread::yield();
        cluster.control(R"({"do":"cut_watches"})");
    });
    CHECK(watcher.step().value() > Duration(0));
    cutter.join();
    CHECK(seen.take().empty());
    // Everything up to here is compacted: as a status, then as an event. What was deleted meanwhile is reported.
    const auto doomed = other.api.get(pods + "/" + name_for("2")).value();
    REQUIRE(other.api.remove(pods + "/" + name_for("2"), delete_options(text_at(doomed.body, {"metadata", "uid"}), 0))
                .value()
                .ok());
    cluster.control(R"({"do":"compact"})");
    CHECK(watcher.step().ok());
    CHECK(watcher.resource_version().empty());
    CHECK(watcher.step().value() == Duration(0));
    CHECK(seen.take() == "seen 1, gone 2, listed");
    cluster.control(R"({"do":"compact","as_event":true})");
    CHECK(watcher.step().ok());
    CHECK(watcher.step().value() == Duration(0));
    CHECK(seen.take() == "seen 1, listed");
    CHECK(watcher.known() == 1);
    cluster.control(R"({"do":"fail","method":"GET","path":"watch=true","status":500})");
    CHECK(watcher.step().ok());
    CHECK(!watcher.resource_version().empty());
}

TEST_CASE("a watch that always fails is attempted less and less often, and a cancelled one ends") {
    const FakeCluster cluster;
    Client client(cluster.access());
    Seen seen;
    net::Cancel cancel;
    Watcher watcher(client.api, seen, {pods, ""}, &cancel);
    cluster.control(R"({"do":"fail","method":"GET","path":"/pods","times":1000,"status":500})");
    std::vector<Duration> waits;
    for (int i = 0; i < 12; ++i) waits.push_back(watcher.step().value());
    CHECK(waits.front() <= 100ms);
    CHECK(waits.front() >= 50ms);
    CHECK(waits.back() <= 10s);
    CHECK(waits.back() >= 5s);
    cancel.cancel();
    CHECK(watcher.step().error().code == Code::conflict);
}
