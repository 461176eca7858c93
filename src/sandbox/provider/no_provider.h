// Where this machine cannot isolate: it has no sandboxes, and each start states why. Any thread.
#pragma once

#include "sandbox/provider/provider.h"

namespace hone::sandbox {

class NoProvider final : public Provider {
public:
    explicit NoProvider(std::string why) : m_why(std::move(why)) {}

    Capabilities capabilities() override { return {}; }
    using Provider::start;
    Result<std::unique_ptr<Sandbox>> start(const SandboxSpec& /*spec*/, const StartProgress& /*progress*/) override {
        return unavailable(m_why);
    }
    Result<std::unique_ptr<Sandbox>> attach(const SandboxId& id) override { return not_found("sandbox " + id.text()); }
    Result<std::vector<SandboxId>> list() override { return std::vector<SandboxId>(); }
    Result<> destroy(const SandboxId& /*id*/) override { return {}; }
    bool await_ready(int64_t /*timeout_ms*/) override { return true; }
    Result<int64_t> reconcile() override { return int64_t{0}; }
    Result<std::unique_ptr<Files>> thread_files(const std::string& /*thread*/) override { return unavailable(m_why); }
    Result<> fork_thread(const std::string& /*from*/, const std::string& /*to*/) override { return unavailable(m_why); }

private:
    const std::string m_why;
};

} // namespace hone::sandbox
