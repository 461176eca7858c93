#include "notice/finder.h"

namespace hone::notice {

namespace {

// A row may become visible a little after its time stamp.
constexpr Duration overlap = std::chrono::minutes(1);

} // namespace

Result<> Finder::step() {
    const Time now = m_clock.now();
    for (NoticeSource* source : m_sources) TRY(source->find(m_notices, m_seen - overlap));
    m_seen = now;
    return {};
}

} // namespace hone::notice
