#include "telemetry/engine/engine_process.h"

#include "telemetry/temporary_directory.h"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <thread>

using namespace hone;
using namespace hone::telemetry;

TEST_CASE("the state of an engine can be read while it starts") {
    const TemporaryDirectory directory;
    EngineProcessOptions options;
    // Ends with its standard input, and never opens the socket.
    options.program = {"/bin/sh", "-c", "exec cat > /dev/null"};
    options.directory = directory.path();
    options.socket = directory.path() + "/engine.sock";
    EngineProcess process(options);
    CHECK_FALSE(process.is_running());

    std::atomic<bool> has_returned = false;
    std::jthread user([&] {
        const auto use = process.use();
        CHECK_FALSE(use.ok());
        has_returned = true;
    });
    while (process.pid() == 0 && !has_returned) std::this_thread::yield();
    CHECK(process.is_running());
    CHECK(process.starts() == 1);
    CHECK_FALSE(has_returned); // it waits for the engine, up to start_timeout
    REQUIRE(process.pid() > 0);
    CHECK(::kill(process.pid(), SIGKILL) == 0);
    user.join();
    CHECK_FALSE(process.is_running());
}
