// A bounded set of connections, opened when first needed. Internal to sql/. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "sql/connection.h"

#include <thread>

namespace hone::sql {

class Pool {
public:
    using Connect = std::function<Result<std::unique_ptr<Connection>>()>;

    Pool(size_t limit, Duration wait, Connect connect);

    // A connection for the thread that took it, given back when it goes out of scope: rolled back if a transaction is
    // still open, closed if it is not usable any more.
    class Lease {
    public:
        Lease(Pool& pool, std::unique_ptr<Connection> connection)
            : m_pool(&pool),
              m_connection(std::move(connection)) {}
        Lease(Lease&&) = default;
        Lease& operator=(Lease&&) = delete;
        ~Lease() {
            if (m_connection) m_pool->give_back(std::move(m_connection));
        }
        Connection& connection() { return *m_connection; }

    private:
        Pool* m_pool;
        std::unique_ptr<Connection> m_connection;
    };

    // Waits for a free connection; `busy` when none comes in time.
    Result<Lease> take();
    // True when the calling thread has a lease: it is inside a transaction's work.
    bool is_held_by_this_thread();

private:
    void give_back(std::unique_ptr<Connection> connection);
    void forget_holder() REQUIRES_LOCK(m_mutex);
    Result<std::unique_ptr<Connection>> take_idle_or_place();

    const size_t m_limit;
    const Duration m_wait;
    const Connect m_connect;
    Mutex m_mutex;
    Condition m_changed;
    std::vector<std::unique_ptr<Connection>> m_idle GUARDED_BY(m_mutex);
    std::vector<std::thread::id> m_holders GUARDED_BY(m_mutex); // one entry per lease
};

} // namespace hone::sql
