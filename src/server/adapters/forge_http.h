// forge::ForgeHttp over skills and secrets: sends requests to the API of a forge with the credential of a repository's
// skill, to addresses that the space may reach. The use of a credential is in the audit log before it is used.
// Thread-safe.
#pragma once

#include "access/access.h"
#include "broker/wire/dial.h"
#include "forge/client_forge.h"
#include "net/http/url.h"
#include "secret/vault.h"
#include "skill/skills.h"

namespace hone::server {

class SkillForgeHttp final : public forge::ForgeHttp {
public:
    // `extra_ca_file`: authorities that are trusted beside the system's; empty: none. `directory` holds both in one
    // file.
    SkillForgeHttp(const access::AuditLog& audit, const skill::Skills& skills, secret::Vault& vault,
                   const std::string& extra_ca_file, const std::string& directory);

    Result<net::ClientResponse> send(const forge::Remote& remote, net::ClientRequest request) override;

private:
    // Adds the skill's credential for this address, if it has one.
    Result<> authorize(const forge::Remote& remote, const net::Url& url, net::ClientRequest& request);

    const access::AuditLog& m_audit;
    const skill::Skills& m_skills;
    secret::Vault& m_vault;
    const std::unique_ptr<broker::Resolver> m_resolver;
    const broker::AddressCheck m_check;
    net::HttpClient m_http;
};

} // namespace hone::server
