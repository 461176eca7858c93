#include "server/backup/stored_backups.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace hone::server {

namespace {

const std::string backups_folder = "backups/";
constexpr std::string_view backup_ending = ".tar.zst";

// "hone-20261117T175000Z-1a2b3c4d.tar.zst": in the order of time.
std::string new_backup_name(Time now) {
    std::string digits;
    for (const char c : to_text(now).substr(0, 19))
        if (c != '-' && c != ':') digits += c;
    return "hone-" + digits + "Z-" + to_hex(crypto::random_bytes(4)) + std::string(backup_ending);
}

} // namespace

Result<api::StoredBackup> store_backup(objects::ObjectStore& store, net::BodySource& backup, Time now) {
    api::StoredBackup made;
    made.name = new_backup_name(now);
    made.created_at = now;
    const auto stored = TRY(store.put(backups_folder + made.name, [&] { return backup.next(); }));
    made.bytes = stored.bytes;
    made.store = store.description();
    return made;
}

Result<std::vector<api::StoredBackup>> stored_backups(objects::ObjectStore& store) {
    std::vector<api::StoredBackup> all;
    std::string cursor;
    do {
        const objects::ObjectPage page = TRY(store.list(backups_folder, cursor));
        for (const objects::ObjectInfo& object : page.objects)
            if (object.key.ends_with(backup_ending))
                all.push_back(
                    {object.key.substr(backups_folder.size()), object.bytes, object.changed_at, store.description()});
        cursor = page.next;
    } while (!cursor.empty());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name > b.name; });
    return all;
}

Result<std::string> fetch_backup(objects::ObjectStore& store, const std::string& name, const std::string& file) {
    std::string wanted = name;
    if (name == "latest") {
        const auto all = TRY(stored_backups(store));
        if (all.empty()) return not_found("a backup in " + store.description());
        wanted = all.front().name;
    }
    const Fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!out.is_open()) return system_error("write " + file, errno);
    TRY(store.get(backups_folder + wanted, {}, [&](std::string_view piece) { return write_all(out.get(), piece); }));
    return wanted;
}

} // namespace hone::server
