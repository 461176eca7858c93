#include "server/object_storage.h"

#include "crypto/secret_bytes.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

namespace hone::server {

objects::StoreSettings object_store_settings(const config::Config& config) {
    return {config.object_store, config.object_store_credentials_file, config.object_store_ca_file, config.data_dir};
}

objects::Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

objects::Environment take_store_environment() {
    // Shared, since a std::function must be copyable.
    auto taken = std::make_shared<std::map<std::string, crypto::SecretBytes>>();
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
        char* value = std::getenv(name);
        if (value == nullptr) continue;
        taken->emplace(name, crypto::SecretBytes(std::string_view(value)));
        explicit_bzero(value, std::strlen(value));
        ::unsetenv(name);
    }
    return [taken](const std::string& name) -> std::optional<std::string> {
        const auto found = taken->find(name);
        return found == taken->end() ? std::nullopt : std::optional<std::string>(found->second.reveal());
    };
}

Result<std::string> probe_object_store(const config::Config& config, const Clock& clock) {
    const auto store = TRY(objects::open_store(object_store_settings(config), process_environment(), clock));
    TRY(objects::probe(*store));
    return store->description() + " can be written, read, listed and deleted";
}

} // namespace hone::server
