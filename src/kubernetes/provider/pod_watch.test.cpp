// One watch for many pods. The fixture finds tests/kubernetes_fake by HONE_SOURCE_DIR.
#include "kubernetes/provider/pod_watch.h"

#include "kubernetes/fake_cluster_fixture.h"

#include <atomic>

using namespace hone;
using namespace hone::kubernetes;
using namespace hone::kubernetes::testing;

namespace {

struct WatchBench {
    WatchBench() {
        watch.emplace(client.api, WatcherOptions{pods, "hone/installation=ins-1"},
                      [this](const std::string& pod, const PodState&) {
                          const Lock lock(mutex);
                          ++ended[pod];
                      });
        REQUIRE(watch->await_listed(long_enough));
    }
    void create(const std::string& name) {
        json::Value pod = pod_for("1");
        pod.at("metadata").get_object()["name"] = name;
        REQUIRE(other.api.create(pods, pod).value().status == 201);
    }
    void remove(const std::string& name) { REQUIRE(other.api.remove(pods + "/" + name, json::Object{}).value().ok()); }
    // Until the pod is there, or is not.
    void await(const std::string& name, bool is_there) const {
        const Duration end = clock.steady() + long_enough;
        for (;;) {
            const auto seen = watch->find(name);
            if ((seen && seen->exists) == is_there) return;
            REQUIRE_MESSAGE(clock.steady() < end, name);
            watch->wait(name, seen ? seen->change : 0, long_enough);
        }
    }
    uint64_t change_of(const std::string& name) const { return watch->find(name).value().change; }

    const FakeCluster cluster;
    const SystemClock clock;
    Client client{cluster.access()}, other{cluster.access()};
    Mutex mutex;
    std::map<std::string, int> ended GUARDED_BY(mutex);
    std::optional<PodWatch> watch; // last
};

} // namespace

TEST_CASE(
    "what is known of a pod that is expected stays, however many others come and go, and each end is reported once") {
    WatchBench bench;
    constexpr int many = 300;
    const auto other = [](int number) { return "other-" + std::to_string(number); };
    bench.watch->expect("mine");
    bench.create("mine");
    for (int i = 0; i < many; ++i) bench.create(other(i));
    bench.await(other(many - 1), true);
    bench.await("mine", true);
    bench.remove("mine");
    for (int i = 0; i < many; ++i) bench.remove(other(i));
    bench.await(other(many - 1), false);
    const auto seen = bench.watch->find("mine");
    REQUIRE(seen);
    CHECK_FALSE(seen->exists);
    CHECK(seen->state.cause == PodCause::deleted);
    CHECK_FALSE(bench.watch->find(other(0)));
    bench.watch->forget("mine");
    CHECK_FALSE(bench.watch->find("mine"));
    bench.watch.reset();
    const Lock lock(bench.mutex);
    CHECK(bench.ended.size() == many + 1);
    for (const auto& [pod, count] : bench.ended) CHECK(count == 1);
}

TEST_CASE("a later pod of the same name is not gone when the earlier one is") {
    WatchBench bench;
    bench.create("mine");
    bench.await("mine", true);
    const std::string first = bench.watch->find("mine").value().uid;
    // The watch misses the change: it finds the later one in a list.
    bench.cluster.control(R"({"do":"fail","method":"GET","path":"/pods","times":100000,"status":500})");
    bench.cluster.control(R"({"do":"cut_watches"})");
    bench.remove("mine");
    bench.create("mine");
    bench.create("next"); // lists are in the order of names
    bench.cluster.control(R"({"do":"compact"})");
    bench.cluster.control(R"({"do":"forget_faults"})");
    bench.await("next", true);
    const auto seen = bench.watch->find("mine");
    REQUIRE(seen);
    CHECK(seen->exists);
    CHECK(seen->uid != first);
}

TEST_CASE("two who expect the same pod do not need each other") {
    WatchBench bench;
    bench.watch->expect("mine");
    bench.watch->expect("mine");
    bench.create("mine");
    bench.await("mine", true);
    bench.watch->forget("mine");
    bench.remove("mine");
    bench.await("mine", false);
    CHECK(bench.watch->find("mine"));
    bench.watch->forget("mine");
    CHECK_FALSE(bench.watch->find("mine"));
}

TEST_CASE(
    "a wait for a pod ends with a change of that pod, also with one before it began, and not with those of others") {
    WatchBench bench;
    bench.create("mine");
    bench.create("other");
    bench.await("other", true);
    bench.await("mine", true);
    const uint64_t before = bench.change_of("mine");
    std::atomic<bool> is_over{false};
    std::jthread waiter([&] {
        bench.watch->wait("mine", before, long_enough);
        is_over = true;
    });
    for (int i = 0; i < 50; ++i) {
        const uint64_t other = bench.change_of("other");
        bench.cluster.run_pod("other");
        bench.watch->wait("other", other, long_enough);
        CHECK(bench.change_of("other") > other);
    }
    CHECK_FALSE(is_over);
    bench.cluster.run_pod("mine");
    waiter.join();
    CHECK(bench.change_of("mine") > before);
    const Duration began = bench.clock.steady();
    bench.watch->wait("mine", before, long_enough);
    CHECK(bench.clock.steady() - began < long_enough / 2);
}
