#include "sql/pool.h"

#include <algorithm>

namespace hone::sql {

Pool::Pool(size_t limit, Duration wait, Connect connect)
    : m_limit(limit),
      m_wait(wait),
      m_connect(std::move(connect)) {}

bool Pool::is_held_by_this_thread() {
    const Lock lock(m_mutex);
    return std::find(m_holders.begin(), m_holders.end(), std::this_thread::get_id()) != m_holders.end();
}

// An idle connection, or null with a place reserved for a new one.
Result<std::unique_ptr<Connection>> Pool::take_idle_or_place() {
    const SystemClock clock;
    const Duration deadline = clock.steady() + m_wait;
    const Lock lock(m_mutex);
    while (m_holders.size() >= m_limit) {
        const Duration left = deadline - clock.steady();
        if (left <= Duration::zero()) return busy("the database is busy; try again");
        m_changed.wait_for(m_mutex, left);
    }
    m_holders.push_back(std::this_thread::get_id());
    if (m_idle.empty()) return std::unique_ptr<Connection>();
    auto connection = std::move(m_idle.back());
    m_idle.pop_back();
    return connection;
}

Result<Pool::Lease> Pool::take() {
    if (is_held_by_this_thread())
        return internal("a database call inside a transaction",
                        "use the Transaction, not the Database, inside its work");
    auto connection = TRY(take_idle_or_place());
    if (connection) return Lease(*this, std::move(connection));

    auto connected = m_connect(); // without the lock: it may take seconds
    if (!connected.ok()) {
        const Lock lock(m_mutex);
        forget_holder();
        return std::move(connected).error();
    }
    return Lease(*this, std::move(connected).value());
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    connection->rollback();
    std::unique_ptr<Connection> to_close;
    const Lock lock(m_mutex);
    if (connection->usable())
        m_idle.push_back(std::move(connection));
    else
        to_close = std::move(connection);
    forget_holder();
}

void Pool::forget_holder() {
    m_holders.erase(std::find(m_holders.begin(), m_holders.end(), std::this_thread::get_id()));
    m_changed.notify_one();
}

} // namespace hone::sql
