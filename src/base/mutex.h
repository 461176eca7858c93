// A mutex that clang's thread-safety analysis understands: mark data GUARDED_BY(m_mutex), lock with a Lock.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HONE_ANNOTATE(x) __attribute__((x))
#else
#define HONE_ANNOTATE(x)
#endif
#define GUARDED_BY(x) HONE_ANNOTATE(guarded_by(x))
#define REQUIRES_LOCK(x) HONE_ANNOTATE(requires_capability(x))

namespace hone {

class HONE_ANNOTATE(capability("mutex")) Mutex {
public:
    void lock() HONE_ANNOTATE(acquire_capability()) { m_mutex.lock(); }
    void unlock() HONE_ANNOTATE(release_capability()) { m_mutex.unlock(); }
    bool try_lock() HONE_ANNOTATE(try_acquire_capability(true)) { return m_mutex.try_lock(); }

private:
    std::mutex m_mutex;
};

class HONE_ANNOTATE(scoped_lockable) Lock {
public:
    explicit Lock(Mutex& mutex) HONE_ANNOTATE(acquire_capability(mutex)) : m_mutex(mutex) { m_mutex.lock(); }
    ~Lock() HONE_ANNOTATE(release_capability()) { m_mutex.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    Mutex& m_mutex;
};

// Waits with any Mutex held: `m_changed.wait(m_mutex)` in a loop that checks its condition.
using Condition = std::condition_variable_any;

} // namespace hone
