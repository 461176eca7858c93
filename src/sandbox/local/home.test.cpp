// The home of a thread: the layers' below, what its sandboxes wrote above it, and nothing that a worker plants in its
// volume leads outside.
#include "sandbox/image/layer.h"
#include "sandbox/image/volume.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <doctest/doctest.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// Runs a script in a sandbox of the thread and returns what it printed.
std::string in_thread(Provider& provider, const std::string& thread, const std::vector<std::string>& layers,
                      const std::string& script) {
    SandboxSpec spec = shell(script);
    spec.layers.value = layers;
    spec.thread = thread;
    spec.keep_home = true;
    spec.limits.value.disk_bytes = int64_t{16} << 20;
    auto sandbox = provider.start(spec);
    if (!sandbox.ok()) return "error: " + sandbox.error().message;
    std::string printed = read_all(*sandbox.value(), 0);
    CHECK(sandbox.value()->wait_stopped().ok());
    CHECK(sandbox.value()->destroy().ok());
    return printed;
}

} // namespace

TEST_CASE("a thread keeps its home over what the layers have there") {
    Folder folder;
    const auto provider = open_provider(folder);
    const Store store = Store::open(folder.path).value();
    Preparation preparation;
    preparation.space = "space_a";
    preparation.script =
        "mkdir -p ~/.local/bin; echo 'echo from the layer' > ~/.local/bin/tool; chmod +x ~/.local/bin/tool; "
        "echo old > ~/.setting; echo gone > ~/.removed";
    const auto layer = prepare_layer(*provider, store, preparation);
    REQUIRE_MESSAGE(layer.ok(), layer.error().message);
    const std::vector<std::string> layers{layer.value().key};
    CHECK(in_thread(*provider, "one", layers,
                    "echo $HOME; tool; cat ~/.setting; echo new > ~/.setting; rm ~/.removed; echo mine > ~/.mine") ==
          "/home/worker\nfrom the layer\nold\n");
    CHECK(in_thread(*provider, "one", layers, "tool; cat ~/.setting ~/.mine; ls ~/.removed 2>&1") ==
          "from the layer\nnew\nmine\nls: cannot access '/home/worker/.removed': No such file or directory\n");
    // Another thread has what the layer has, and so has the next sandbox of one without layers its own files.
    CHECK(in_thread(*provider, "two", layers, "cat ~/.setting ~/.removed") == "old\ngone\n");
    CHECK(in_thread(*provider, "three", {}, "echo plain > ~/x; cat ~/x") == "plain\n");
    CHECK(in_thread(*provider, "three", {}, "cat ~/x") == "plain\n");
    // A fork has a copy.
    REQUIRE(Volumes(store, ::geteuid() == 0).fork("one", "four").ok());
    CHECK(in_thread(*provider, "four", layers, "cat ~/.mine") == "mine\n");
}

TEST_CASE("links that a worker leaves where its home is kept are not followed") {
    Folder folder;
    const auto provider = open_provider(folder);
    CHECK(in_thread(*provider, "one", {}, "echo secret > /workspace/target; echo done") == "done\n");
    for (const char* plant : {"rm -rf /workspace/.hone; ln -s /etc /workspace/.hone",
                              "rm -rf /workspace/.hone; mkdir /workspace/.hone; ln -s / /workspace/.hone/home",
                              "rm -rf /workspace/.hone; mkdir /workspace/.hone; ln -s /tmp /workspace/.hone/home-work",
                              "rm -rf /workspace/.hone; touch /workspace/.hone"}) {
        const std::string thread = std::string("planted ") + plant;
        in_thread(*provider, thread, {}, plant);
        CHECK(in_thread(*provider, thread, {}, "ls ~").starts_with("error: "));
    }
}

} // namespace hone::sandbox
