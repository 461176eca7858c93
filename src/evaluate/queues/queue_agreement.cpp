#include "evaluate/queues/queues.h"
#include "evaluate/statistics/agreement.h"

#include <map>

namespace hone::evaluate {

using access::Caller, access::Permission;

Result<QueueAgreement> Queues::agreement(const Caller& caller, const Queue& queue) const {
    TRY(check(caller, queue, Permission::queue_answer));
    QueueAgreement result;
    for (const QueueConfig& config : queue.configs) {
        if (config.type == AnnotationConfigType::freeform) continue;
        const bool has_labels = config.type == AnnotationConfigType::categorical;
        std::map<std::string, std::vector<double>> by_item;
        std::map<std::string, double> numbers; // of labels, in the order in which they occur
        for (const auto& row :
             TRY(m_database.query("SELECT item_id, label, score FROM queue_evals WHERE queue_id = ? AND "
                                  "config_id = ? AND withdrawn = 0 ORDER BY item_id, user_id",
                                  queue.id, config.id))) {
            const double value = has_labels
                                     ? numbers.emplace(row.text(1), static_cast<double>(numbers.size())).first->second
                                     : row.optional_real(2).value_or(0);
            by_item[row.text(0)].push_back(value);
        }
        ConfigAgreement one;
        one.name = config.name;
        one.level = has_labels ? "nominal" : "interval";
        std::vector<std::vector<double>> units;
        for (auto& [item, values] : by_item) {
            if (values.size() < 2) continue;
            ++one.items;
            one.labels += static_cast<int64_t>(values.size());
            units.push_back(std::move(values));
        }
        one.alpha = krippendorff_alpha(units, has_labels ? AlphaLevel::nominal : AlphaLevel::interval);
        result.configs.push_back(std::move(one));
    }
    for (const auto& row : TRY(m_database.query(
             "SELECT user_id, MAX(user_name), SUM(CASE WHEN state = 'done' THEN 1 ELSE 0 END), SUM(CASE WHEN state = "
             "'skipped' THEN 1 ELSE 0 END), CAST(SUM(CASE WHEN state = 'done' THEN ms_spent ELSE 0 END) AS "
             "BIGINT), MAX(updated_at) FROM queue_reviews WHERE queue_id = ? AND state <> 'reserved' GROUP BY user_id "
             "ORDER BY 3 DESC, 1 LIMIT 1000",
             queue.id)))
        result.people.push_back(
            {row.text(0), row.text(1), row.integer(2), row.integer(3), row.integer(4), row.optional_time(5)});
    return result;
}

} // namespace hone::evaluate
