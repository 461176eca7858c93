#include "server/evaluation/judge_access.h"

#include "crypto/crypto.h"

namespace hone::server {

namespace {

constexpr std::string_view secret_name = "signing_secret";

} // namespace

Result<std::string> EvaluatorSecrets::signing_secret(const access::SpaceId& space, const evaluate::EvaluatorId& id) {
    const crypto::SecretBytes value =
        TRY(m_vault.reveal({space}, id.text(), std::string(secret_name), "remote evaluator"));
    return std::string(value.reveal());
}

Result<std::string> EvaluatorSecrets::make_signing_secret(const access::SpaceId& space,
                                                          const evaluate::EvaluatorId& id) {
    const std::string made = "whsec_" + crypto::random_token();
    TRY(m_database.write([&](sql::Transaction& transaction) {
        return m_vault.keep(transaction, {space}, id.text(), std::string(secret_name), crypto::SecretBytes(made));
    }));
    return made;
}

} // namespace hone::server
