// evaluate::ModelCalls over the broker's gateway: experiments and the playground call models as workers do, with the
// credential of a model skill, metered, limited and traced. Thread-safe.
#pragma once

#include "broker/broker.h"
#include "broker/gateway/own_call.h"
#include "evaluate/prompts/model_session.h"
#include "secret/vault.h"
#include "skill/skills.h"

#include <set>

namespace hone::server {

class GatewayModelCalls final : public evaluate::ModelCalls {
public:
    GatewayModelCalls(const skill::Skills& skills, secret::Vault& vault, const access::AuditLog& audit,
                      broker::UsageLedger& ledger, const Clock& clock)
        : m_skills(skills),
          m_vault(vault),
          m_audit(audit),
          m_ledger(ledger),
          m_clock(clock) {}

    // Once they are there; they must outlive every session.
    void connect(broker::Broker& broker, broker::Gateway& gateway, const broker::Dialer& dialer);

    Result<std::vector<evaluate::OfferedModel>> list_models(const access::Caller& caller, const access::SpaceId& space,
                                                            const evaluate::ModelListRequest& wanted) override;

    Result<std::string> find_skill(const access::Caller& caller, const access::SpaceId& space,
                                   const std::string& wanted, const std::string& protocol,
                                   const std::string& model) override;
    Result<evaluate::CallForecast> forecast(const access::SpaceId& space, const std::string& skill_id,
                                            const evaluate::PromptRequest& request, int64_t input_tokens) override;
    Result<std::unique_ptr<evaluate::ModelSession>> open(const evaluate::ModelOwner& owner) override;
    void stop() override;
    Result<evaluate::ModelSpending> spent(const std::string& owner_id) override;

private:
    friend class GatewaySession;

    const skill::Skills& m_skills;
    secret::Vault& m_vault;
    const access::AuditLog& m_audit;
    broker::UsageLedger& m_ledger;
    const Clock& m_clock;
    Mutex m_mutex;
    broker::Broker* m_broker GUARDED_BY(m_mutex) = nullptr;
    broker::Gateway* m_gateway GUARDED_BY(m_mutex) = nullptr;
    const broker::Dialer* m_dialer GUARDED_BY(m_mutex) = nullptr;
    broker::Cancel m_stop; // of lists of models
    std::set<evaluate::ModelSession*> m_sessions GUARDED_BY(m_mutex);
    bool m_stopped GUARDED_BY(m_mutex) = false;
};

} // namespace hone::server
