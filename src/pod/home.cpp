#include "pod/home.h"

#include "base/file.h"
#include "pod/helpers.h"
#include "sandbox/archive/home_archive.h"
#include "sandbox/provider/spec.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hone::pod {

namespace {

constexpr std::string_view making = "making\n", made = "made\n";
constexpr size_t home_piece = 256 << 10;

Result<Fd> open_home() {
    Fd home(::open(sandbox::worker_home.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!home.is_open()) return system_error("open the home", errno);
    return home;
}

// Only the absence of the mark, and the one of an attempt that was cut, stand for a home without its layer: a worker
// can change the mark.
enum class LayerState { fresh, cut, made };
LayerState state_of(int home) {
    const Fd mark(::openat(home, sandbox::home_mark, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!mark.is_open()) return errno == ENOENT ? LayerState::fresh : LayerState::made;
    char text[16];
    const ssize_t got = ::read(mark.get(), text, sizeof text);
    return std::string_view(text, got > 0 ? static_cast<size_t>(got) : 0) == making ? LayerState::cut
                                                                                    : LayerState::made;
}

Result<> write_mark(int home, std::string_view text) {
    const Fd mark(::openat(home, sandbox::home_mark, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!mark.is_open()) return system_error("write the mark of the home", errno);
    TRY(write_all(mark.get(), text));
    if (::fsync(mark.get()) != 0) return system_error("write the mark of the home", errno);
    return {};
}

Result<std::string> next_piece(int socket) {
    std::string piece(home_piece, '\0');
    for (;;) {
        const ssize_t got = ::read(socket, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read the layer", errno);
        piece.resize(static_cast<size_t>(got));
        return piece;
    }
}

Result<> make_home(int socket, bool is_kept) {
    const Fd home = TRY(open_home());
    const auto unpack = [&](sandbox::Existing existing) {
        return sandbox::unpack_home(home.get(), existing, sandbox::home_limits, [&] { return next_piece(socket); });
    };
    if (!is_kept) return unpack(sandbox::Existing::stays);
    const LayerState state = state_of(home.get());
    if (state == LayerState::made) return conflict("the home has its layer already");
    TRY(write_mark(home.get(), making));
    TRY(unpack(state == LayerState::cut ? sandbox::Existing::replaced : sandbox::Existing::stays));
    if (::syncfs(home.get()) != 0) return system_error("write the home", errno);
    return write_mark(home.get(), made);
}

} // namespace

void receive_home(int socket, bool is_kept) {
    (void)write_all(socket, report_of(make_home(socket, is_kept)));
}

Result<> send_home(int socket) {
    const Fd home = TRY(open_home());
    return sandbox::pack_home(home.get(), sandbox::home_limits,
                              [&](std::string_view bytes) { return write_all(socket, bytes); });
}

Result<> send_home_state(int socket) {
    const Fd home = TRY(open_home());
    return write_all(socket, state_of(home.get()) == LayerState::made ? "made" : "new");
}

} // namespace hone::pod
