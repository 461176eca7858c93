#include "run/state_change.h"

namespace hone::run {

Result<bool> change_state(sql::Transaction& transaction, const RunId& id, State from, State to,
                          const std::string& reason, Time now) {
    CHECK_OR_ABORT(may_move(from, to));
    const bool works = to == State::preparing || to == State::running;
    const int64_t moved = TRY(transaction.execute(
        "UPDATE runs SET state = ?, reason = ?, waiting_since = ?, ended_at = ?, "
        "worked_ns = worked_ns + ? - COALESCE(working_since, ?), working_since = ? WHERE id = ? AND state = ?",
        name_of(to), reason, to == State::waiting ? std::optional(now) : std::nullopt,
        is_over(to) ? std::optional(now) : std::nullopt, now, now, works ? std::optional(now) : std::nullopt, id,
        name_of(from)));
    return moved > 0;
}

} // namespace hone::run
