// forge::ForgeHttp over skills and secrets: sends requests to the API of a forge with the credential of a repository's
// skill, to addresses that the space may reach. The use of a credential is in the audit log before it is used.
// Thread-safe.
#pragma once

#include "access/access.h"
#include "broker/wire/dial.h"
#include "forge/clients/forge.h"
#include "net/http/url.h"
#include "secret/vault.h"
#include "skill/skills.h"

namespace hone::server {

class SkillForgeHttp final : public forge::ForgeHttp {
public:
    // `extra_ca_file`: authorities that are trusted beside the system's; empty: none. `directory` holds both in one
    // file.
    // `proxy`, `without_proxy`: the settings egress_proxy and egress_no_proxy.
    SkillForgeHttp(const access::AuditLog& audit, const skill::Skills& skills, secret::Vault& vault,
                   const std::string& extra_ca_file, const std::string& directory, const std::string& proxy = {},
                   const std::string& without_proxy = {});

    Result<net::ClientResponse> send(const forge::Remote& remote, net::ClientRequest request) override;

private:
    // Adds the skill's credential for this address, if it has one.
    Result<> authorize(const forge::Remote& remote, const net::Url& url, net::ClientRequest& request);
    // Whether the upstream proxy is used for this host. Errors: invalid = the setting is malformed.
    Result<bool> goes_through_proxy(const net::Url& url) const;
    // The proxy gets an address that was checked, or for the name when this machine cannot resolve it.
    Result<net::ClientResponse> send_through_proxy(net::ClientRequest& request,
                                                   const std::vector<const net::Endpoint*>& allowed);

    const access::AuditLog& m_audit;
    const skill::Skills& m_skills;
    secret::Vault& m_vault;
    const std::unique_ptr<broker::Resolver> m_resolver;
    const broker::AddressCheck m_check;
    const std::string m_proxy, m_without_proxy;
    net::HttpClient m_http;
    net::HttpClient m_proxied_http;
};

} // namespace hone::server
