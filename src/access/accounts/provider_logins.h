// The logins of a person that began at a provider of single sign-on. For src/identity, when the provider ends them. Any
// thread.
#pragma once

#include "access/access.h"

namespace hone::access {

// Ends all of them, with one entry in the audit log if there are any. Requires `user_manage`.
Result<> end_provider_logins(sql::Database& database, const AuditLog& audit, const Caller& caller, const UserId& user,
                             const std::string& provider);

} // namespace hone::access
