// The prepared statements of one connection, the least recently used leave first. Internal to sql/; one thread at a
// time.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace hone::sql {

template <class Handle>
class StatementCache {
public:
    explicit StatementCache(size_t limit) : m_limit(limit) {}

    Handle* find(const std::string& key) {
        const auto found = m_by_key.find(key);
        if (found == m_by_key.end()) return nullptr;
        m_order.splice(m_order.begin(), m_order, found->second);
        return &found->second->second;
    }
    // `key` must be absent. Returns the statement that had to leave, if any.
    std::optional<Handle> insert(const std::string& key, Handle handle) {
        std::optional<Handle> evicted;
        if (m_order.size() >= m_limit) {
            evicted = std::move(m_order.back().second);
            m_by_key.erase(m_order.back().first);
            m_order.pop_back();
        }
        m_order.emplace_front(key, std::move(handle));
        m_by_key[key] = m_order.begin();
        return evicted;
    }

private:
    using Order = std::list<std::pair<std::string, Handle>>;
    const size_t m_limit;
    Order m_order;
    std::unordered_map<std::string, typename Order::iterator> m_by_key;
};

} // namespace hone::sql
