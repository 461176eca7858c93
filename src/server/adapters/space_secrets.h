// Opens secrets of one space for what the server itself does there: a fetch, a model call. The purpose is in the audit
// log. Thread-safe.
#pragma once

#include "broker/broker.h"
#include "secret/vault.h"

namespace hone::server {

class SpaceSecrets final : public broker::SecretOpener {
public:
    SpaceSecrets(secret::Vault& vault, access::SpaceId space, std::string purpose)
        : m_vault(vault),
          m_space(std::move(space)),
          m_purpose(std::move(purpose)) {}
    Result<crypto::SecretBytes> open(const std::string& secret_id) override {
        return m_vault.open(m_space, secret_id, m_purpose);
    }

private:
    secret::Vault& m_vault;
    const access::SpaceId m_space;
    const std::string m_purpose;
};

} // namespace hone::server
