// Environment variables of presets and sessions that are secrets. Their values are in the vault, under the id of the
// preset or run that owns them; everything else (settings, versions, manifests, the API, files of presets) has a mask
// in their place. Any thread.
#pragma once

#include "run/settings/settings.h"
#include "secret/vault.h"

namespace hone::run {

// Shown instead of a value. Saved as a value it means: keep the one that is stored.
constexpr std::string_view secret_mask = "********";

using SecretValues = std::map<std::string, crypto::SecretBytes>;

// Takes the values out of the settings, which have the mask afterwards. Only those that are new.
SecretValues take_secrets(Settings& settings);

// Stores the secrets of `owner`, in the transaction that writes its settings: new values, without those that the
// settings do not name any more. invalid when a name has neither a new nor a stored value. Without a vault: unavailable
// when there is something to store.
Result<> store_secrets(sql::Transaction& transaction, const secret::Vault* vault, const access::SpaceId& space,
                       const std::string& owner, const Settings& settings, const SecretValues& values);
Result<> forget_secrets(sql::Transaction& transaction, const secret::Vault* vault, const std::string& owner);

// For the worker: the value of one variable.
Result<crypto::SecretBytes> reveal_secret(const secret::Vault& vault, const access::SpaceId& space,
                                          const std::string& owner, const std::string& name, std::string_view purpose);

} // namespace hone::run
