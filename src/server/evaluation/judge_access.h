// What evaluators of kind remote need: the secrets that sign their requests, and the private addresses that the
// installation allows. Thread-safe.
#pragma once

#include "evaluate/judges/judge.h"
#include "secret/vault.h"
#include "server/evaluation/task_sources.h"

namespace hone::server {

class EvaluatorSecrets final : public evaluate::RemoteAccess {
public:
    EvaluatorSecrets(sql::Database& database, const secret::Vault& vault, ExperimentSources& sources)
        : m_database(database),
          m_vault(vault),
          m_sources(sources) {}

    Result<std::string> signing_secret(const access::SpaceId& space, const evaluate::EvaluatorId& id) override;
    Result<std::string> make_signing_secret(const access::SpaceId& space, const evaluate::EvaluatorId& id) override;
    bool allows_private(const std::string& host, int64_t port) override { return m_sources.allows_private(host, port); }

private:
    sql::Database& m_database;
    const secret::Vault& m_vault;
    ExperimentSources& m_sources;
};

} // namespace hone::server
