#include "sandbox/shim/running_command.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr int direct_pipe_bytes = 1 << 20;

Result<std::pair<Fd, Fd>> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("create a pipe", errno);
    return std::pair(Fd(ends[0]), Fd(ends[1]));
}

void set_nonblocking(const Fd& descriptor) {
    ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

} // namespace

Result<RunningCommand> RunningCommand::open(int64_t number, const Command& command, Fd (&theirs)[3]) {
    RunningCommand made;
    made.number = number;
    made.command = command;
    made.result.command = number;
    made.spool_path = "out-" + std::to_string(number);
    made.spool = Fd(::open(made.spool_path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made.spool.is_open()) return system_error("create the spool", errno);
    if (command.pty) return made;
    auto out = TRY(make_pipe());
    auto err = TRY(make_pipe());
    if (command.direct_stdout) {
        // One step of a fast writer is one of its reader; where that much is not to be had, the usual size does.
        ::fcntl(out.first.get(), F_SETPIPE_SZ, direct_pipe_bytes);
        made.direct = std::move(out.first);
    } else {
        made.out = std::move(out.first);
    }
    made.err = std::move(err.first);
    theirs[1] = std::move(out.second);
    theirs[2] = std::move(err.second);
    if (made.out.is_open()) set_nonblocking(made.out);
    set_nonblocking(made.err);
    if (command.open_stdin) {
        auto in = TRY(make_pipe());
        theirs[0] = std::move(in.first);
        made.input = std::move(in.second);
    } else {
        theirs[0] = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    return made;
}

Result<bool> RunningCommand::take_output(Stream stream, int64_t limit, Time now) {
    Fd& source = stream == Stream::out ? out : err;
    char buffer[max_frame_bytes];
    const ssize_t count = ::read(source.get(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count <= 0) { // a terminal without users returns EIO
        source.reset();
        return true;
    }
    if (full) return true;
    const int64_t room = limit - result.output_bytes;
    const int64_t kept = std::min<int64_t>(count, room);
    if (kept > 0)
        spool_bytes += TRY(append_frame(spool.get(), stream, now, std::string_view(buffer, static_cast<size_t>(kept))));
    result.output_bytes += kept;
    full = kept < count;
    return !full;
}

} // namespace hone::sandbox
