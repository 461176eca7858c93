#include "sandbox/wall/base_root.h"

#include "base/file.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// A new version makes new folders; running sandboxes keep the old ones.
constexpr const char* frame_name = "frame-1";
constexpr const char* host_name = "host-1";

struct Text {
    const char* path;
    const char* content;
};

constexpr Text host_texts[] = {
    {"etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\nworker:x:1000:1000:worker:/home/worker:/bin/bash\n"
                   "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"},
    {"etc/group", "root:x:0:\nworker:x:1000:\nnogroup:x:65534:\n"},
    {"etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"},
    {"etc/resolv.conf", "# There is no resolver in a sandbox; programs use the proxy on 127.0.0.1:3128.\n"},
    {"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"},
    {"etc/hostname", "sandbox\n"},
    {"etc/os-release", "NAME=\"Hone sandbox\"\nID=hone\n"},
    {"etc/profile", "PATH=/home/worker/.local/bin:/usr/local/bin:/usr/bin:/bin\nexport PATH\n"},
    {"etc/services", "http 80/tcp\nhttps 443/tcp\n"},
    {"etc/protocols", "ip 0 IP\ntcp 6 TCP\nudp 17 UDP\n"},
    {"etc/shells", "/bin/sh\n/bin/bash\n"},
};

constexpr const char* frame_directories[] = {"proc",    "dev", "dev/pts", "dev/shm",     "tmp",       "var",
                                             "var/tmp", "run", "home",    "home/worker", "workspace", "opt"};
constexpr const char* device_names[] = {"null", "zero", "full", "random", "urandom", "tty"};
constexpr Text frame_links[] = {{"dev/fd", "/proc/self/fd"},
                                {"dev/stdin", "/proc/self/fd/0"},
                                {"dev/stdout", "/proc/self/fd/1"},
                                {"dev/stderr", "/proc/self/fd/2"},
                                {"dev/ptmx", "pts/ptmx"}};
constexpr const char* host_binds[] = {"etc/alternatives", "etc/ssl/certs", "etc/ssl/openssl.cnf", "etc/ld.so.cache"};

class Maker {
public:
    Maker(std::string root, int owner) : m_root(std::move(root)), m_owner(owner) {}
    Result<> directory(const std::string& path, mode_t mode = 0755) {
        const std::string full = path.empty() ? m_root : m_root + "/" + path;
        if (::mkdir(full.c_str(), mode) != 0 && errno != EEXIST) return system_error("create " + full, errno);
        if (::chmod(full.c_str(), mode) != 0) return system_error("create " + full, errno);
        return own(full);
    }
    Result<> text(const std::string& path, std::string_view content) {
        const std::string full = m_root + "/" + path;
        TRY(write_file(full, content, 0644));
        return own(full);
    }
    Result<> link(const std::string& path, const std::string& target) {
        const std::string full = m_root + "/" + path;
        if (::symlink(target.c_str(), full.c_str()) != 0 && errno != EEXIST)
            return system_error("create " + full, errno);
        return own(full);
    }

private:
    Result<> own(const std::string& full) {
        if (m_owner < 0) return {};
        const auto id = static_cast<uid_t>(m_owner);
        if (::lchown(full.c_str(), id, id) != 0) return system_error("change the owner of " + full, errno);
        return {};
    }
    std::string m_root;
    int m_owner;
};

Result<> make_frame(Maker& maker) {
    TRY(maker.directory(""));
    for (const char* name : frame_directories) TRY(maker.directory(name));
    for (const char* name : {"tmp", "var/tmp"}) TRY(maker.directory(name, 01777));
    TRY(maker.directory("home/worker", 0755));
    for (const char* name : device_names) TRY(maker.text(std::string("dev/") + name, ""));
    for (const Text& entry : frame_links) TRY(maker.link(entry.path, entry.content));
    return {};
}

Result<> make_host(Maker& maker) {
    TRY(make_frame(maker));
    for (const char* name : {"usr", "etc", "etc/ssl", "etc/ssl/certs", "etc/alternatives"}) TRY(maker.directory(name));
    for (const Text& text : host_texts) TRY(maker.text(text.path, text.content));
    for (const char* name : {"etc/ssl/openssl.cnf", "etc/ld.so.cache"}) TRY(maker.text(name, ""));
    // As the host has them: links into /usr on merged systems. Older layouts would need more than /usr.
    for (const char* name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
        struct stat status {};
        if (::lstat((std::string("/") + name).c_str(), &status) == 0 && S_ISLNK(status.st_mode))
            TRY(maker.link(name, std::string("usr/") + name));
    }
    return {};
}

// Built beside and renamed into place, so that a crash leaves either nothing or all.
template <class Make>
Result<> make_once(const std::string& directory, const char* name, int owner, Make make) {
    const std::string place = directory + "/" + name;
    if (file_exists(place)) return {};
    const std::string beside = place + ".new-" + std::to_string(::getpid());
    Maker maker(beside, owner);
    TRY(make(maker));
    if (::rename(beside.c_str(), place.c_str()) != 0 && errno != EEXIST && errno != ENOTEMPTY)
        return system_error("publish " + place, errno);
    return {};
}

} // namespace

Result<> make_base_roots(const std::string& directory, int owner) {
    TRY(make_once(directory, frame_name, owner, make_frame));
    TRY(make_once(directory, host_name, owner, make_host));
    for (const auto& [plain, versioned] : {std::pair{"frame", frame_name}, std::pair{"host", host_name}}) {
        const std::string link = directory + "/" + plain;
        if (::symlink(versioned, link.c_str()) != 0 && errno != EEXIST) return system_error("create " + link, errno);
    }
    return {};
}

std::vector<TreeMount> host_mounts() {
    std::vector<TreeMount> mounts{{"/usr", "usr", true, false, false}};
    for (const char* path : host_binds)
        if (file_exists(std::string("/") + path)) mounts.push_back({std::string("/") + path, path, true, false, false});
    return mounts;
}

std::vector<TreeMount> device_mounts() {
    std::vector<TreeMount> mounts;
    for (const char* name : device_names)
        mounts.push_back({std::string("/dev/") + name, std::string("dev/") + name, false, false, true});
    return mounts;
}

} // namespace hone::sandbox
