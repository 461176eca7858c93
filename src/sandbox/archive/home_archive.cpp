#include "sandbox/archive/home_archive.h"

#include "sandbox/archive/layer_format.h"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr std::string_view home_magic = "HONEHOME1";

std::string joined_path(const std::vector<std::string>& folders, const std::string& name) {
    std::string path;
    for (const std::string& folder : folders) path += folder + "/";
    return path + name;
}

// Knows what the archive has made so far, so that a link to something else is found before a pod finds it.
class HomeChecker final : public LayerSink {
public:
    Result<> enter(const std::string& name) override {
        TRY(check_top(name));
        m_folders.push_back(name);
        return {};
    }
    Result<> leave(const LayerDescription& /*description*/) override {
        m_folders.pop_back();
        return {};
    }
    Result<> begin_file(const std::string& name) override {
        m_files.insert(joined_path(m_folders, name));
        return check_top(name);
    }
    Result<> data(std::string_view /*bytes*/) override { return {}; }
    Result<> end_file(const LayerDescription& /*description*/) override { return {}; }
    Result<> symbolic_link(const std::string& name, const std::string& target) override {
        if (target.size() >= PATH_MAX) return bad_layer("a link is too long");
        return check_top(name);
    }
    Result<> hard_link(const std::string& name, const std::vector<std::string>& target) override {
        const std::vector<std::string> folders(target.begin(), target.end() - 1);
        if (!m_files.contains(joined_path(folders, target.back()))) return bad_layer("a link leads to no file of it");
        m_files.insert(joined_path(m_folders, name));
        return check_top(name);
    }
    Result<> removed(const std::string& /*name*/) override { return bad_layer("it removes what is below a home"); }

private:
    Result<> check_top(const std::string& name) const {
        return m_folders.empty() && name == home_mark ? bad_layer("it has the mark of a home") : Result<>();
    }

    std::vector<std::string> m_folders;
    std::set<std::string> m_files;
};

class HomeUnpacker final : public LayerSink {
public:
    HomeUnpacker(int home, Existing existing) : m_replaces(existing == Existing::replaced) {
        m_open.push_back({Fd(::openat(home, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), true});
    }

    Result<> enter(const std::string& name) override {
        Folder folder;
        if (!is_hidden())
            if (const int failed = make_folder(name, folder)) {
                if (!hides(failed)) return problem(name, failed);
                folder = {};
            }
        m_open.push_back(std::move(folder));
        return {};
    }
    Result<> leave(const LayerDescription& description) override {
        const Folder folder = std::move(m_open.back());
        m_open.pop_back();
        return folder.is_own ? finish(folder.opened.get(), description) : Result<>();
    }
    Result<> begin_file(const std::string& name) override {
        return make(name, [&](int folder) {
            m_file = Fd(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
            return m_file.is_open();
        });
    }
    Result<> data(std::string_view bytes) override {
        return m_file.is_open() ? write_all(m_file.get(), bytes) : Result<>();
    }
    Result<> end_file(const LayerDescription& description) override {
        const Fd file = std::move(m_file);
        return file.is_open() ? finish(file.get(), description) : Result<>();
    }
    Result<> symbolic_link(const std::string& name, const std::string& target) override {
        return make(name, [&](int folder) { return ::symlinkat(target.c_str(), folder, name.c_str()) == 0; });
    }
    Result<> hard_link(const std::string& name, const std::vector<std::string>& target) override {
        Fd from(::openat(m_open.front().opened.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        for (size_t i = 0; i + 1 < target.size(); ++i) {
            from = Fd(::openat(from.get(), target[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (!from.is_open()) return bad_layer("a link leads nowhere");
        }
        return make(name, [&](int folder) {
            return ::linkat(from.get(), target.back().c_str(), folder, name.c_str(), 0) == 0;
        });
    }
    Result<> removed(const std::string& /*name*/) override { return bad_layer("it removes what is below a home"); }

private:
    struct Folder {
        Fd opened;           // closed: hidden, with all of its entries
        bool is_own = false; // of this user
    };

    bool is_hidden() const { return !m_open.back().opened.is_open(); }
    // Whether what is there hides the entry: something that stays, a mount, or a folder that a container runtime made
    // for one. The home itself is the worker's: nothing may fail there.
    bool hides(int failed) const {
        if (failed == EBUSY || (failed == EEXIST && !m_replaces)) return true;
        return m_open.size() > 1 && (failed == EROFS || failed == EACCES || failed == EPERM);
    }
    static Result<> problem(const std::string& name, int failed) {
        return system_error("create " + name + " of the layer", failed);
    }
    template <class Work>
    Result<> make(const std::string& name, const Work& work) {
        if (is_hidden()) return {};
        const int folder = m_open.back().opened.get();
        const bool has_room = !m_replaces || ::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT;
        if ((has_room && work(folder)) || hides(errno)) return {};
        return problem(name, errno);
    }
    // 0, or why not.
    int make_folder(const std::string& name, Folder& folder) const {
        const int parent = m_open.back().opened.get();
        const auto open = [&] {
            return Fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        };
        if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) return errno;
        folder.opened = open();
        const bool is_no_folder = !folder.opened.is_open() && (errno == ENOTDIR || errno == ELOOP);
        if (is_no_folder && !m_replaces) return EEXIST;
        if (is_no_folder) {
            if (::unlinkat(parent, name.c_str(), 0) != 0 || ::mkdirat(parent, name.c_str(), 0700) != 0) return errno;
            folder.opened = open();
        }
        struct stat status {};
        if (!folder.opened.is_open() || ::fstat(folder.opened.get(), &status) != 0) return errno;
        folder.is_own = status.st_uid == ::geteuid();
        if (folder.is_own && ::fchmod(folder.opened.get(), 0700) != 0) return errno;
        return 0;
    }
    static Result<> finish(int opened, const LayerDescription& wanted) {
        if (::fchmod(opened, wanted.mode) != 0) return system_error("set the mode of a file of the layer", errno);
        const timespec times[2] = {wanted.modified, wanted.modified};
        if (::futimens(opened, times) != 0) return system_error("set the time of a file of the layer", errno);
        return {};
    }

    const bool m_replaces;
    std::vector<Folder> m_open; // from the home to the one that is read
    Fd m_file;
};

} // namespace

Result<> pack_home(int home, const LayerLimits& limits, const std::function<Result<>(std::string_view)>& take) {
    return pack_entries(home, {home_magic, home_mark, nullptr}, limits, take);
}

Result<> check_home(const LayerLimits& limits, const std::function<Result<std::string>()>& next) {
    HomeChecker checker;
    return read_entries({home_magic, nullptr, true}, limits, next, checker);
}

Result<> unpack_home(int home, Existing existing, const LayerLimits& limits,
                     const std::function<Result<std::string>()>& next) {
    HomeUnpacker files(home, existing);
    return read_entries({home_magic, nullptr, true}, limits, next, files);
}

} // namespace hone::sandbox
