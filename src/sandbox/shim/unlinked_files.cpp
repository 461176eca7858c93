#include "sandbox/shim/unlinked_files.h"

#include "base/file.h"
#include "base/text.h"
#include "sandbox/wall/kernel.h"
#include "sandbox/wall/process_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace hone::sandbox {

namespace {

constexpr int64_t most_descriptors = 200'000;
// The queue of a socket holds less, unless the machine's limits were raised.
constexpr size_t longest_queue = 1 << 20;
constexpr size_t most_mappings_bytes = 64 << 20;
constexpr int scm_pidfd = 4;               // the headers have no name for it yet
constexpr size_t most_sent_together = 253; // SCM_MAX_FD of the kernel

bool has_ended(int error_number) {
    return error_number == ENOENT || error_number == ESRCH;
}

std::vector<std::string> entries(const std::string& folder) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
    while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr)
        if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    return names;
}

// The number after `name` in a file of lines "name: number"; 0 without such a line, negative without the file.
int64_t number_in(const std::string& path, std::string_view name) {
    const auto facts = read_file(path, 65536);
    if (!facts.ok()) return -1;
    for (const std::string_view line : split(facts.value(), '\n')) {
        if (!line.starts_with(name)) continue;
        const auto number = parse_integer(trim(line.substr(name.size())));
        return number.ok() ? number.value() : 0;
    }
    return 0;
}

int64_t descriptors_in_queue(const std::string& facts) {
    return number_in(facts, "scm_fds:");
}

class UnlinkedMeter {
public:
    UnlinkedMeter(const std::vector<dev_t>& memory_devices, Inspection inspection)
        : m_memory_devices(memory_devices),
          m_inspection(inspection) {}

    // Threads may have tables of descriptors of their own, and may continue when the first one has ended.
    void inspect(pid_t pid) {
        const std::string folder = "/proc/" + std::to_string(pid) + "/task";
        const std::vector<std::string> threads = entries(folder);
        if (threads.empty() && ::kill(pid, 0) == 0) m_use.complete = false; // it is there, and not to be seen
        bool has_memory = false;
        pid_t previous = 0;
        for (const std::string& name : threads) {
            const std::string thread = folder + "/" + name;
            const auto number = parse_integer(name);
            const auto tid = static_cast<pid_t>(number.ok() ? number.value() : 0);
            has_memory = has_memory || count_memory(thread);
            if (previous != 0 && ::syscall(SYS_kcmp, previous, tid, KCMP_FILES, 0, 0) == 0) continue;
            previous = tid;
            const Fd taken = m_inspection == Inspection::taken ? kernel::open_process(tid, tid != pid) : Fd();
            if (taken.is_open())
                take_descriptors(taken.get(), thread);
            else
                list_descriptors(thread);
        }
    }

    UnlinkedUse finish() {
        for (const auto& [file, bytes] : m_files) m_use.bytes += bytes;
        return m_use;
    }

private:
    using File = std::pair<dev_t, ino_t>;

    bool takes_disk(dev_t device) const {
        return std::find(m_memory_devices.begin(), m_memory_devices.end(), device) == m_memory_devices.end();
    }

    void add(const File& file, int64_t bytes) {
        int64_t& known = m_files[file];
        known = std::max(known, bytes);
    }

    void count(const struct stat& status) {
        if (S_ISREG(status.st_mode) && status.st_nlink == 0 && takes_disk(status.st_dev))
            add({status.st_dev, status.st_ino}, status.st_blocks * 512);
    }

    // True when it is a socket.
    bool count_file(const std::string& path) {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) {
            if (!has_ended(errno)) m_use.complete = false;
            return false;
        }
        count(status);
        return S_ISSOCK(status.st_mode);
    }

    bool is_too_many() {
        if (++m_descriptors > most_descriptors) m_use.complete = false;
        return m_descriptors > most_descriptors;
    }

    void list_descriptors(const std::string& thread) {
        const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(::opendir((thread + "/fd").c_str()), ::closedir);
        if (!descriptors && !has_ended(errno)) m_use.complete = false;
        while (const dirent* entry = descriptors ? ::readdir(descriptors.get()) : nullptr) {
            if (entry->d_name[0] == '.') continue;
            if (is_too_many()) return;
            if (count_file(thread + "/fd/" + entry->d_name) &&
                descriptors_in_queue(thread + "/fdinfo/" + entry->d_name) != 0)
                m_use.complete = false;
        }
    }

    void take_descriptors(int process, const std::string& thread) {
        const int64_t size = number_in(thread + "/status", "FDSize:");
        for (int64_t number = 0; number < size && !is_too_many(); ++number) {
            const Fd taken = kernel::take_descriptor(process, static_cast<int>(number));
            if (taken.is_open()) {
                inspect_descriptor(taken.get());
            } else if (errno != EBADF) {
                if (!has_ended(errno)) m_use.complete = false;
                return;
            }
        }
    }

    // Sockets can be in the queues of sockets.
    void inspect_descriptor(int descriptor) {
        struct stat status {};
        if (::fstat(descriptor, &status) != 0) {
            m_use.complete = false;
            return;
        }
        count(status);
        if (!S_ISSOCK(status.st_mode)) return;
        const int64_t sent = descriptors_in_queue("/proc/self/fdinfo/" + std::to_string(descriptor));
        if (sent < 0) m_use.complete = false;
        if (sent > 0 && m_sockets.emplace(status.st_dev, status.st_ino).second && peek_queue(descriptor) < sent)
            m_use.complete = false;
    }

    // How many of the descriptors in the queue were inspected. The queue stays as it is.
    int64_t peek_queue(int socket) {
        int before = -1;
        socklen_t size = sizeof before;
        const int start = 0;
        if (::getsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &before, &size) != 0 ||
            ::setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &start, sizeof start) != 0)
            return 0;
        int64_t inspected = 0;
        for (int64_t more = 1; more > 0; inspected += more) more = peek_descriptors(socket);
        ::setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &before, sizeof before);
        return inspected;
    }

    // Those of the next message that has some; 0 at the end, and when something was cut off.
    int64_t peek_descriptors(int socket) {
        m_bytes.resize(longest_queue);
        for (;;) {
            if (is_too_many()) return 0;
            alignas(cmsghdr) std::array<char, CMSG_SPACE(most_sent_together * sizeof(int)) + 1024> control{};
            iovec bytes{m_bytes.data(), m_bytes.size()};
            msghdr message{};
            message.msg_iov = &bytes;
            message.msg_iovlen = 1;
            message.msg_control = control.data();
            message.msg_controllen = control.size();
            const ssize_t count = ::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
            if (count < 0) return 0;
            int64_t inspected = 0;
            for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header))
                inspected += take_sent(*header);
            const bool is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || count == ssize_t{longest_queue};
            if (is_cut || count == 0) return 0; // an empty message is shown once only
            if (inspected > 0) return inspected;
        }
    }

    int64_t take_sent(const cmsghdr& header) {
        if (header.cmsg_level != SOL_SOCKET || (header.cmsg_type != SCM_RIGHTS && header.cmsg_type != scm_pidfd))
            return 0;
        std::vector<int> numbers((header.cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(numbers.data(), CMSG_DATA(&header), numbers.size() * sizeof(int));
        std::vector<Fd> received;
        for (const int number : numbers) received.emplace_back(number);
        if (header.cmsg_type == scm_pidfd) return 0;
        for (const Fd& each : received) inspect_descriptor(each.get());
        return static_cast<int64_t>(received.size());
    }

    // A mapping keeps a file after its descriptor was closed, and so does a program that runs. Only the mapped part is
    // known then. False when the thread has no memory any more.
    bool count_memory(const std::string& thread) {
        const std::string maps = read_mappings(thread);
        if (maps.empty()) return false;
        count_file(thread + "/exe");
        for (const std::string_view line : split(maps, '\n')) {
            if (!line.ends_with(" (deleted)")) continue;
            unsigned long long from = 0, to = 0, offset = 0, inode = 0;
            unsigned major_number = 0, minor_number = 0;
            if (std::sscanf(std::string(line.substr(0, 200)).c_str(), "%llx-%llx %*s %llx %x:%x %llu", &from, &to,
                            &offset, &major_number, &minor_number, &inode) != 6)
                continue;
            const dev_t device = makedev(major_number, minor_number);
            if (takes_disk(device) && major_number + minor_number != 0)
                add({device, static_cast<ino_t>(inode)}, static_cast<int64_t>(offset + to - from));
        }
        return true;
    }

    std::string read_mappings(const std::string& thread) {
        const Fd file(::open((thread + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
        std::string text;
        char buffer[65536];
        ssize_t count = file.is_open() ? 1 : -1;
        while (count > 0 && text.size() < most_mappings_bytes) {
            count = ::read(file.get(), buffer, sizeof buffer);
            if (count > 0) text.append(buffer, static_cast<size_t>(count));
        }
        if (count > 0 || (count < 0 && !has_ended(errno))) m_use.complete = false;
        return text;
    }

    const std::vector<dev_t>& m_memory_devices;
    const Inspection m_inspection;
    UnlinkedUse m_use;
    int64_t m_descriptors = 0;
    std::map<File, int64_t> m_files;
    std::set<File> m_sockets; // whose queues were inspected
    std::string m_bytes;      // of messages: received, and not read
};

} // namespace

UnlinkedUse unlinked_use(pid_t root, const std::vector<dev_t>& memory_devices, Inspection inspection) {
    UnlinkedMeter meter(memory_devices, inspection);
    for (const pid_t pid : process_descendants(root)) meter.inspect(pid);
    return meter.finish();
}

} // namespace hone::sandbox
