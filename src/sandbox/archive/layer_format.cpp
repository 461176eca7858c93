#include "sandbox/archive/layer_format.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr size_t layer_piece = 256 << 10;
constexpr size_t longest_layer_text = 64 << 10;
constexpr mode_t layer_modes = 01777; // no set-id bits: no file of a layer acts as another user

// What an entry is, as the first byte of its record.
enum class LayerEntry : char {
    directory = 'D',
    leave = 'U', // the end of a directory
    file = 'F',
    symbolic_link = 'L',
    hard_link = 'H',
    removed = 'W', // hides an entry of the layers below
    end = 'E',
};

void put_layer_number(std::string& out, uint64_t number) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
    out.append(bytes, sizeof bytes);
}

void put_layer_text(std::string& out, std::string_view text) {
    put_layer_number(out, text.size());
    out += text;
}

class LayerPacker {
public:
    LayerPacker(const PackOptions& options, const LayerLimits& limits,
                const std::function<Result<>(std::string_view)>& take)
        : m_options(options),
          m_limits(limits),
          m_take(take) {}

    Result<> pack(int upper) {
        m_out = m_options.magic;
        TRY(directory(upper, "", 0));
        m_out.push_back(static_cast<char>(LayerEntry::end));
        return m_take(m_out);
    }

private:
    Result<> flush() {
        if (m_out.size() < layer_piece) return {};
        TRY(m_take(m_out));
        m_out.clear();
        return {};
    }
    void begin(LayerEntry kind, const std::string& name) {
        m_out.push_back(static_cast<char>(kind));
        put_layer_text(m_out, name);
    }
    Result<> describe(int file, const struct stat& status) {
        put_layer_number(m_out, status.st_mode & layer_modes);
        put_layer_number(m_out, static_cast<uint64_t>(status.st_mtim.tv_sec));
        put_layer_number(m_out, static_cast<uint64_t>(status.st_mtim.tv_nsec));
        const LayerAttributes attributes =
            m_options.attributes != nullptr ? TRY(m_options.attributes(file)) : LayerAttributes();
        put_layer_number(m_out, attributes.size());
        for (const auto& [name, value] : attributes) {
            put_layer_text(m_out, name);
            put_layer_text(m_out, value);
        }
        return {};
    }
    Result<> directory(int opened, const std::string& path, int depth) {
        if (depth > m_limits.most_depth) return too_large("the layer has too many directories inside each other");
        std::vector<std::string> names;
        {
            const std::unique_ptr<DIR, int (*)(DIR*)> stream(
                ::fdopendir(::openat(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir);
            if (!stream) return system_error("read a directory of the layer", errno);
            while (const dirent* entry = ::readdir(stream.get()))
                if (const std::string_view name = entry->d_name;
                    name != "." && name != ".." && (depth > 0 || name != m_options.left_out))
                    names.emplace_back(name);
        }
        std::ranges::sort(names); // the same bytes for the same layer
        for (const std::string& name : names) TRY(entry(opened, path.empty() ? name : path + "/" + name, name, depth));
        return {};
    }
    Result<> entry(int parent, const std::string& path, const std::string& name, int depth) {
        struct stat status {};
        if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            return system_error("read " + path + " of the layer", errno);
        if (++m_entries > m_limits.most_entries)
            return too_large("the layer has more than " + std::to_string(m_limits.most_entries) + " files");
        if (S_ISDIR(status.st_mode)) {
            const Fd opened(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (!opened.is_open()) return system_error("open " + path + " of the layer", errno);
            begin(LayerEntry::directory, name);
            TRY(describe(opened.get(), status));
            TRY(directory(opened.get(), path, depth + 1));
            m_out.push_back(static_cast<char>(LayerEntry::leave));
        } else if (S_ISREG(status.st_mode)) {
            TRY(file(parent, path, name, status));
        } else if (S_ISLNK(status.st_mode)) {
            std::string target(PATH_MAX, '\0');
            const ssize_t length = ::readlinkat(parent, name.c_str(), target.data(), target.size());
            if (length < 0) return system_error("read " + path + " of the layer", errno);
            begin(LayerEntry::symbolic_link, name);
            put_layer_text(m_out, std::string_view(target).substr(0, static_cast<size_t>(length)));
        } else if (S_ISCHR(status.st_mode) && status.st_rdev == 0) {
            begin(LayerEntry::removed, name);
        } // pipes and sockets are left out: no process is behind them
        return flush();
    }
    Result<> file(int parent, const std::string& path, const std::string& name, const struct stat& status) {
        if (status.st_nlink > 1) {
            const auto [place, is_new] = m_linked.try_emplace({status.st_dev, status.st_ino}, path);
            if (!is_new) {
                begin(LayerEntry::hard_link, name);
                put_layer_text(m_out, place->second);
                return {};
            }
        }
        const Fd opened(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (!opened.is_open()) return system_error("open " + path + " of the layer", errno);
        begin(LayerEntry::file, name);
        TRY(describe(opened.get(), status));
        m_bytes += status.st_size;
        if (m_bytes > m_limits.most_bytes)
            return too_large("the files of the layer have more than " + std::to_string(m_limits.most_bytes >> 20) +
                             " MiB");
        put_layer_number(m_out, static_cast<uint64_t>(status.st_size));
        for (int64_t left = status.st_size; left > 0;) {
            const size_t before = m_out.size(), wanted = static_cast<size_t>(std::min<int64_t>(left, layer_piece));
            m_out.resize(before + wanted);
            const ssize_t got = ::read(opened.get(), m_out.data() + before, wanted);
            if (got <= 0) return system_error("read " + path + " of the layer", got < 0 ? errno : EIO);
            m_out.resize(before + static_cast<size_t>(got));
            left -= got;
            TRY(flush());
        }
        return {};
    }

    const PackOptions& m_options;
    const LayerLimits& m_limits;
    const std::function<Result<>(std::string_view)>& m_take;
    std::string m_out;
    std::map<std::pair<dev_t, ino_t>, std::string> m_linked;
    int64_t m_entries = 0, m_bytes = 0;
};

class LayerReader {
public:
    LayerReader(const ReadOptions& options, const LayerLimits& limits, const std::function<Result<std::string>()>& next,
                LayerSink& sink)
        : m_options(options),
          m_limits(limits),
          m_next(next),
          m_sink(sink) {}

    Result<> read() {
        if (TRY(bytes(m_options.magic.size())) != m_options.magic) return bad_layer("it begins differently");
        for (;;) {
            const auto kind = static_cast<LayerEntry>(TRY(bytes(1)).front());
            if (kind == LayerEntry::end) break;
            if (kind == LayerEntry::leave) {
                if (m_open.size() < 2) return bad_layer("a directory ends that did not begin");
                TRY(m_sink.leave(m_open.back().description));
                m_open.pop_back();
                continue;
            }
            if (++m_entries > m_limits.most_entries) return bad_layer("it has too many files");
            TRY(entry(kind));
        }
        if (m_open.size() != 1) return bad_layer("a directory does not end");
        if (m_at < m_buffer.size() || !TRY(m_next()).empty()) return bad_layer("something follows its end");
        return {};
    }

private:
    struct OpenDirectory {
        LayerDescription description;
        std::string last; // name in it
    };

    Result<std::string> bytes(size_t count) {
        while (m_buffer.size() - m_at < count) {
            const std::string piece = TRY(m_next());
            if (piece.empty()) return bad_layer("it is cut");
            m_buffer.erase(0, std::exchange(m_at, 0));
            m_buffer += piece;
        }
        std::string taken = m_buffer.substr(m_at, count);
        m_at += count;
        return taken;
    }
    Result<uint64_t> number() {
        const std::string raw = TRY(bytes(8));
        uint64_t value = 0;
        for (size_t i = 0; i < 8; ++i) value |= static_cast<uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
        return value;
    }
    Result<std::string> text() {
        const uint64_t size = TRY(number());
        if (size > longest_layer_text) return bad_layer("a text is too long");
        return bytes(static_cast<size_t>(size));
    }
    Result<LayerDescription> description() {
        LayerDescription found;
        found.mode = static_cast<mode_t>(TRY(number()) & layer_modes);
        found.modified.tv_sec = static_cast<time_t>(TRY(number()));
        found.modified.tv_nsec = static_cast<long>(TRY(number()) % 1'000'000'000);
        const uint64_t count = TRY(number());
        if (count > 100) return bad_layer("an entry has too many attributes");
        for (uint64_t i = 0; i < count; ++i) {
            const std::string name = TRY(text());
            if (m_options.may_have == nullptr || !m_options.may_have(name))
                return bad_layer("an entry has the attribute " + name);
            found.attributes[name] = TRY(text());
        }
        return found;
    }
    Result<std::string> name_of_entry() {
        std::string name = TRY(text());
        if (!is_entry_name(name)) return bad_layer("an entry has no plain name");
        if (m_options.must_be_sorted && name <= m_open.back().last) return bad_layer("its names are not in order");
        m_open.back().last = name;
        return name;
    }
    Result<> entry(LayerEntry kind) {
        const std::string name = TRY(name_of_entry());
        switch (kind) {
        case LayerEntry::directory: {
            if (static_cast<int>(m_open.size()) > m_limits.most_depth) return bad_layer("it is too deep");
            LayerDescription own = TRY(description());
            TRY(m_sink.enter(name));
            m_open.push_back({std::move(own), {}});
            return {};
        }
        case LayerEntry::file:
            return file(name);
        case LayerEntry::symbolic_link: {
            const std::string target = TRY(text());
            if (target.empty() || target.find('\0') != target.npos) return bad_layer("a link leads nowhere");
            return m_sink.symbolic_link(name, target);
        }
        case LayerEntry::hard_link: {
            const std::string target = TRY(text());
            std::vector<std::string> parts;
            for (const std::string_view part : split(target, '/')) {
                if (!is_entry_name(part)) return bad_layer("a link leads elsewhere");
                parts.emplace_back(part);
            }
            return m_sink.hard_link(name, parts);
        }
        case LayerEntry::removed:
            return m_sink.removed(name);
        default:
            return bad_layer("it has an unknown entry");
        }
    }
    Result<> file(const std::string& name) {
        const LayerDescription own = TRY(description());
        const uint64_t size = TRY(number());
        m_bytes += size;
        if (size > static_cast<uint64_t>(m_limits.most_bytes) || m_bytes > static_cast<uint64_t>(m_limits.most_bytes))
            return bad_layer("it is too large");
        TRY(m_sink.begin_file(name));
        for (uint64_t left = size; left > 0;) {
            if (m_at == m_buffer.size()) {
                m_buffer = TRY(m_next());
                m_at = 0;
                if (m_buffer.empty()) return bad_layer("it is cut");
            }
            const size_t some = static_cast<size_t>(std::min<uint64_t>(left, m_buffer.size() - m_at));
            TRY(m_sink.data(std::string_view(m_buffer).substr(m_at, some)));
            m_at += some;
            left -= some;
        }
        return m_sink.end_file(own);
    }

    const ReadOptions& m_options;
    const LayerLimits& m_limits;
    const std::function<Result<std::string>()>& m_next;
    LayerSink& m_sink;
    std::vector<OpenDirectory> m_open{1}; // from the top to the one that is read
    std::string m_buffer;
    size_t m_at = 0; // what is before was read
    int64_t m_entries = 0;
    uint64_t m_bytes = 0;
};

} // namespace

Error bad_layer(const std::string& why) {
    return corrupt("this is not a prepared layer: " + why);
}

bool is_entry_name(std::string_view name) {
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." && name.find('/') == name.npos &&
           name.find('\0') == name.npos;
}

Result<> pack_entries(int folder, const PackOptions& options, const LayerLimits& limits,
                      const std::function<Result<>(std::string_view)>& take) {
    return LayerPacker(options, limits, take).pack(folder);
}

Result<> read_entries(const ReadOptions& options, const LayerLimits& limits,
                      const std::function<Result<std::string>()>& next, LayerSink& sink) {
    return LayerReader(options, limits, next, sink).read();
}

} // namespace hone::sandbox
