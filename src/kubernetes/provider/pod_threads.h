// The volumes of threads: one claim for each, with the workspace and the home of its sandboxes. Any thread; blocks.
#pragma once

#include "kubernetes/api/api.h"
#include "sandbox/provider/spec.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::kubernetes {

struct PodThreadsOptions {
    std::string name_space;
    std::string installation;
    std::string storage_class; // "default": that of the cluster; empty: threads have no volumes
};

// Of the pod that reads the files of a thread which has no sandbox.
sandbox::SandboxSpec reader_spec(const std::string& thread);

class PodThreads {
public:
    PodThreads(Api& api, const Clock& clock, PodThreadsOptions options)
        : m_api(api),
          m_clock(clock),
          m_options(std::move(options)) {}

    bool have_volumes() const { return !m_options.storage_class.empty(); }
    // The name of the thread's claim, which is made unless it exists. `busy`: another pod has the volume.
    Result<std::string> claim(const std::string& thread, int64_t bytes);
    Result<bool> exists(const std::string& thread);
    // Claims of threads that are none of these, except new ones.
    Result<int64_t> remove_others(const std::vector<std::string>& kept);

private:
    Result<std::string> make_claim(const std::string& thread, int64_t bytes);
    std::string claims_path() const;
    Result<> require_free(const std::string& claim);

    Api& m_api;
    const Clock& m_clock;
    const PodThreadsOptions m_options;
};

} // namespace hone::kubernetes
