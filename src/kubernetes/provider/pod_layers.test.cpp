// Layers of pods against tests/kubernetes_fake (HONE_SOURCE_DIR), whose pods send what a hostile one would. What a
// layer is in real pods is tested by tests/providers/layers.py.
#include "kubernetes/provider/pod_layers.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "kubernetes/fake_cluster_fixture.h"

#include <atomic>
#include <filesystem>
#include <random>

using namespace hone;
using namespace hone::kubernetes;
using namespace hone::kubernetes::testing;

namespace {

const std::string good_image = "example/worker@sha256:0123";
const sandbox::LayerLimits small_limits{100, 600 << 10, 10};

std::string little(uint64_t number, size_t bytes = 8) {
    std::string out;
    for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
    return out;
}
std::string sized(std::string_view text) {
    return little(text.size()) + std::string(text);
}
std::string archive_with(std::string_view name, std::string_view content) {
    return "HONEHOME1F" + sized(name) + little(0644) + little(0) + little(0) + little(0) + sized(content) + "E";
}
std::string with_report(const std::string& bytes, const std::string& report = "{}") {
    return bytes + report + little(report.size(), 4);
}
std::string sha256_of(std::string_view bytes) {
    crypto::Sha256 hash;
    hash.add(bytes);
    return to_hex(hash.finish());
}
// Nothing that compresses, and nothing that repeats.
std::string noise(size_t size) {
    std::mt19937 random(7);
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

struct LayerBench {
    LayerBench() {
        crypto::start();
        char pattern[] = "/tmp/hone-pod-layers-XXXXXX";
        folder = ::mkdtemp(pattern);
        store.emplace(sandbox::Store::open(folder).value());
        layers.emplace(*store);
        REQUIRE(client.api.create(pods, pod_for("1")).value().ok());
        cluster.run_pod(name_for("1"));
        PodChannelOptions options;
        options.exec = {"workers", name_for("1"), "worker", {"channel"}, true, true};
        options.identity = {LinkSide::server, "sbx_01JCQZ5V8M0000000000000001", 1, "server-1", ""};
        connection.emplace(client.api, options, folder + "/kubernetes");
        REQUIRE(connection->open(long_enough, [] { return Result<>(); }).ok());
    }
    ~LayerBench() {
        connection.reset();
        std::filesystem::remove_all(folder);
    }
    void pod_sends(const std::string& path, const std::string& bytes) const {
        cluster.control(R"({"do":"sends","pod":")" + name_for("1") + R"(","path":")" + path + R"(","base64":")" +
                        to_base64(bytes) + "\"}");
    }
    Result<> save(const std::string& bytes, const std::function<bool()>& cancelled = {}) {
        pod_sends("home", bytes);
        std::filesystem::remove_all(directory());
        REQUIRE(make_directories(directory() + "/upper").ok());
        return layers->save(*connection, directory(), good_image, small_limits, cancelled);
    }
    std::string directory() const { return folder + "/built"; }
    // As it is after a layer was built.
    std::string publish(const std::string& key) const {
        std::filesystem::remove_all(store->layers() + "/" + key);
        std::filesystem::copy(directory(), store->layers() + "/" + key, std::filesystem::copy_options::recursive);
        return store->layers() + "/" + key + "/upper";
    }
    Result<> send(const std::string& key, bool is_kept = false, const std::string& image = good_image) {
        return layers->send(*connection, {"below", key}, is_kept, image, {});
    }
    json::Value received(const std::string& path) const {
        const json::Value state = cluster.control(R"({"do":"state"})");
        const json::Value* files = value_at(state, {"files", name_for("1")});
        REQUIRE(files != nullptr);
        const json::Value* file = files->get_object().if_contains(path);
        return file != nullptr ? *file : json::Value();
    }

    const FakeCluster cluster;
    Client client{cluster.access()};
    std::string folder;
    std::optional<sandbox::Store> store;
    std::optional<PodLayers> layers;
    std::optional<PodConnection> connection;
};

} // namespace

TEST_CASE("the home of a pod is kept with its hash and its image, and arrives in another pod as it was") {
    LayerBench bench;
    const std::string archive = archive_with("tool", noise(1 << 19));
    REQUIRE(bench.save(with_report(archive)).ok());
    const std::string upper = bench.publish("v2-good");
    CHECK((read_file(upper + "/home").value() == archive));
    CHECK(read_file(upper + "/sha256").value() == sha256_of(archive));
    CHECK(read_file(upper + "/image").value() == good_image);
    REQUIRE(bench.send("v2-good").ok());
    const json::Value arrived = bench.received("home");
    CHECK(text_at(arrived, {"sha256"}) == sha256_of(archive));
    CHECK(arrived.at("ended").get_bool());
    CHECK(bench.send("v2-absent").error().code == Code::not_found);
    CHECK_FALSE(file_exists(bench.store->layers() + "/v2-absent.lock"));
    CHECK_FALSE(bench.send("../v2-good").ok());
}

TEST_CASE("what a hostile pod sends instead of its home is not kept") {
    LayerBench bench;
    const std::string archive = archive_with("tool", "content");
    REQUIRE(bench.save(with_report(archive)).ok());
    const std::vector<std::string> sent{
        "",
        with_report(""),
        with_report("HONEHOME1"),
        with_report(archive.substr(0, archive.size() - 1)),
        with_report(archive + "more"),
        with_report(archive_with("../outside", "content")),
        with_report(archive_with("", "content")),
        with_report("HONEHOME1W" + sized("tool") + "E"),
        with_report("HONEHOME1H" + sized("a") + sized("/etc/passwd") + "E"),
        with_report(archive_with("large", std::string(small_limits.most_bytes + 1, 'x'))),
        with_report(noise(100'000)),
        archive + "{}",
        archive + "{}" + little(1 << 30, 4),
        with_report(archive, R"({"code":"internal","message":"it cannot be read"})"),
        with_report(archive, "no report"),
    };
    for (const std::string& bytes : sent) {
        CAPTURE(truncate_utf8(repair_utf8(bytes), 200));
        CHECK_FALSE(bench.save(bytes).ok());
        CHECK_FALSE(file_exists(bench.directory() + "/upper/sha256"));
    }
    // More than a home may have is not received to its end.
    const auto flood =
        bench.save(with_report(std::string(static_cast<size_t>(sandbox::most_archive_bytes(small_limits)) + 1, 'x')));
    REQUIRE_FALSE(flood.ok());
    CHECK(flood.error().code == Code::too_large);
    REQUIRE(bench.save(with_report(archive)).ok()); // the connection can still be used
}

TEST_CASE("a layer that was changed on the disk never becomes whole in a pod, and is removed") {
    LayerBench bench;
    const std::string archive = archive_with("tool", noise(400'000));
    REQUIRE(bench.save(with_report(archive)).ok());
    const auto damage = [&](const std::string& file, const std::string& content) {
        const std::string upper = bench.publish("v2-damaged");
        if (content.empty())
            REQUIRE(::unlink((upper + "/" + file).c_str()) == 0);
        else
            REQUIRE(write_file(upper + "/" + file, content).ok());
        const auto sent = bench.send("v2-damaged");
        CHECK_FALSE(file_exists(upper));
        return sent.ok() ? Code::invalid : sent.error().code;
    };
    std::string changed = archive;
    changed[200'000] ^= 1;
    for (const std::string& content : {changed, archive + "E", archive.substr(0, 300'000), std::string("E")}) {
        CHECK(damage("home", content) == Code::corrupt);
        const json::Value arrived = bench.received("home");
        if (!arrived.is_null()) CHECK_FALSE(arrived.at("ended").get_bool());
    }
    for (const char* file : {"home", "sha256", "image"}) CHECK(damage(file, "") == Code::corrupt);
    CHECK(damage("sha256", std::string(64, '0')) == Code::corrupt);
    const json::Value arrived = bench.received("home");
    if (!arrived.is_null()) CHECK_FALSE(arrived.at("ended").get_bool());
}

TEST_CASE("a layer is used with the image on which it was built, and with no other") {
    LayerBench bench;
    REQUIRE(bench.save(with_report(archive_with("tool", "content"))).ok());
    const std::string upper = bench.publish("v2-image");
    const auto sent = bench.send("v2-image", false, "example/worker@sha256:4567");
    REQUIRE_FALSE(sent.ok());
    CHECK(sent.error().code == Code::corrupt);
    CHECK(sent.error().message.find("by its digest") != std::string::npos);
    CHECK(bench.received("home").is_null());
    CHECK_FALSE(file_exists(upper));
}

TEST_CASE("a home on a volume that has its layer gets none") {
    LayerBench bench;
    REQUIRE(bench.save(with_report(archive_with("tool", "content"))).ok());
    bench.publish("v2-kept");
    bench.pod_sends("home-state", with_report("made"));
    REQUIRE(bench.send("v2-kept", true).ok());
    CHECK(bench.received("kept-home").is_null());
    bench.pod_sends("home-state", with_report("new"));
    REQUIRE(bench.send("v2-kept", true).ok());
    CHECK(bench.received("kept-home").at("ended").get_bool());
    CHECK(bench.received("home").is_null());
    bench.pod_sends("home-state", with_report(std::string(100, 'x')));
    CHECK(bench.send("v2-kept", true).error().code == Code::too_large);
}

TEST_CASE("a channel that is cut in the middle of a home loses nothing of it, in either direction") {
    LayerBench bench;
    const std::string archive = archive_with("tool", noise(550 << 10));
    // A few times in each direction; the first cut takes the exec that is open now.
    const auto with_cuts = [&](const auto& work) {
        std::atomic<bool> is_over{false};
        const std::string hellos = R"({"do":"state"})";
        const auto count = [&] {
            return integer_at(bench.cluster.control(hellos), {"hellos", name_for("1")}).value_or(0);
        };
        const int64_t before = count();
        std::jthread cutter([&] {
            for (int64_t cuts = 1; !is_over && cuts <= 3; ++cuts) {
                bench.cluster.control(R"({"do":"cut_exec"})");
                while (!is_over && count() < before + cuts) std::this_thread::yield(); // until it is connected again
            }
        });
        const auto done = work();
        is_over = true;
        cutter.join();
        CHECK(count() > before);
        return done;
    };
    const auto saved = with_cuts([&] { return bench.save(with_report(archive)); });
    REQUIRE_MESSAGE(saved.ok(), (saved.ok() ? "" : saved.error().message));
    bench.publish("v2-cut");
    CHECK(read_file(bench.directory() + "/upper/sha256").value() == sha256_of(archive));
    const auto sent = with_cuts([&] { return bench.send("v2-cut"); });
    REQUIRE_MESSAGE(sent.ok(), (sent.ok() ? "" : sent.error().message));
    CHECK(text_at(bench.received("home"), {"sha256"}) == sha256_of(archive));
}

TEST_CASE("a preparation that is cancelled while its home is being sent keeps nothing") {
    LayerBench bench;
    const auto saved = bench.save(with_report(archive_with("tool", noise(1 << 19))), [] { return true; });
    REQUIRE_FALSE(saved.ok());
    CHECK(saved.error().code == Code::conflict);
    CHECK_FALSE(file_exists(bench.directory() + "/upper/sha256"));
}
