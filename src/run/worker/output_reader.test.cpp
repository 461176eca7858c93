#include "run/worker/output_reader.h"

#include <atomic>
#include <doctest/doctest.h>
#include <semaphore>

using namespace hone;
using namespace hone::run;

namespace {

// What a command writes, one part per call of `output`; then the end, or silence.
class ScriptedSandbox final : public sandbox::Sandbox {
public:
    struct Script {
        std::vector<std::string> parts;
        bool ends = true;
        std::atomic<int> calls{0};
        std::vector<int64_t> offsets{}; // of the calls
    };
    explicit ScriptedSandbox(Script& script) : m_script(script) {}

    Result<sandbox::Output> output(int64_t, int64_t offset, int64_t) override {
        const size_t call = static_cast<size_t>(m_script.calls++);
        m_script.offsets.push_back(offset);
        sandbox::Output output;
        if (call < m_script.parts.size()) {
            if (m_script.parts[call].empty()) return busy("nothing yet");
            output.parts.push_back({sandbox::Stream::out, {}, m_script.parts[call]});
            return output;
        }
        if (!m_script.ends) return busy("nothing yet");
        output.finished = true;
        return output;
    }
    const sandbox::SandboxId& id() const override { return m_id; }
    Result<sandbox::SandboxView> view() override { return unused(); }
    Result<int64_t> execute(const sandbox::Command&) override { return unused(); }
    Result<sandbox::CommandResult> wait(int64_t, int64_t) override { return unused(); }
    Result<sandbox::SandboxView> wait_stopped(int64_t) override { return unused(); }
    Result<size_t> write_input(int64_t, std::string_view, int64_t) override { return unused(); }
    Result<> close_input(int64_t) override { return unused(); }
    Result<> signal(int64_t, int) override { return unused(); }
    Result<> resize(int64_t, int, int) override { return unused(); }
    Result<> freeze() override { return unused(); }
    Result<> thaw() override { return unused(); }
    Result<std::vector<Fd>> listeners() override { return unused(); }
    Result<std::unique_ptr<sandbox::Files>> files() override { return unused(); }
    Result<> refresh(const sandbox::Mount&) override { return unused(); }
    Result<sandbox::SandboxView> stop() override { return unused(); }
    Result<> destroy() override { return unused(); }

private:
    static Error unused() { return internal("not in this test"); }
    Script& m_script;
    sandbox::SandboxId m_id{"sbx_1"};
};

class ScriptedProvider final : public sandbox::Provider {
public:
    ScriptedSandbox::Script script;
    sandbox::Capabilities capabilities() override { return {}; }
    Result<std::unique_ptr<sandbox::Sandbox>> start(const sandbox::SandboxSpec&,
                                                    const sandbox::StartProgress&) override {
        return internal("unused");
    }
    Result<std::unique_ptr<sandbox::Sandbox>> attach(const sandbox::SandboxId&) override {
        std::unique_ptr<sandbox::Sandbox> made = std::make_unique<ScriptedSandbox>(script);
        return made;
    }
    Result<std::vector<sandbox::SandboxId>> list() override { return internal("unused"); }
    Result<> destroy(const sandbox::SandboxId&) override { return internal("unused"); }
    bool await_ready(int64_t) override { return true; }
    Result<int64_t> reconcile() override { return internal("unused"); }
    Result<std::unique_ptr<sandbox::Files>> thread_files(const std::string&) override { return internal("unused"); }
    Result<> fork_thread(const std::string&, const std::string&) override { return internal("unused"); }
};

} // namespace

TEST_CASE("output is read in order from its offset, and its end is the last chunk") {
    ScriptedProvider provider;
    provider.script.parts = {"one", "", "three"}; // an empty part: nothing arrived in time
    std::counting_semaphore<> arrived(0);
    OutputReader reader([&] { arrived.release(); });
    reader.start(provider, sandbox::SandboxId("sbx_1"), 7, 100);
    std::vector<OutputChunk> chunks;
    while (chunks.empty() || !chunks.back().is_last) {
        arrived.acquire();
        for (OutputChunk& chunk : reader.take()) chunks.push_back(std::move(chunk));
    }
    const auto header = static_cast<int64_t>(sandbox::frame_header_bytes);
    REQUIRE(chunks.size() == 3);
    CHECK(chunks[0].bytes == "one");
    CHECK(chunks[0].next == 100 + header + 3);
    CHECK(chunks[1].bytes == "three");
    CHECK(chunks[1].next == chunks[0].next + header + 5);
    CHECK(chunks[2].next == chunks[1].next);
    reader.stop();
    CHECK(provider.script.offsets == std::vector<int64_t>{100, chunks[0].next, chunks[0].next, chunks[1].next});
}

TEST_CASE("a reader that is stopped adds no end, and drops what was not taken") {
    ScriptedProvider provider;
    provider.script.parts = {"one"};
    provider.script.ends = false;
    std::counting_semaphore<> arrived(0);
    OutputReader reader([&] { arrived.release(); });
    reader.start(provider, sandbox::SandboxId("sbx_1"), 7, 0);
    arrived.acquire();
    reader.stop();
    CHECK(reader.take().empty());
    reader.stop();
    CHECK_FALSE(arrived.try_acquire());
}

TEST_CASE("a reader waits when nothing is taken, and can be stopped then") {
    ScriptedProvider provider;
    provider.script.parts.assign(4, std::string(5 << 20, 'x')); // the second one is beyond what may wait
    std::counting_semaphore<> arrived(0);
    OutputReader reader([&] { arrived.release(); });
    reader.start(provider, sandbox::SandboxId("sbx_1"), 7, 0);
    arrived.acquire();
    arrived.acquire();
    CHECK(provider.script.calls == 2);
    CHECK(reader.take().size() == 2); // room again
    arrived.acquire();
    arrived.acquire();
    CHECK(provider.script.calls == 4);
    reader.stop();
}
