// What a sealed value is bound to. Moving a row of the database elsewhere makes it useless.
#pragma once

#include "crypto/seal.h"

namespace hone::secret {

inline std::string context_of_secret(std::string_view scope, std::string_view skill, std::string_view name,
                                     int64_t key_version) {
    return crypto::seal_context({"secret", scope, skill, name, std::to_string(key_version)});
}

inline std::string context_of_kept(std::string_view scope, std::string_view owner, std::string_view name,
                                   int64_t key_version) {
    return crypto::seal_context({"kept", scope, owner, name, std::to_string(key_version)});
}

inline std::string context_of_data_key(std::string_view scope, int64_t version) {
    return crypto::seal_context({"data key", scope, std::to_string(version)});
}

} // namespace hone::secret
