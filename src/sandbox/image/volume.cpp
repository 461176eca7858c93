#include "sandbox/image/volume.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/wall/kernel.h"
#include "sandbox/wall/program.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <memory>
#include <set>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace hone::sandbox {

namespace {

constexpr int64_t smallest_image = 4 << 20;
constexpr int64_t smallest_journaled = 64 << 20;
constexpr std::string_view empty_prefix = "empty-";

Result<Fd> attach_loop(int image, bool read_only) {
    const Fd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    if (!control.is_open()) return system_error("open /dev/loop-control", errno);
    for (int attempt = 0; attempt < 64; ++attempt) {
        const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        if (number < 0) return system_error("find a free loop device", errno);
        Fd device(::open(("/dev/loop" + std::to_string(number)).c_str(), (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC));
        if (!device.is_open()) return system_error("open a loop device", errno);
        loop_config config{};
        config.fd = static_cast<uint32_t>(image);
        // Gone by itself when the last mount goes: nothing to clean up after a crash.
        config.info.lo_flags = LO_FLAGS_AUTOCLEAR | (read_only ? static_cast<uint32_t>(LO_FLAGS_READ_ONLY) : 0u);
        if (::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return device;
        if (errno != EBUSY) return system_error("attach a loop device", errno); // else another process was faster
    }
    return busy("no loop device is free");
}

std::string device_path(int descriptor) {
    char path[64] = {};
    const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path - 1);
    return length > 0 ? path : "";
}

// The image as a mount that is attached nowhere.
Result<Fd> mount_opened(int image, bool read_only) {
    const Fd device = TRY(attach_loop(image, read_only));
    const Fd context(::fsopen("ext4", FSOPEN_CLOEXEC));
    if (!context.is_open()) return system_error("open ext4", errno);
    const auto set = [&](const char* key, const char* value) {
        return ::fsconfig(context.get(), value == nullptr ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING, key, value, 0) ==
               0;
    };
    if (!set("source", device_path(device.get()).c_str()) ||
        (read_only && (!set("ro", nullptr) || !set("noload", nullptr))) ||
        ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return system_error("mount a thread volume", errno);
    const unsigned attributes =
        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
        (read_only ? MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC | static_cast<unsigned>(kernel::mount_attr_nosymfollow)
                   : 0u);
    Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, attributes));
    if (!mount.is_open()) return system_error("mount a thread volume", errno);
    return mount;
}

Result<Fd> open_image(const std::string& path, bool read_only) {
    Fd image(::open(path.c_str(), (read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC));
    if (!image.is_open()) return system_error("open " + path, errno);
    return image;
}

Result<Fd> mount_image(const std::string& path, bool read_only) {
    const Fd image = TRY(open_image(path, read_only));
    return mount_opened(image.get(), read_only);
}

struct ImageShape {
    int64_t bytes;
    int64_t inodes;

    explicit ImageShape(const Limits& limits)
        : bytes(std::max(smallest_image, *limits.disk_bytes) & ~int64_t{4095}),
          // An inode takes 256 bytes of the image; more than one per 8 KiB would leave no room for files.
          inodes(std::min(*limits.disk_inodes, bytes / 8192)) {}

    bool operator==(const ImageShape&) const = default;
};

Result<> make_image(const std::string& path, const ImageShape& shape) {
    const std::string beside = path + ".new";
    ::unlink(beside.c_str());
    {
        const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file.is_open() || ::ftruncate(file.get(), shape.bytes) != 0)
            return system_error("create " + beside, errno);
    }
    std::vector<std::string> argv{"/usr/sbin/mkfs.ext4",
                                  "-q",
                                  "-F",
                                  "-m",
                                  "0",
                                  "-N",
                                  std::to_string(shape.inodes),
                                  "-E",
                                  "lazy_itable_init=1,lazy_journal_init=1,nodiscard,root_owner=1000:1000"};
    if (shape.bytes < smallest_journaled)
        argv.insert(argv.end(), {"-O", "^has_journal"});
    else
        argv.insert(argv.end(), {"-J", "size=4"});
    argv.push_back(beside);
    TRY(run_program(argv));
    {
        const Fd mount = TRY(mount_image(beside, false));
        ::unlinkat(mount.get(), "lost+found", AT_REMOVEDIR);
    } // all of it is in the file when it is unmounted
    TRY(sync_file(beside));
    if (::rename(beside.c_str(), path.c_str()) != 0) return system_error("create " + path, errno);
    return {};
}

// A new image is a copy of an empty one of the same shape, kept among the threads and going as they do when it is not
// used: making a file system and mounting it once takes tens of milliseconds, copying the little that is in it few.
Result<> copy_empty_image(const Store& store, const std::string& path, const ImageShape& shape) {
    const std::string empty = store.threads() + "/" + std::string(empty_prefix) + std::to_string(shape.bytes) + "-" +
                              std::to_string(shape.inodes);
    if (!file_exists(empty + ".ext4")) {
        const Fd alone = TRY(store.hold_alone(empty));
        if (!file_exists(empty + ".ext4")) TRY(make_image(empty + ".ext4", shape));
    }
    const Fd held = TRY(store.hold(empty));
    const std::string beside = path + ".new";
    ::unlink(beside.c_str());
    TRY(copy_file(empty + ".ext4", beside));
    TRY(sync_file(beside)); // a name without its content would be a thread that can never be mounted
    if (::rename(beside.c_str(), path.c_str()) != 0) return system_error("create " + path, errno);
    return {};
}

// A file system whose disk was full may refuse all changes from then on, and statfs does not show it.
bool takes_changes(const Fd& mount) {
    return Fd(::openat(mount.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)).is_open();
}

} // namespace

Result<Fd> mount_for_reading(int image) {
    return mount_opened(image, true);
}

bool can_mount_images() {
    return ::geteuid() == 0 && ::access("/dev/loop-control", R_OK | W_OK) == 0 &&
           ::access("/usr/sbin/mkfs.ext4", X_OK) == 0;
}

Result<std::string> Volumes::path(std::string_view thread) const {
    const std::string key = TRY(m_store.key(m_store.threads()));
    return m_store.threads() + "/" + to_hex(crypto::keyed_hash(key, thread));
}

Result<Fd> Volumes::lock(const std::string& path, bool create) const {
    Fd lock(::open((path + ".lock").c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600));
    if (!lock.is_open() && errno == ENOENT) return not_found("thread");
    if (!lock.is_open()) return system_error("lock the thread", errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return busy("the thread is in use by another sandbox");
    ::futimens(lock.get(), nullptr); // last use, for expiry
    return lock;
}

Result<> Volumes::create(const std::string& path, const Limits& limits) const {
    if (m_as_root && can_mount_images()) return copy_empty_image(m_store, path + ".ext4", ImageShape(limits));
    const std::string directory = path + ".files";
    if (::mkdir(directory.c_str(), 0755) != 0)
        return errno == EEXIST ? Result<>() : system_error("create " + directory, errno);
    if (m_as_root && ::chown(directory.c_str(), 1000, 1000) != 0) return system_error("create " + directory, errno);
    return {};
}

Result<Volume> Volumes::open(const std::string& thread, const Limits& limits, std::optional<SpareVolume> spare) const {
    const std::string path = TRY(this->path(thread));
    Volume volume;
    volume.lock = TRY(lock(path, true));
    const bool is_new = !file_exists(path + ".files") && !file_exists(path + ".ext4");
    if (is_new && spare && ImageShape(spare->limits) == ImageShape(limits) && takes_changes(spare->mount) &&
        ::rename(spare->path.c_str(), (path + ".ext4").c_str()) == 0)
        volume.mount = std::move(spare->mount);
    else if (is_new)
        TRY(create(path, limits));
    if (spare) ::unlink(spare->path.c_str()); // not wanted, or gone under its new name
    if (file_exists(path + ".ext4")) {
        if (!volume.mount.is_open()) volume.mount = TRY(mount_image(path + ".ext4", false));
        volume.files = Fd(::openat(volume.mount.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    } else {
        volume.directory = path + ".files";
        volume.files = Fd(::open(volume.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!volume.files.is_open()) return system_error("open the thread volume", errno);
    return volume;
}

Result<SpareVolume> Volumes::make_spare(std::string path, const Limits& limits) const {
    if (!m_as_root || !can_mount_images()) return unavailable("this machine mounts no images");
    TRY(copy_empty_image(m_store, path, ImageShape(limits)));
    Fd mount = TRY(mount_image(path, false));
    return SpareVolume{std::move(path), limits, std::move(mount)};
}

Result<> Volumes::fork(const std::string& from, const std::string& to) const {
    const std::string source = TRY(path(from));
    const std::string target = TRY(path(to));
    if (source == target) return invalid("a thread cannot be forked onto itself");
    const Fd source_lock = TRY(lock(source, false));
    const Fd target_lock = TRY(lock(target, true));
    if (file_exists(target + ".ext4") || file_exists(target + ".files")) return conflict("the target thread exists");
    const bool image = file_exists(source + ".ext4");
    const std::string kind = image ? ".ext4" : ".files";
    if (!file_exists(source + kind)) return not_found("thread");
    const std::string beside = target + ".new";
    TRY(remove_tree(beside));
    if (image) {
        TRY(copy_file(source + kind, beside));
        TRY(sync_file(beside));
    } else {
        TRY(copy_tree(source + kind, beside));
        TRY(sync_file_system(beside));
    }
    if (::rename(beside.c_str(), (target + kind).c_str()) != 0) return system_error("publish the forked thread", errno);
    return sync_directory(m_store.threads());
}

Result<> Volumes::remove(const std::string& thread) const {
    const std::string path = TRY(this->path(thread));
    auto held = lock(path, false);
    if (!held.ok()) return held.error().code == Code::not_found ? Result<>() : Result<>(std::move(held).error());
    for (const char* kind : {".ext4", ".files"}) TRY(m_store.discard(path + kind));
    ::unlink((path + ".lock").c_str());
    return {};
}

Result<int64_t> Volumes::bytes(const std::string& thread) const {
    const std::string path = TRY(this->path(thread));
    struct stat status {};
    if (::stat((path + ".ext4").c_str(), &status) == 0) return status.st_blocks * int64_t{512};
    const Fd opened(::open((path + ".files").c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return opened.is_open() ? measure_tree(opened.get(), INT64_MAX).bytes : 0;
}

Result<Volume> Volumes::view(const std::string& thread, const Mounter& mount) const {
    const std::string path = TRY(this->path(thread));
    Volume volume;
    volume.lock = TRY(lock(path, false));
    if (file_exists(path + ".ext4")) {
        const Fd image = TRY(open_image(path + ".ext4", true));
        volume.mount = TRY(mount(image.get()));
        volume.files = Fd(::openat(volume.mount.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    } else {
        volume.files = Fd(::open((path + ".files").c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!volume.files.is_open()) return errno == ENOENT ? not_found("thread") : system_error("open the thread", errno);
    return volume;
}

Result<int64_t> Volumes::expire(Time before, const std::vector<std::string>& kept) const {
    int64_t removed = 0;
    std::set<std::string> stay;
    for (const std::string& thread : kept) stay.insert(TRY(this->path(thread)));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(m_store.threads().c_str()), ::closedir);
    if (!stream) return system_error("read " + m_store.threads(), errno);
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (!name.ends_with(".lock")) continue;
        const std::string path = m_store.threads() + "/" + std::string(name.substr(0, name.size() - 5));
        if (stay.contains(path)) continue;
        struct stat status {};
        if (::stat((path + ".lock").c_str(), &status) != 0 || status.st_mtim.tv_sec * 1'000'000'000 >= to_ns(before))
            continue;
        Fd held(::open((path + ".lock").c_str(), O_RDWR | O_CLOEXEC));
        if (!held.is_open() || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) continue;
        for (const char* kind : {".ext4", ".files"}) TRY(m_store.discard(path + kind));
        ::unlink((path + ".lock").c_str());
        if (!name.starts_with(empty_prefix)) ++removed;
    }
    return removed;
}

Result<ExportReport> Volumes::export_files(const std::string& thread, const std::string& destination,
                                           const ExportLimits& limits) const {
    const Volume shown = TRY(view(thread));
    return export_tree(shown.files.get(), destination, limits);
}

} // namespace hone::sandbox
