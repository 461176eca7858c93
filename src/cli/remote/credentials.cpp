#include "cli/remote/credentials.h"

#include "base/file.h"
#include "json/json.h"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

namespace hone::cli {

const StoredLogin* Credentials::find(const std::string& url) const {
    const auto found = servers.find(url);
    return found == servers.end() ? nullptr : &found->second;
}

void Credentials::remove(const std::string& url) {
    servers.erase(url);
    if (default_url != url) return;
    default_url.reset();
    if (servers.size() == 1) default_url = servers.begin()->first;
}

Result<std::string> credentials_path(const Environment& environment) {
    // The specification of XDG_CONFIG_HOME requires that a relative path is ignored.
    if (const auto base = environment("XDG_CONFIG_HOME"); base && base->starts_with('/'))
        return *base + "/hone/credentials.json";
    if (const auto home = environment("HOME"); home && home->starts_with('/'))
        return *home + "/.config/hone/credentials.json";
    return invalid("cannot store credentials: neither HOME nor XDG_CONFIG_HOME is set");
}

Result<Credentials> read_credentials(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return Credentials();
        return system_error("open " + path, errno);
    }
    if ((status.st_mode & 077) != 0)
        return conflict(path + " can be read by other users; run: chmod 600 " + path + " and log in again");
    auto read = json::read<Credentials>(TRY(read_file(path, 1 << 20)));
    if (!read.ok()) return corrupt(path + " is damaged (" + read.error().message + "); delete it and log in again");
    return read;
}

Result<> write_credentials(const std::string& path, const Credentials& credentials) {
    TRY(make_directories(std::filesystem::path(path).parent_path().string(), 0700));
    return write_file(path, json::print_pretty(json::to_value(credentials)), 0600);
}

} // namespace hone::cli
