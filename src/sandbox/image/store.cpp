#include "sandbox/image/store.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "sandbox/image/tree.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr std::string_view half_made = ".new-";

std::vector<std::string> entries(const std::string& directory) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
    if (!stream) return names;
    while (const dirent* entry = ::readdir(stream.get()))
        if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..")
            names.emplace_back(entry->d_name);
    return names;
}

Fd take_lock(const std::string& path, int flags) {
    Fd lock(::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600));
    if (lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) lock.reset();
    return lock;
}

} // namespace

Result<Store> Store::open(const std::string& data_directory) {
    Store store;
    store.m_directory = data_directory + "/sandbox";
    for (const std::string& folder :
         {store.live(), store.images(), store.layers(), store.threads(), store.base(), store.trash()})
        TRY(make_directories(folder, 0700));
    return store;
}

// Removes what spawners left that died while they made a folder: nothing but the folder exists then. A process that
// makes one holds the file below shared, however long it takes on a busy machine, so the exclusive lock means that none
// does.
void Store::sweep_half_made(const std::vector<std::string>& names) const {
    const Fd alone = take_lock(making(), O_CREAT);
    if (!alone.is_open()) return;
    for (const std::string& name : names) (void)remove_tree(live() + "/" + name).ok();
}

Result<Fd> Store::begin(const Journal& journal) const {
    const Fd in_the_making(::open(making().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!in_the_making.is_open() || ::flock(in_the_making.get(), LOCK_SH) != 0)
        return system_error("lock " + making(), errno);
    const std::string hidden = live() + "/" + std::string(half_made) + journal.id.text();
    if (::mkdir(hidden.c_str(), 0700) != 0) return system_error("create " + hidden, errno);
    // One file for both: a new one costs a file system more than all else here.
    Fd lock = take_lock(hidden + "/journal.json", O_CREAT | O_EXCL);
    if (!lock.is_open()) return system_error("lock " + hidden, errno);
    // Not synced: what it protects (processes, groups) does not outlive a power failure either.
    TRY(write_all(lock.get(), json::write(journal)));
    if (::rename(hidden.c_str(), live(journal.id).c_str()) != 0) return system_error("publish " + hidden, errno);
    return lock;
}

Result<Journal> Store::journal(const SandboxId& id) const {
    const std::string text = TRY(read_file(live(id) + "/journal.json", 1 << 20));
    return json::read<Journal>(text);
}

Result<Fd> Store::lock_dead(const SandboxId& id) const {
    // Of a version before, whose shims may live on: a file of its own.
    const std::string separate = live(id) + "/lock";
    Fd lock = take_lock(file_exists(separate) ? separate : live(id) + "/journal.json", 0);
    if (lock.is_open()) return lock;
    if (errno == EWOULDBLOCK) return busy("sandbox " + id.text() + " is alive");
    return not_found("sandbox " + id.text());
}

std::vector<SandboxId> Store::sandboxes() const {
    std::vector<SandboxId> ids;
    std::vector<std::string> unfinished;
    for (const std::string& name : entries(live())) {
        if (auto id = parse_id<SandboxTag>(name); id.ok())
            ids.push_back(std::move(id).value());
        else if (name.starts_with(half_made))
            unfinished.push_back(name);
    }
    if (!unfinished.empty()) sweep_half_made(unfinished);
    return ids;
}

Result<> Store::forget(const SandboxId& id) const {
    return remove_tree(live(id));
}

Result<Fd> Store::hold(const std::string& directory) const {
    Fd lock(::open((directory + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.is_open() || ::flock(lock.get(), LOCK_SH) != 0) return system_error("lock " + directory, errno);
    ::futimens(lock.get(), nullptr); // last use
    return lock;
}

Result<Fd> Store::hold_alone(const std::string& directory) const {
    Fd lock(::open((directory + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.is_open() || ::flock(lock.get(), LOCK_EX) != 0) return system_error("lock " + directory, errno);
    return lock;
}

Fd Store::try_alone(const std::string& directory) const {
    return take_lock(directory + ".lock", O_CREAT);
}

Result<std::string> Store::key(const std::string& folder) const {
    const std::string path = folder + "/key";
    auto key = read_file(path, 64);
    if (!key.ok() && key.error().code == Code::not_found) {
        // Made under a name of its own first: threads and processes that start together must agree on one key.
        const std::string fresh = path + "." + make_ulid(SystemClock().now());
        TRY(write_file(fresh, crypto::random_bytes(32)));
        if (::link(fresh.c_str(), path.c_str()) != 0 && errno != EEXIST) return system_error("create " + path, errno);
        ::unlink(fresh.c_str());
        key = read_file(path, 64);
    }
    if (key.ok() && key.value().size() != 32) return corrupt(path + " does not hold 32 bytes");
    return key;
}

Result<> Store::discard(const std::string& path) const {
    const std::string place = trash() + "/" + make_ulid(SystemClock().now());
    if (::rename(path.c_str(), place.c_str()) != 0 && errno != ENOENT) return system_error("discard " + path, errno);
    return {};
}

void Store::empty_trash() const {
    for (const std::string& name : entries(trash()))
        if (auto removed = remove_tree(trash() + "/" + name); !removed.ok())
            log(Level::warning, "trash not removed", {{"error", removed.error().message}});
}

} // namespace hone::sandbox
