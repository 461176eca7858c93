// Errors as values. Every function that can fail for an expected reason returns a Result; TRY unwraps it.
// Bugs abort through CHECK. Exceptions of libraries are caught at three doors only: a request, a service step, main.
#pragma once

#include <cassert>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace hone {

enum class Code {
    invalid,      // the caller's input is wrong
    unauthorized, // there is no login, or the credential is wrong
    forbidden,    // known caller, not allowed
    not_found,    // absent, or invisible to this caller
    conflict,     // the state does not allow it now
    too_large,    // over a stated limit
    busy,         // try again later: queue, rate limit, lock
    unavailable,  // a part we depend on is away
    corrupt,      // stored data is damaged
    internal,     // a bug or a broken machine
};

// What went wrong, for three readers: `code` for programs, `message` for the
// user, `trail` for the maintainer. Only the first two leave the process.
struct Error {
    Code code = Code::internal;
    std::string message;
    std::string trail;
};

inline Error invalid(std::string why) {
    return {Code::invalid, std::move(why), {}};
}
inline Error unauthorized(std::string why) {
    return {Code::unauthorized, std::move(why), {}};
}
inline Error forbidden(std::string why) {
    return {Code::forbidden, std::move(why), {}};
}
inline Error not_found(std::string what) {
    return {Code::not_found, std::move(what) + " not found", {}};
}
inline Error conflict(std::string why) {
    return {Code::conflict, std::move(why), {}};
}
inline Error too_large(std::string why) {
    return {Code::too_large, std::move(why), {}};
}
inline Error busy(std::string why) {
    return {Code::busy, std::move(why), {}};
}
inline Error unavailable(std::string why) {
    return {Code::unavailable, std::move(why), {}};
}
inline Error corrupt(std::string why) {
    return {Code::corrupt, std::move(why), {}};
}
inline Error internal(std::string why, std::string trail = {}) {
    return {Code::internal, std::move(why), std::move(trail)};
}
// The message of the last failed system call: "open /x: No such file or directory".
Error system_error(std::string what, int error_number);

// The code as it is spelled in the API: "not_found".
const char* code_name(Code code);

// A value or an Error. Ignoring one is a warning, and warnings are errors. A union of its own: every function returns
// one, and std::variant costs several times as much to compile.
template <class T = std::monostate>
class [[nodiscard]] Result {
public:
    Result() requires std::same_as<T, std::monostate> : m_is_ok(true), m_value() {}
    Result(T value) : m_is_ok(true), m_value(std::move(value)) {}
    Result(Error error) : m_is_ok(false), m_error(std::move(error)) {}
    Result(Result&& other) noexcept : m_is_ok(other.m_is_ok) { take(std::move(other)); }
    Result(const Result& other) requires std::copy_constructible<T> : m_is_ok(other.m_is_ok) { take(other); }
    Result& operator=(Result&& other) noexcept {
        if (this == &other) return *this;
        destroy();
        m_is_ok = other.m_is_ok;
        take(std::move(other));
        return *this;
    }
    Result& operator=(const Result& other) requires std::copy_constructible<T> { return *this = Result(other); }
    ~Result() { destroy(); }

    bool ok() const { return m_is_ok; }
    T& value() & {
        assert(ok());
        return m_value;
    }
    const T& value() const& {
        assert(ok());
        return m_value;
    }
    T&& value() && {
        assert(ok());
        return std::move(m_value);
    }
    Error& error() & {
        assert(!ok());
        return m_error;
    }
    const Error& error() const& {
        assert(!ok());
        return m_error;
    }
    Error&& error() && {
        assert(!ok());
        return std::move(m_error);
    }

private:
    // Into a union that holds nothing yet, after m_is_ok was set.
    template <class Other>
    void take(Other&& other) {
        if (m_is_ok)
            std::construct_at(&m_value, std::forward<Other>(other).value());
        else
            std::construct_at(&m_error, std::forward<Other>(other).error());
    }
    void destroy() {
        if (m_is_ok)
            m_value.~T();
        else
            m_error.~Error();
    }

    bool m_is_ok;
    union {
        T m_value;
        Error m_error;
    };
};

} // namespace hone

// Unwraps a Result or returns its Error: `auto run = TRY(find(id));`. Never put co_await inside: g++ 12 crashes.
// The counter gives each use its own name, so that a lambda inside a TRY may use TRY too.
#define TRY(...) HONE_TRY_COUNTED(__COUNTER__, __VA_ARGS__)
#define HONE_TRY_COUNTED(counter, ...) HONE_TRY_NAMED(counter, __VA_ARGS__)
#define HONE_TRY_NAMED(counter, ...)                                                                                   \
    ({                                                                                                                 \
        auto&& try_result_##counter = (__VA_ARGS__);                                                                   \
        if (!try_result_##counter.ok()) [[unlikely]]                                                                   \
            return std::move(try_result_##counter).error();                                                            \
        std::move(try_result_##counter).value();                                                                       \
    })

// States what cannot be otherwise; never for input. Aborts with the place in every build.
#define CHECK_OR_ABORT(condition)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) [[unlikely]] {                                                                               \
            std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition);                     \
            std::abort();                                                                                              \
        }                                                                                                              \
    } while (false)
