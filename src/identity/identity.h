// Everything about the identity of users beyond a password, built once by server/: providers of single sign-on, signing
// in through them, second factors, outside agents. Thread-safe.
#pragma once

#include "identity/agents.h"
#include "identity/second_factors.h"
#include "identity/sign_on.h"

namespace hone::identity {

struct IdentityOptions {
    OutgoingOptions outgoing{};
    std::string public_url{}; // without a slash at the end; empty: single sign-on is off
    Duration lifetime = std::chrono::hours(12);
};

struct Identities {
    Identities(sql::Database& database, const Clock& clock, access::Access& access, const secret::Vault& vault,
               const IdentityOptions& options = {})
        : client(clock, options.outgoing),
          providers(database, clock, access, vault, client, options.public_url),
          groups(database, access, providers),
          sign_on(database, clock, access, providers, groups, client, options.public_url, options.lifetime),
          second_factors(database, clock, access, vault),
          agents(database, clock, access, options.public_url) {}

    ProviderClient client;
    Providers providers;
    Groups groups;
    SignOn sign_on;
    SecondFactors second_factors;
    Agents agents;
};

} // namespace hone::identity
