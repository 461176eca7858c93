// Notices about runs that ended, artifacts of runs that wait for a review, and their pull requests. Thread-safe.
#pragma once

#include "notice/finder.h"
#include "sql/sql.h"

namespace hone::run {

class RunNotices final : public notice::NoticeSource {
public:
    RunNotices(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    Result<> find(notice::Notices& notices, Time since) override;

private:
    Result<> find_ended_runs(notice::Notices& notices, Time since);
    Result<> find_pending_reviews(notice::Notices& notices, Time since);
    Result<> find_pull_requests(notice::Notices& notices, Time since);

    sql::Database& m_database;
    const Clock& m_clock;
};

} // namespace hone::run
