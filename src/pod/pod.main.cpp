// The program of a sandbox's pod. Static: it needs nothing of the worker's image.
//   hone-pod install FOLDER MOUNT…   copies itself, and makes the places of the mounts (the pod's init container)
//   hone-pod pod MOUNT…              the first process
//   hone-pod channel                 connects its input and output with the first process (started by `exec`)
#include "pod/keeper.h"
#include "pod/peer.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace hone;

Result<> install(const std::string& folder, const std::vector<kubernetes::TargetMount>& mounts) {
    const std::string program = TRY(read_file("/proc/self/exe", 256 << 20));
    TRY(write_file(folder + "/hone-pod", program, 0755));
    if (::access(kubernetes::thread_volume, F_OK) == 0)
        for (const char* part : {"/workspace", "/home"})
            TRY(make_directories(std::string(kubernetes::thread_volume) + part, 0700));
    for (size_t i = 0; i < mounts.size(); ++i) {
        const std::string place = std::string(kubernetes::files_volume) + "/" + kubernetes::place_name(i);
        if (mounts[i].is_folder)
            TRY(make_directories(place, 0755));
        else
            TRY(write_file(place, "", 0644));
    }
    return {};
}

// Copies in both directions until one of them ends.
Result<> bridge() {
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::signal(SIGPIPE, SIG_IGN);
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!pod::name_sender(socket.get())) return system_error("name the sender to the first process", errno);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string_view(pod::channel_socket).copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        return system_error("connect to the first process", errno);
    const int sources[2] = {0, socket.get()}, targets[2] = {socket.get(), 1};
    std::string piece(64 << 10, '\0');
    for (;;) {
        pollfd waits[2] = {{sources[0], POLLIN, 0}, {sources[1], POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0 && errno != EINTR) return system_error("wait", errno);
        for (int i = 0; i < 2; ++i) {
            if (waits[i].revents == 0) continue;
            const ssize_t got = ::read(sources[i], piece.data(), piece.size());
            if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (got <= 0) return {};
            TRY(write_all(targets[i], std::string_view(piece.data(), static_cast<size_t>(got))));
        }
    }
}

Result<> run(const std::vector<std::string>& words) {
    if (words.size() == 1 && words[0] == "channel") return bridge();
    if (words.size() >= 2 && words[0] == "install")
        return install(words[1], TRY(kubernetes::parse_targets({words.begin() + 2, words.end()})));
    if (words.empty() || words[0] != "pod") return invalid("usage: hone-pod install FOLDER | pod | channel");
    const char* sandbox = std::getenv("HONE_SANDBOX");
    if (sandbox == nullptr) return invalid("HONE_SANDBOX is not set");
    std::vector<kubernetes::TargetMount> mounts = TRY(kubernetes::parse_targets({words.begin() + 1, words.end()}));
    pod::Keeper keeper({sandbox, std::move(mounts)});
    return keeper.run();
}

} // namespace

int main(int count, char** words) {
    const auto done = run({words + 1, words + count});
    if (done.ok()) return 0;
    std::fprintf(stderr, "hone-pod: %s\n", done.error().message.c_str());
    return 1;
}
