// evaluate::TaskSources over forge/ and the settings: the files of a repository at a commit for the commands of
// experiments, and the private addresses that the installation allows. Thread-safe.
#pragma once

#include "broker/egress/private_host.h"
#include "evaluate/runner/experiment_tasks.h"
#include "forge/mirrors.h"
#include "forge/push/quarantine.h"

namespace hone::server {

class ExperimentSources final : public evaluate::TaskSources {
public:
    // `mirrors`, `git`, `quarantine`: null where nothing can be isolated.
    ExperimentSources(forge::Repos& repos, forge::Mirrors* mirrors, const forge::Git* git,
                      const forge::Quarantine* quarantine, std::vector<broker::PrivateHost> private_hosts,
                      const std::string& data_directory, evaluate::ModelCalls& models)
        : m_repos(repos),
          m_mirrors(mirrors),
          m_git(git),
          m_quarantine(quarantine),
          m_private_hosts(std::move(private_hosts)),
          m_directory(data_directory + "/git"),
          m_models(models) {}

    Result<std::string> find_repo(const access::Caller& caller, const access::SpaceId& space,
                                  const std::string& id_or_name) override;
    Result<std::string> write_archive(const access::SpaceId& space, const std::string& repo, const std::string& ref,
                                      const std::string& file) override;
    bool allows_private(const std::string& host, int64_t port) override;
    evaluate::ModelCalls* models() override { return &m_models; }

private:
    Result<std::string> pack(const forge::GitJob& job, const std::string& what, const std::string& file);

    forge::Repos& m_repos;
    forge::Mirrors* const m_mirrors;
    const forge::Git* const m_git;
    const forge::Quarantine* const m_quarantine;
    const std::vector<broker::PrivateHost> m_private_hosts;
    const std::string m_directory;
    evaluate::ModelCalls& m_models;
};

} // namespace hone::server
