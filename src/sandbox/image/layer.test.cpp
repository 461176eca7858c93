// What decides which prepared layer a sandbox gets, and who can get it.
#include "sandbox/image/layer.h"

#include "base/testing.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <set>
#include <sys/stat.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

Preparation plain_preparation() {
    Preparation preparation;
    preparation.space = "space_a";
    preparation.script = "true";
    preparation.env.value = {{"TOKEN", "a"}};
    preparation.inputs.value = {{"package-lock.json", "hash"}};
    return preparation;
}

std::string key_of(const Store& store, const Preparation& preparation) {
    auto key = layer_key(store, preparation);
    REQUIRE_MESSAGE(key.ok(), key.error().message);
    return key.value();
}

} // namespace

TEST_CASE("everything that determines a layer is part of its key") {
    Folder folder;
    const Store store = Store::open(folder.path).value();
    std::vector<Preparation> different(10, plain_preparation());
    different[1].space = "space_b";
    different[2].env.value["TOKEN"] = "b"; // the value, not only the name
    different[3].inputs.value["package-lock.json"] = "other";
    different[4].script = "false";
    different[5].layers.value = {"v2-below"};
    different[6].network = NetworkMode::broker;
    different[7].env.value.clear();
    different[7].inputs.value = {{"TOKEN", "a"}, {"package-lock.json", "hash"}}; // the same texts in other places
    different[8].env.value = {{"TOKEN", "a"}, {"package-lock.json", "hash"}};
    different[8].inputs.value.clear();
    different[9].root = std::string("debian");
    std::set<std::string> keys;
    for (const Preparation& preparation : different) keys.insert(key_of(store, preparation));
    CHECK(keys.size() == different.size());
    CHECK(key_of(store, plain_preparation()) == key_of(store, plain_preparation()));
    Preparation unlimited = plain_preparation();
    unlimited.timeout_ms = int64_t{1};
    CHECK(key_of(store, unlimited) == key_of(store, plain_preparation()));
}

TEST_CASE("a layer without a space has no key, and another installation has other keys") {
    Folder one, other;
    Preparation preparation = plain_preparation();
    CHECK(key_of(Store::open(one.path).value(), preparation) != key_of(Store::open(other.path).value(), preparation));
    preparation.space.clear();
    CHECK(layer_key(Store::open(one.path).value(), preparation).error().code == Code::invalid);
}

TEST_CASE("a space never gets the layer that another space built, nor one built with another value") {
    Folder folder;
    const auto provider = open_provider(folder);
    const Store store = Store::open(folder.path).value();
    Preparation victim = plain_preparation();
    victim.script = "echo \"$TOKEN\" > /home/worker/mark";
    victim.env.value["TOKEN"] = "canary-of-space-a";
    auto built = prepare_layer(*provider, store, victim);
    REQUIRE_MESSAGE(built.ok(), built.error().message);
    Preparation attacker = victim;
    attacker.space = "space_b";
    attacker.env.value["TOKEN"] = "x";
    for (Preparation attempt : {attacker, [&] {
                                    Preparation same_value = victim;
                                    same_value.space = "space_b";
                                    return same_value;
                                }()}) {
        auto layer = prepare_layer(*provider, store, attempt);
        REQUIRE_MESSAGE(layer.ok(), layer.error().message);
        CHECK(layer.value().built);
        CHECK(layer.value().key != built.value().key);
        CHECK(read_file(store.layers() + "/" + layer.value().key + "/upper/home/worker/mark").value() ==
              attempt.env.value["TOKEN"] + "\n");
    }
}

TEST_CASE("layers with keys of an earlier version are not used and go at the next clean-up") {
    Folder folder;
    const auto provider = open_provider(folder);
    const Store store = Store::open(folder.path).value();
    const std::string old_key(64, 'a');
    REQUIRE(make_directories(store.layers() + "/" + old_key + "/upper", 0755).ok());
    REQUIRE(write_file(store.layers() + "/" + old_key + ".lock", "").ok());
    const std::string used_key(64, 'b');
    REQUIRE(make_directories(store.layers() + "/" + used_key + "/upper", 0755).ok());
    const auto held = store.hold(store.layers() + "/" + used_key);
    REQUIRE(held.ok());
    const auto kept = prepare_layer(*provider, store, plain_preparation());
    REQUIRE(kept.ok());
    REQUIRE(provider->reconcile().ok());
    CHECK_FALSE(file_exists(store.layers() + "/" + old_key));
    CHECK_FALSE(file_exists(store.layers() + "/" + old_key + ".lock"));
    CHECK(file_exists(store.layers() + "/" + used_key)); // a sandbox of an earlier server still mounts it
    CHECK(file_exists(store.layers() + "/" + kept.value().key));
}

TEST_CASE("a layer for programs that are elsewhere has another key, whatever this machine has installed") {
    Folder folder;
    const Store store = Store::open(folder.path).value();
    const Preparation preparation = plain_preparation();
    const auto keys = [&](const std::string& elsewhere) { return layer_key(store, preparation, elsewhere).value(); };
    CHECK(keys("") == key_of(store, preparation));
    CHECK(std::set<std::string>{keys(""), keys("kubernetes, worker:1"), keys("kubernetes, worker:2")}.size() == 3);
    CHECK(keys("kubernetes, worker:1") == keys("kubernetes, worker:1"));
}
