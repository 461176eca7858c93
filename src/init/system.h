// The kernel's calls as hone-init makes them, without the C library: its start-up queries the processor's features,
// instruction by instruction, and in a virtual machine each of these queries traps into the hypervisor. That took
// longer than everything hone-init does. Results are the kernel's: negative is an errno. Only constants and structs
// come from the library's headers.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

// The compiler calls these on its own for larger copies.
extern "C" {
inline __attribute__((used)) void* memcpy(void* target, const void* source, size_t count) {
    auto* to = static_cast<char*>(target);
    const auto* from = static_cast<const char*>(source);
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
    return target;
}
inline __attribute__((used)) void* memset(void* target, int byte, size_t count) {
    auto* to = static_cast<char*>(target);
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<char>(byte);
    return target;
}
}

namespace hone::init::system {

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    long result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register long x5 asm("x5") = f;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
#error "how are system calls made here?"
#endif
}

inline long address(const void* pointer) {
    return reinterpret_cast<long>(pointer);
}

[[noreturn]] inline void exit(int status) {
    for (;;) call(SYS_exit_group, status);
}

inline int close(int descriptor) {
    return static_cast<int>(call(SYS_close, descriptor));
}
inline int close_range(unsigned first, unsigned last, unsigned flags) {
    return static_cast<int>(call(SYS_close_range, first, last, flags));
}
inline int control(int descriptor, int command, long argument) {
    return static_cast<int>(call(SYS_fcntl, descriptor, command, argument));
}
inline int device_control(int descriptor, unsigned long request, long argument) {
    return static_cast<int>(call(SYS_ioctl, descriptor, static_cast<long>(request), argument));
}
// The two must differ.
inline int duplicate(int descriptor, int number) {
    return static_cast<int>(call(SYS_dup3, descriptor, number, 0));
}
inline int open(const char* path, int flags) {
    constexpr long current_directory = -100; // AT_FDCWD
    return static_cast<int>(call(SYS_openat, current_directory, address(path), flags, 0));
}
inline int make_pipe(int (&ends)[2], int flags) {
    return static_cast<int>(call(SYS_pipe2, address(ends), flags));
}
inline ssize_t read(int descriptor, void* bytes, size_t count) {
    return call(SYS_read, descriptor, address(bytes), static_cast<long>(count));
}
inline ssize_t write(int descriptor, const void* bytes, size_t count) {
    return call(SYS_write, descriptor, address(bytes), static_cast<long>(count));
}
inline ssize_t send_message(int socket, const msghdr& message, int flags) {
    return call(SYS_sendmsg, socket, address(&message), flags);
}
inline ssize_t receive_message(int socket, msghdr& message, int flags) {
    return call(SYS_recvmsg, socket, address(&message), flags);
}
// Without a time-out.
inline int poll(pollfd* waits, unsigned count) {
    return static_cast<int>(call(SYS_ppoll, address(waits), count, 0, 0, 0));
}

// Null when there is no room.
inline void* map(size_t bytes, int protection, int flags, int descriptor) {
    const long result = call(SYS_mmap, 0, static_cast<long>(bytes), protection, flags, descriptor, 0);
    return result < 0 && result > -4096 ? nullptr : reinterpret_cast<void*>(result);
}
inline void unmap(void* memory, size_t bytes) {
    call(SYS_munmap, address(memory), static_cast<long>(bytes));
}

inline void fill_randomly(void* bytes, size_t count) {
    call(SYS_getrandom, address(bytes), static_cast<long>(count), 0);
}

inline pid_t fork() {
    return static_cast<pid_t>(call(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}
inline int execute(const char* path, char* const* arguments, char* const* environment) {
    return static_cast<int>(call(SYS_execve, address(path), address(arguments), address(environment)));
}
// Of any child that has ended; 0 or negative: of none.
inline pid_t reap(int& status, rusage& usage) {
    constexpr long do_not_wait = 1; // WNOHANG
    return static_cast<pid_t>(call(SYS_wait4, -1, address(&status), do_not_wait, address(&usage)));
}
inline int set_process(int option, unsigned long value) {
    return static_cast<int>(call(SYS_prctl, option, static_cast<long>(value), 0, 0, 0));
}
inline int set_process_name(int option, const char* name) {
    return static_cast<int>(call(SYS_prctl, option, address(name), 0, 0, 0));
}
inline void start_session() {
    call(SYS_setsid);
}
inline int change_directory(const char* path) {
    return static_cast<int>(call(SYS_chdir, address(path)));
}

// Signals as the kernel counts them: one bit each.
constexpr uint64_t all_signals = ~uint64_t{0};
constexpr uint64_t bit_of(int signal) {
    return uint64_t{1} << (signal - 1);
}
inline void block_signals(uint64_t set) {
    call(SYS_rt_sigprocmask, SIG_SETMASK, address(&set), 0, sizeof set);
}
inline int open_signals(uint64_t set, int flags) {
    return static_cast<int>(call(SYS_signalfd4, -1, address(&set), sizeof set, flags));
}
inline void set_default_action(int signal) {
    const uint64_t action[4] = {}; // handler, flags, restorer, mask
    call(SYS_rt_sigaction, signal, address(action), 0, sizeof(uint64_t));
}
inline int kill(pid_t pid, int signal) {
    return static_cast<int>(call(SYS_kill, pid, signal));
}

} // namespace hone::init::system

namespace hone::init {

inline size_t length_of(const char* text) {
    size_t length = 0;
    while (text[length] != 0) ++length;
    return length;
}

// Where the character is first, or the end of the text.
inline const char* find_or_end(const char* text, char wanted) {
    while (*text != 0 && *text != wanted) ++text;
    return text;
}

inline bool begins_with(const char* text, const char* beginning) {
    while (*beginning != 0)
        if (*text++ != *beginning++) return false;
    return true;
}

// The first NUL of these bytes, or null.
inline char* find_nul(char* bytes, const char* end) {
    for (; bytes < end; ++bytes)
        if (*bytes == 0) return bytes;
    return nullptr;
}

} // namespace hone::init
