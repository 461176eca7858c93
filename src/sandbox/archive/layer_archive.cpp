#include "sandbox/archive/layer_archive.h"

#include "base/text.h"
#include "sandbox/archive/layer_format.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

namespace hone::sandbox {

namespace {

constexpr std::string_view layer_magic = "HONELAYER1";
constexpr size_t longest_attribute = 64 << 10;

// Attributes of the overlay that name files of this machine are left out.
bool is_kept_attribute(std::string_view name) {
    if (!name.starts_with("user.")) return false;
    if (!name.starts_with("user.overlay.")) return true;
    return name == "user.overlay.opaque" || name == "user.overlay.whiteout" || name == "user.overlay.whiteouts";
}

Result<LayerAttributes> attributes_of(int file) {
    LayerAttributes found;
    std::string names(longest_attribute, '\0');
    const ssize_t size = ::flistxattr(file, names.data(), names.size());
    if (size < 0 && errno == ENOTSUP) return found;
    if (size < 0) return system_error("read the attributes of a layer", errno);
    names.resize(static_cast<size_t>(size));
    for (const std::string_view part : split(names, '\0')) {
        const std::string name(part);
        if (name == "user.overlay.redirect" || name == "user.overlay.metacopy")
            return conflict("the layer refers to files below it and cannot be shared");
        if (!is_kept_attribute(name)) continue;
        std::string value(longest_attribute, '\0');
        const ssize_t length = ::fgetxattr(file, name.c_str(), value.data(), value.size());
        if (length < 0) return system_error("read the attributes of a layer", errno);
        value.resize(static_cast<size_t>(length));
        found[name] = value;
    }
    return found;
}

// Makes the files of a layer in an empty directory.
class LayerUnpacker final : public LayerSink {
public:
    LayerUnpacker(int upper, std::optional<uid_t> owner) : m_owner(owner) {
        m_open.emplace_back(::openat(upper, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

    Result<> enter(const std::string& name) override {
        if (::mkdirat(parent(), name.c_str(), 0700) != 0) return failed(name);
        Fd opened(::openat(parent(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!opened.is_open()) return failed(name);
        m_open.push_back(std::move(opened));
        return {};
    }
    Result<> leave(const LayerDescription& description) override {
        TRY(finish(m_open.back().get(), description));
        m_open.pop_back();
        return {};
    }
    Result<> begin_file(const std::string& name) override {
        m_file = Fd(::openat(parent(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        return m_file.is_open() ? Result<>() : failed(name);
    }
    Result<> data(std::string_view bytes) override { return write_all(m_file.get(), bytes); }
    Result<> end_file(const LayerDescription& description) override {
        const Fd file = std::move(m_file);
        return finish(file.get(), description);
    }
    Result<> symbolic_link(const std::string& name, const std::string& target) override {
        if (::symlinkat(target.c_str(), parent(), name.c_str()) != 0) return failed(name);
        if (m_owner && ::fchownat(parent(), name.c_str(), *m_owner, *m_owner, AT_SYMLINK_NOFOLLOW) != 0)
            return failed(name);
        return {};
    }
    Result<> hard_link(const std::string& name, const std::vector<std::string>& target) override {
        Fd from(::openat(m_open.front().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        for (size_t i = 0; i + 1 < target.size(); ++i) {
            from = Fd(::openat(from.get(), target[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (!from.is_open()) return bad_layer("a link leads nowhere");
        }
        if (::linkat(from.get(), target.back().c_str(), parent(), name.c_str(), 0) != 0) return failed(name);
        return {};
    }
    Result<> removed(const std::string& name) override {
        return ::mknodat(parent(), name.c_str(), S_IFCHR, makedev(0, 0)) == 0 ? Result<>() : failed(name);
    }

private:
    int parent() const { return m_open.back().get(); }
    static Result<> failed(const std::string& name) { return system_error("create " + name + " of the layer", errno); }
    Result<> finish(int opened, const LayerDescription& wanted) const {
        for (const auto& [name, value] : wanted.attributes)
            if (::fsetxattr(opened, name.c_str(), value.data(), value.size(), 0) != 0)
                return system_error("set an attribute of the layer", errno);
        if ((m_owner && ::fchown(opened, *m_owner, *m_owner) != 0) || ::fchmod(opened, wanted.mode) != 0)
            return system_error("set the mode of a file of the layer", errno);
        const timespec times[2] = {wanted.modified, wanted.modified};
        if (::futimens(opened, times) != 0) return system_error("set the time of a file of the layer", errno);
        return {};
    }

    const std::optional<uid_t> m_owner;
    std::vector<Fd> m_open; // from the directory of the layer to the one that is read
    Fd m_file;
};

} // namespace

Result<> pack_layer(int upper, const LayerLimits& limits, const std::function<Result<>(std::string_view)>& take) {
    return pack_entries(upper, {layer_magic, {}, attributes_of}, limits, take);
}

Result<> unpack_layer(int upper, std::optional<uid_t> owner, const LayerLimits& limits,
                      const std::function<Result<std::string>()>& next) {
    LayerUnpacker files(upper, owner);
    return read_entries({layer_magic, is_kept_attribute, false}, limits, next, files);
}

} // namespace hone::sandbox
