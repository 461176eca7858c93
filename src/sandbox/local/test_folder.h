// What the tests of this folder share: a folder of their own, the program that plays spawner, and sandboxes.
#pragma once

#include "crypto/crypto.h"
#include "sandbox/image/tree.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/provider/provider.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

namespace hone::sandbox {

// A folder that is gone when the test ends.
struct Folder {
    std::string path;
    Folder() {
        char name[] = "/var/tmp/hone-test-XXXXXX";
        path = ::mkdtemp(name);
        crypto::start();
    }
    ~Folder() { (void)remove_tree(path).ok(); }
};

// The program with the spawner role is beside the folder of the tests.
inline std::string hone_program() {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "hone").string();
}

inline std::unique_ptr<Provider> open_provider(const Folder& folder) {
    auto provider = open_local_provider({folder.path, hone_program()});
    REQUIRE_MESSAGE(provider.ok(), provider.error().message);
    return std::move(provider).value();
}

inline std::unique_ptr<Sandbox> start(Provider& provider, const SandboxSpec& spec) {
    auto sandbox = provider.start(spec);
    REQUIRE_MESSAGE(sandbox.ok(), sandbox.error().message);
    return std::move(sandbox).value();
}

inline SandboxSpec shell(const std::string& script) {
    SandboxSpec spec;
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    spec.command = command;
    return spec;
}

// Until the command has ended, or has written `enough` bytes.
inline std::string read_all(Sandbox& sandbox, int64_t number, size_t enough = SIZE_MAX) {
    std::string text;
    for (int64_t offset = 0;;) {
        auto output = sandbox.output(number, offset);
        REQUIRE(output.ok());
        for (const Output::Part& part : output.value().parts) text += part.bytes;
        offset = output.value().next;
        if (output.value().finished || text.size() >= enough) return text;
    }
}

} // namespace hone::sandbox
