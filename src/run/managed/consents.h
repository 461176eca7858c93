// The consent of an owner that data of a space is sent to an agent provider, by base URL. Without it presets with that
// provider are not saved and runs do not start. In the audit log; can be withdrawn. Thread-safe.
#pragma once

#include "access/access.h"

namespace hone::run {

struct ManagedConsent {
    std::string base_url;
    std::string consented_by;
    Time consented_at{};
    static constexpr Pack fields{
        Field{"base_url", &ManagedConsent::base_url, "Address of the provider."},
        Field{"consented_by", &ManagedConsent::consented_by, "Name of the owner."},
        Field{"consented_at", &ManagedConsent::consented_at, "Time of the consent."},
    };
};

struct ManagedConsentView {
    std::vector<std::string> leaves;
    std::vector<std::string> not_kept;
    std::vector<ManagedConsent> consents;
    static constexpr Pack fields{
        Field{"leaves", &ManagedConsentView::leaves, "What leaves this server, one line each."},
        Field{"not_kept", &ManagedConsentView::not_kept, "What the provider cannot keep, one line each."},
        Field{"consents", &ManagedConsentView::consents, "Addresses that an owner of the space has consented to."},
    };
};

class Consents {
public:
    Consents(sql::Database& database, const Clock& clock, const access::AuditLog& audit)
        : m_database(database),
          m_clock(clock),
          m_audit(audit) {}

    Result<ManagedConsentView> find(const access::Caller& caller, const access::SpaceId& space) const;
    // Both are for owners of the space only.
    Result<ManagedConsentView> give(const access::Caller& caller, const access::SpaceId& space,
                                    const std::string& base_url);
    Result<ManagedConsentView> withdraw(const access::Caller& caller, const access::SpaceId& space,
                                        const std::string& base_url);
    // forbidden: there is no consent.
    Result<> require(const access::SpaceId& space, const std::string& base_url) const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
    const access::AuditLog& m_audit;
};

} // namespace hone::run
