#include "server/operations/password_logins.h"

#include "access/access.h"
#include "access/names.h"
#include "base/text.h"
#include "identity/providers.h"

namespace hone::server {

// An empty list would lock out all users without a provider.
Result<std::optional<std::vector<std::string>>> password_accounts(const std::string& setting) {
    if (setting == "all") return std::optional<std::vector<std::string>>();
    std::vector<std::string> accounts;
    for (const std::string_view part : split(setting, ',')) {
        const auto email = access::checked_email(trim(part));
        if (!email.ok()) return invalid("password_logins must be `all` or e-mail addresses separated by commas");
        accounts.push_back(email.value());
    }
    return std::optional(std::move(accounts));
}

std::string password_login_problems(sql::Database& database, const config::Config& config) {
    const auto accounts = password_accounts(config.password_logins);
    if (!accounts.ok()) return accounts.error().message;
    if (!accounts.value()) return {};
    std::string problems;
    const auto add = [&](std::string_view problem) {
        if (!problems.empty()) problems += "; ";
        problems += problem;
    };
    // Neither can be read before the first start.
    const auto has_owner = access::has_owner_with_password(database, *accounts.value());
    if (has_owner.ok() && !has_owner.value())
        add("it names no enabled owner of the installation who has a password: no owner can log in when the "
            "provider does not respond");
    const auto has_provider = identity::has_enabled_provider(database);
    if (has_provider.ok() && !has_provider.value())
        add("no provider of single sign-on is enabled: only the accounts that it names can log in");
    if (config.public_url.empty())
        add("public_url is empty, without which no provider works: only the accounts that it names can "
            "log in");
    return problems;
}

} // namespace hone::server
