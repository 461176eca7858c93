// hone-init: pid 1 of a sandbox. See README.md for its life cycle and wire.h for the requests it receives.
#include "init/system.h"
#include "init/wire.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/uio.h>

namespace hone::init {
namespace {

// Which child is which command. Between fork and exec the child belongs to the worker already, who may stop it there:
// pid 1 never waits for it, and `exec_pipe` reports the outcome when there is one.
struct Running {
    pid_t pid;
    uint32_t command;
    bool last;
    bool starting; // not executed yet, as far as is known
    int exec_pipe; // while starting
    int terminal;  // while starting: its master, to be sent out; -1 without
};
Running g_running[max_commands];

Running* find_running(pid_t pid) {
    for (Running& entry : g_running)
        if (entry.pid == pid) return &entry;
    return nullptr;
}

void send_reply(const Reply& reply, int descriptor = -1) {
    iovec bytes{const_cast<Reply*>(&reply), sizeof reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    for (ssize_t sent; (sent = system::send_message(control_descriptor, message, MSG_NOSIGNAL)) < 0;)
        if (sent != -EINTR) system::exit(0); // the shim is gone
}

void reply_failed(const Request& request, int error_number) {
    send_reply({Event::failed, request.command, error_number, 0, 0, 0, {}});
}

// Receives one request and up to four descriptors. False when the shim closed its end.
bool receive(Request& request, int (&descriptors)[4], int& descriptor_count) {
    iovec bytes{&request, sizeof request};
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t count = system::receive_message(control_descriptor, message, MSG_CMSG_CLOEXEC);
    descriptor_count = 0;
    if (count == -EINTR || count == -EAGAIN) return request.verb = Verb{}, true;
    if (count != sizeof request) return false;
    // There is room for one header, and the shim sends no other kind.
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return true;
    descriptor_count = static_cast<int>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(descriptors, CMSG_DATA(header), static_cast<size_t>(descriptor_count) * sizeof(int));
    return true;
}

// The command's texts, mapped from the memory file: no allocator, nothing left behind after unmapping.
struct Payload {
    char* text = nullptr;
    const char* directory = nullptr;
    char** arguments = nullptr;
    char** environment = nullptr;
    size_t pointer_bytes = 0;
    uint32_t text_bytes = 0;
};

bool map_payload(const Request& request, int descriptor, Payload& payload) {
    if (request.payload_bytes == 0 || request.payload_bytes > max_payload_bytes || request.argument_count == 0 ||
        request.argument_count > max_strings || request.environment_count > max_strings)
        return false;
    payload.text_bytes = request.payload_bytes;
    void* text = system::map(payload.text_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor);
    if (text == nullptr) return false;
    payload.text = static_cast<char*>(text);
    payload.pointer_bytes = (request.argument_count + request.environment_count + 2) * sizeof(char*);
    void* pointers = system::map(payload.pointer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (pointers == nullptr) return false;
    payload.arguments = static_cast<char**>(pointers);
    payload.environment = payload.arguments + request.argument_count + 1;
    char* at = payload.text;
    char* const end = payload.text + payload.text_bytes;
    const uint32_t count = 1 + request.argument_count + request.environment_count;
    for (uint32_t i = 0; i < count; ++i) {
        char* stop = find_nul(at, end);
        if (stop == nullptr) return false;
        if (i == 0)
            payload.directory = at;
        else if (i <= request.argument_count)
            payload.arguments[i - 1] = at;
        else
            payload.environment[i - 1 - request.argument_count] = at;
        at = stop + 1;
    }
    return true;
}

void unmap(Payload& payload) {
    if (payload.arguments != nullptr) system::unmap(payload.arguments, payload.pointer_bytes);
    if (payload.text != nullptr) system::unmap(payload.text, payload.text_bytes);
}

// As execvpe, but with the PATH of the new environment. Comes back with the errno.
int execute(const Payload& payload) {
    const char* name = payload.arguments[0];
    if (*find_or_end(name, '/') == '/') return -system::execute(name, payload.arguments, payload.environment);
    const char* path = "/usr/local/bin:/usr/bin:/bin";
    for (char** entry = payload.environment; *entry != nullptr; ++entry)
        if (begins_with(*entry, "PATH=")) path = *entry + 5;
    int worst = ENOENT;
    while (*path != 0) {
        const char* const end = find_or_end(path, ':');
        const auto length = static_cast<size_t>(end - path), name_length = length_of(name);
        char full[4096];
        if (length + name_length + 2 <= sizeof full && length > 0) {
            memcpy(full, path, length);
            full[length] = '/';
            memcpy(full + length + 1, name, name_length + 1);
            const int failed = -system::execute(full, payload.arguments, payload.environment);
            if (failed != ENOENT && failed != ENOTDIR) worst = failed;
        }
        path = *end == ':' ? end + 1 : end;
    }
    return worst;
}

[[noreturn]] void become(const Request& request, const Payload& payload, const int (&stdio)[3], int failure_pipe) {
    system::start_session();
    if (request.flags & flag_pty) system::device_control(stdio[0], TIOCSCTTY, 0);
    // Numbers below 3 may be sources as well as targets: lift them first.
    int lifted[3];
    for (int i = 0; i < 3; ++i) lifted[i] = system::control(stdio[i], F_DUPFD_CLOEXEC, 10);
    int failed = 0;
    for (int i = 0; i < 3; ++i)
        if (const int number = system::duplicate(lifted[i], i); number < 0) failed = -number;
    failure_pipe = system::control(failure_pipe, F_DUPFD_CLOEXEC, 10);
    system::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    for (int number = 1; number < NSIG; ++number) system::set_default_action(number);
    system::block_signals(0);
    system::set_process(PR_SET_PDEATHSIG, 0);
    if (failed == 0) failed = -system::change_directory(payload.directory);
    if (failed == 0) failed = execute(payload);
    if (system::write(failure_pipe, &failed, sizeof failed) < 0) system::exit(126);
    system::exit(127);
}

// Opens a terminal of this sandbox's own devpts: `master` goes out to the shim. Errno or 0.
int open_terminal(const Request& request, int& master, int& slave) {
    master = system::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) return -master;
    const int locked = 0;
    if (const int outcome = system::device_control(master, TIOCSPTLCK, system::address(&locked)); outcome < 0)
        return -outcome;
    const winsize size{request.rows, request.columns, 0, 0};
    system::device_control(master, TIOCSWINSZ, system::address(&size));
    slave = system::device_control(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return slave < 0 ? -slave : 0;
}

// Forks. The errno of a failed exec comes through `exec_pipe`; end of file there means that it succeeded.
int fork_command(const Request& request, const Payload& payload, const int (&stdio)[3], pid_t& pid, int& exec_pipe) {
    int pipe_ends[2];
    if (const int outcome = system::make_pipe(pipe_ends, O_CLOEXEC | O_NONBLOCK); outcome < 0) return -outcome;
    pid = system::fork();
    if (pid < 0) {
        system::close(pipe_ends[0]);
        system::close(pipe_ends[1]);
        return -pid;
    }
    if (pid == 0) become(request, payload, stdio, pipe_ends[1]);
    system::close(pipe_ends[1]);
    exec_pipe = pipe_ends[0];
    return 0;
}

// Reports whether the command was executed, once that is known.
void report_start(Running& entry) {
    int error_number = 0;
    const ssize_t count = system::read(entry.exec_pipe, &error_number, sizeof error_number);
    if (count == -EINTR || count == -EAGAIN) return;
    system::close(entry.exec_pipe);
    entry.starting = false;
    if (count == sizeof error_number)
        send_reply({Event::failed, entry.command, error_number, 0, 0, 0, {}});
    else
        send_reply({Event::started, entry.command, entry.pid, 0, 0, 0, {}}, entry.terminal);
    if (entry.terminal >= 0) system::close(entry.terminal);
    if (count == sizeof error_number) entry = {};
}

void run(const Request& request, const int (&descriptors)[4], int descriptor_count) {
    const bool pty = (request.flags & flag_pty) != 0;
    if (descriptor_count != (pty ? 1 : 4)) return reply_failed(request, EINVAL);
    Running* const place = find_running(0);
    if (place == nullptr) return reply_failed(request, EAGAIN);
    Payload payload;
    int master = -1;
    int stdio[3] = {descriptors[1], descriptors[2], descriptors[3]};
    pid_t pid = 0;
    int exec_pipe = -1;
    int error_number = 0;
    if (!map_payload(request, descriptors[0], payload))
        error_number = EINVAL;
    else if (pty)
        error_number = open_terminal(request, master, stdio[0]);
    if (error_number == 0) {
        if (pty) stdio[1] = stdio[2] = stdio[0];
        error_number = fork_command(request, payload, stdio, pid, exec_pipe);
    }
    unmap(payload);
    if (pty && stdio[0] >= 0) system::close(stdio[0]);
    if (error_number == 0) {
        *place = {pid, request.command, (request.flags & flag_last) != 0, true, exec_pipe, master};
        return;
    }
    if (master >= 0) system::close(master);
    reply_failed(request, error_number);
}

void reap() {
    for (;;) {
        int status = 0;
        rusage usage{};
        const pid_t pid = system::reap(status, usage);
        if (pid <= 0) return;
        Running* const entry = find_running(pid);
        if (entry == nullptr) continue;            // an orphan of a command
        if (entry->starting) report_start(*entry); // its end of the pipe is closed: this does not wait
        if (entry->pid == 0) continue;             // it could not be executed
        const auto nanoseconds = [](timeval time) {
            return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_usec) * 1000u;
        };
        send_reply({Event::exited,
                    entry->command,
                    status,
                    0,
                    nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
                    static_cast<uint64_t>(usage.ru_maxrss) * 1024u,
                    {}});
        if (entry->last) system::exit(0);
        *entry = {};
    }
}

void handle_request() {
    Request request{};
    int descriptors[4] = {-1, -1, -1, -1};
    int descriptor_count = 0;
    if (!receive(request, descriptors, descriptor_count)) system::exit(0);
    if (request.verb == Verb::run) run(request, descriptors, descriptor_count);
    if (request.verb == Verb::signal)
        for (const Running& entry : g_running) {
            if (entry.pid == 0 || entry.command != request.command) continue;
            // A child that was stopped right after the fork has no process group of its own yet.
            if (system::kill(-entry.pid, request.number) < 0 || entry.starting) system::kill(entry.pid, request.number);
        }
    for (int i = 0; i < descriptor_count; ++i) system::close(descriptors[i]);
}

int serve() {
    system::set_process(PR_SET_DUMPABLE, 0);
    system::set_process_name(PR_SET_NAME, "hone-init");
    system::control(control_descriptor, F_SETFD, FD_CLOEXEC);
    system::block_signals(system::all_signals);
    const int children = system::open_signals(system::bit_of(SIGCHLD), SFD_CLOEXEC | SFD_NONBLOCK);
    if (children < 0) return 1;
    // The shim is single-threaded, so its death and its thread's are the same. It may already be gone: then the socket
    // is at its end.
    system::set_process(PR_SET_PDEATHSIG, SIGKILL);
    send_reply({Event::ready, 0, 0, 0, 0, 0, {}});
    for (;;) {
        pollfd waits[2 + max_commands] = {{control_descriptor, POLLIN, 0}, {children, POLLIN, 0}};
        unsigned count = 2;
        for (const Running& entry : g_running)
            if (entry.starting) waits[count++] = {entry.exec_pipe, POLLIN, 0};
        if (const int ready = system::poll(waits, count); ready < 0 && ready != -EINTR) return 1;
        for (Running& entry : g_running)
            if (entry.starting) report_start(entry); // does not wait; those that are not ready stay
        if (waits[1].revents != 0) {
            signalfd_siginfo ignored[16];
            while (system::read(children, ignored, sizeof ignored) > 0) {
            }
            reap();
        }
        if (waits[0].revents != 0) handle_request();
    }
}

} // namespace
} // namespace hone::init

// What the compiler's stack protector compares with, and where it ends when the two differ.
extern "C" {
uintptr_t __stack_chk_guard = 0;
[[noreturn]] void __stack_chk_fail() {
    hone::init::system::exit(134); // as after abort()
}
}

// Where the kernel begins, with a stack that is not aligned as functions expect on x86-64.
#if defined(__x86_64__)
#define HONE_ENTRY __attribute__((force_align_arg_pointer, no_stack_protector, noreturn))
#else
#define HONE_ENTRY __attribute__((no_stack_protector, noreturn))
#endif
extern "C" HONE_ENTRY void _start() {
    hone::init::system::fill_randomly(&__stack_chk_guard, sizeof __stack_chk_guard);
    hone::init::system::exit(hone::init::serve());
}
