#include "run/state_change.h"

namespace hone::run {

Result<bool> change_state(sql::Transaction& transaction, const RunId& id, State from, State to,
                          const std::string& reason, Time now) {
    CHECK_OR_ABORT(may_move(from, to));
    const int64_t moved = TRY(transaction.execute(
        "UPDATE runs SET state = ?, reason = ?, waiting_since = ?, ended_at = ? WHERE id = ? AND state = ?",
        name_of(to), reason, to == State::waiting ? std::optional(now) : std::nullopt,
        is_over(to) ? std::optional(now) : std::nullopt, id, name_of(from)));
    return moved > 0;
}

} // namespace hone::run
