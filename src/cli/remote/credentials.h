// The API keys that `hone login` stored, one per server: ${XDG_CONFIG_HOME:-~/.config}/hone/credentials.json, mode
// 0600. Read and written whole; one thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "cli/terminal/console.h"

#include <map>
#include <optional>
#include <string>

namespace hone::cli {

struct StoredLogin {
    std::string api_key;
    std::string key_id;
    std::string email;
    std::optional<std::string> ca_file;
    static constexpr Pack fields{
        Field{"api_key", &StoredLogin::api_key, ""},
        Field{"key_id", &StoredLogin::key_id, "To revoke it by."},
        Field{"email", &StoredLogin::email, ""},
        Field{"ca_file", &StoredLogin::ca_file, "Certificates to trust for this server."},
    };
};

struct Credentials {
    std::optional<std::string> default_url;
    std::map<std::string, StoredLogin> servers; // by URL
    static constexpr Pack fields{
        Field{"default_url", &Credentials::default_url, "Used when no URL is given: the last login."},
        Field{"servers", &Credentials::servers, ""},
    };

    const StoredLogin* find(const std::string& url) const;
    void remove(const std::string& url);
};

Result<std::string> credentials_path(const Environment& environment);
// None stored is empty. Refuses a file that others can read: what was in it is no secret any more.
Result<Credentials> read_credentials(const std::string& path);
Result<> write_credentials(const std::string& path, const Credentials& credentials);

} // namespace hone::cli
