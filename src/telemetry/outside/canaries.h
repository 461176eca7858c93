// Two projects that do not exist, with a row each in a table that is dropped afterwards: what the reader's user can get
// of the other one's row, and whether late and repeated inserts are stored. One thread, blocks.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"

#include <string>
#include <vector>

namespace hone::telemetry {

class Canaries {
public:
    // `server` is the server's own user, which can be the reader too (as_reader); `reader` is the reader's user without
    // the settings that Hone sends with a query.
    Canaries(ClickHouse& server, ClickHouse& reader, const Clock& clock);
    // Drops what is there; call `drop` to learn what failed.
    ~Canaries();
    Canaries(const Canaries&) = delete;
    Canaries& operator=(const Canaries&) = delete;

    // check_SECONDS_RANDOM: so drop_leftovers finds it, and how old it is.
    static std::string new_name(const Clock& clock);

    // What an earlier check left. The names of what was dropped.
    Result<std::vector<std::string>> drop_leftovers();
    // Databases, views, table, policy and rows.
    Result<> make();
    Result<> drop();

    // What went wrong, each in words; none: all is well. An error: it could not be tried.
    Result<std::vector<std::string>> try_attacks();
    Result<std::vector<std::string>> try_limits();
    Result<std::vector<std::string>> try_inserts();
    int attacks() const { return m_attacks; }

private:
    struct Attack;
    std::string fill(std::string_view sql) const;
    Result<std::string> run(const Attack& attack, bool is_bare);
    Result<> insert(const std::string& project, const std::string& canary);
    Result<std::string> count(const std::string& where, const std::string& database, const std::string& project);
    bool is_shown(const std::string& text) const;

    ClickHouse& m_server;
    ClickHouse& m_reader;
    const Clock& m_clock;
    std::string m_name;
    std::string m_own, m_other;
    std::string m_own_canary, m_other_canary;
    bool m_is_made = false;
    int m_attacks = 0;
};

} // namespace hone::telemetry
