// Pods that wait for runs, without a cluster: what makes and discards them is the test.
// The fixture finds tests/kubernetes_fake by HONE_SOURCE_DIR.
#include "kubernetes/provider/ready_pods.h"

#include "kubernetes/fake_cluster_fixture.h"

#include <set>

using namespace hone;
using namespace hone::kubernetes;
using namespace hone::kubernetes::testing;

namespace {

constexpr Duration soon = std::chrono::milliseconds(20); // between two looks at the pods

ClusterAccess nowhere(net::testing::TestAuthority& authority) {
    ClusterAccess access;
    access.server = "https://127.0.0.1:1";
    access.authorities = read_file(authority.ca_file()).value();
    access.token = crypto::SecretBytes("token");
    access.name_space = "workers";
    return access;
}

struct ReadyBench {
    explicit ReadyBench(size_t wanted) {
        ready.emplace(wanted, clock,
                      ReadyPods::Actions{[this](const sandbox::SandboxId& id, PodRequest request,
                                                const sandbox::StartProgress&) { return make(id, request); },
                                         [this](const ReadyPod& pod) -> Result<> {
                                             const Lock lock(mutex);
                                             discarded.insert(pod.id.text());
                                             changed.notify_all();
                                             if (is_away) return unavailable("no connection");
                                             return {};
                                         }},
                      soon);
    }
    Result<ReadyPod> make(const sandbox::SandboxId& id, const PodRequest& request) {
        const Lock lock(mutex);
        ++tries;
        changed.notify_all();
        if (is_full) return busy("no room");
        CHECK(request.limits.pids.value == wanted_pids);
        made.push_back(std::make_shared<PodConnection>(client.api, PodChannelOptions{}, "/tmp"));
        return ReadyPod{id, made.back()};
    }
    static PodRequest request(int64_t pids = 64) {
        PodRequest made;
        made.sandbox = sandbox::SandboxId("sbx_01JCQZ5V8M0000000000000001");
        made.limits.pids = pids;
        return made;
    }
    void await_discarded(size_t count) {
        const Lock lock(mutex);
        while (discarded.size() < count) REQUIRE(changed.wait_for(mutex, long_enough) == std::cv_status::no_timeout);
    }
    void await_tries(int64_t count) {
        const Lock lock(mutex);
        while (tries < count) REQUIRE(changed.wait_for(mutex, long_enough) == std::cv_status::no_timeout);
    }
    bool was_discarded(const ReadyPod& pod) {
        const Lock lock(mutex);
        return discarded.contains(pod.id.text());
    }

    net::testing::TestAuthority authority;
    Client client{nowhere(authority)};
    FakeClock clock{from_ns(0)};
    Mutex mutex;
    Condition changed;
    std::set<std::string> discarded GUARDED_BY(mutex);
    std::vector<std::shared_ptr<PodConnection>> made GUARDED_BY(mutex);
    int64_t tries GUARDED_BY(mutex) = 0;
    bool is_full GUARDED_BY(mutex) = false;
    bool is_away GUARDED_BY(mutex) = false;
    int64_t wanted_pids = 64;
    std::optional<ReadyPods> ready; // last
};

} // namespace

TEST_CASE("nothing is prepared before a run shows what is wanted, and each pod is used once") {
    ReadyBench bench(2);
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    REQUIRE(bench.ready->await_full(long_enough));
    const auto first = bench.ready->take(ReadyBench::request());
    REQUIRE(bench.ready->await_full(long_enough));
    const auto second = bench.ready->take(ReadyBench::request());
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->id != second->id);
    CHECK_FALSE(bench.ready->has(first->id));
    PodRequest with_volume = ReadyBench::request();
    with_volume.volume_claim = "thread";
    CHECK_FALSE(bench.ready->take(with_volume));
    bench.ready.reset();
    bench.await_discarded(1);
    CHECK_FALSE(bench.was_discarded(*first));
}

TEST_CASE("a pod that waited for ten minutes is replaced") {
    ReadyBench bench(1);
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    REQUIRE(bench.ready->await_full(long_enough));
    bench.clock.advance(ready_pod_kept);
    bench.await_tries(1);
    {
        const Lock lock(bench.mutex);
        CHECK(bench.discarded.empty()); // exactly ten minutes are not too long
    }
    bench.clock.advance(std::chrono::seconds(1));
    bench.await_discarded(1);
    bench.await_tries(2);
    REQUIRE(bench.ready->await_full(long_enough));
    const auto taken = bench.ready->take(ReadyBench::request());
    REQUIRE(taken);
    CHECK_FALSE(bench.was_discarded(*taken));
}

TEST_CASE("a pod that has ended while it waited is not given out, and is replaced") {
    ReadyBench bench(1);
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    REQUIRE(bench.ready->await_full(long_enough));
    std::shared_ptr<PodConnection> made;
    {
        const Lock lock(bench.mutex);
        made = bench.made.back();
    }
    made->set_ended({PodPhase::ended, false, false, PodCause::taken, "drained", std::nullopt});
    const auto taken = bench.ready->take(ReadyBench::request());
    CHECK((!taken || taken->connection != made)); // either: its replacement may be ready already
    bench.await_discarded(1);
    bench.await_tries(2);
    REQUIRE(bench.ready->await_full(long_enough));
    const auto next = bench.ready->take(ReadyBench::request());
    REQUIRE(next);
    CHECK(next->connection != made);
}

TEST_CASE("a run of another shape changes what is prepared") {
    ReadyBench bench(1);
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    REQUIRE(bench.ready->await_full(long_enough));
    bench.wanted_pids = 32;
    CHECK_FALSE(bench.ready->take(ReadyBench::request(32)));
    bench.await_discarded(1);
    REQUIRE(bench.ready->await_full(long_enough));
    CHECK(bench.ready->take(ReadyBench::request(32)));
}

TEST_CASE("prepared pods make room, and none is made for 30 seconds after that") {
    ReadyBench bench(2);
    CHECK_FALSE(bench.ready->make_room());
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    REQUIRE(bench.ready->await_full(long_enough));
    CHECK(bench.ready->make_room());
    bench.await_discarded(2);
    CHECK_FALSE(bench.ready->make_room()); // there is none any more
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    {
        const Lock lock(bench.mutex);
        CHECK(bench.tries == 2);
    }
    bench.clock.advance(std::chrono::seconds(31));
    CHECK(bench.ready->await_full(long_enough));
}

TEST_CASE("a server that ends does not wait for a cluster that does not respond, once for each prepared pod") {
    for (const bool is_away : {false, true}) {
        ReadyBench bench(3);
        CHECK_FALSE(bench.ready->take(ReadyBench::request()));
        REQUIRE(bench.ready->await_full(long_enough));
        {
            const Lock lock(bench.mutex);
            bench.is_away = is_away;
        }
        bench.ready.reset();
        const Lock lock(bench.mutex);
        CHECK(bench.discarded.size() == (is_away ? size_t{1} : size_t{3}));
    }
}

TEST_CASE("a cluster without room gets the next request after a pause") {
    ReadyBench bench(1);
    {
        const Lock lock(bench.mutex);
        bench.is_full = true;
    }
    CHECK_FALSE(bench.ready->take(ReadyBench::request()));
    bench.await_tries(1);
    {
        const Lock lock(bench.mutex);
        bench.is_full = false;
    }
    // The pause begins when the try has ended, which the test does not see: time passes until it is over.
    int64_t tries = 1;
    for (int turn = 0; tries < 2 && turn < 10'000; ++turn) {
        bench.clock.advance(std::chrono::seconds(31));
        const Lock lock(bench.mutex);
        if (bench.tries < 2) bench.changed.wait_for(bench.mutex, soon);
        tries = bench.tries;
    }
    CHECK(tries >= 2);
    CHECK(bench.ready->await_full(long_enough));
}
