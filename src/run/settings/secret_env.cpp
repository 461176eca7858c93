#include "run/settings/secret_env.h"

#include <algorithm>

namespace hone::run {

namespace {

constexpr std::string_view kept_prefix = "env.";

std::string kept_name(const std::string& variable) {
    return std::string(kept_prefix) + variable;
}

} // namespace

SecretValues take_secrets(Settings& settings) {
    SecretValues values;
    for (auto& [name, value] : settings.sandbox.value.secret_env.value) {
        if (value.empty() || value == secret_mask) {
            value = secret_mask;
            continue;
        }
        values.emplace(name, crypto::SecretBytes(value));
        crypto::wipe(value);
        value = secret_mask;
    }
    return values;
}

Result<> store_secrets(sql::Transaction& transaction, const secret::Vault* vault, const access::SpaceId& space,
                       const std::string& owner, const Settings& settings, const SecretValues& values) {
    const auto& wanted = settings.sandbox.value.secret_env.value;
    if (vault == nullptr) {
        if (wanted.empty()) return {};
        return unavailable("sandbox.secret_env cannot be stored: this server has no vault");
    }
    const secret::Scope scope{space};
    const std::vector<std::string> stored = TRY(vault->kept_names(transaction, owner));
    for (const std::string& kept : stored)
        if (kept.starts_with(kept_prefix) && !wanted.contains(kept.substr(kept_prefix.size())))
            TRY(vault->forget(transaction, owner, kept));
    for (const auto& [name, mask] : wanted) {
        if (const auto fresh = values.find(name); fresh != values.end()) {
            TRY(vault->keep(transaction, scope, owner, kept_name(name), fresh->second));
        } else if (std::find(stored.begin(), stored.end(), kept_name(name)) == stored.end()) {
            return invalid("sandbox.secret_env." + name + " has no stored value: send its value");
        }
    }
    return {};
}

Result<> forget_secrets(sql::Transaction& transaction, const secret::Vault* vault, const std::string& owner) {
    if (vault == nullptr) return {};
    return vault->forget(transaction, owner);
}

Result<crypto::SecretBytes> reveal_secret(const secret::Vault& vault, const access::SpaceId& space,
                                          const std::string& owner, const std::string& name, std::string_view purpose) {
    auto value = vault.reveal(secret::Scope{space}, owner, kept_name(name), purpose);
    if (!value.ok() && value.error().code == Code::not_found)
        return conflict(
            "the value of the secret variable " + name +
            " is not stored any more: its preset was deleted or changed. Save it again and start a new run");
    return value;
}

} // namespace hone::run
