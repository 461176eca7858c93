// Queues in the database: created and filled by members with queue_manage, worked through by people with queue_answer.
// `next` reserves an item for 15 minutes, so that no two people get the last place of an item. Labels become human
// evals of the target: first they are stored here, then `publish` writes them to the span store, also after a crash.
// Thread-safe; the span store is read and written on the caller's thread.
#pragma once

#include "access/access.h"
#include "access/page.h"
#include "evaluate/annotation_configs/annotation_configs.h"
#include "evaluate/datasets/datasets.h"
#include "evaluate/queues/queue.h"
#include "telemetry/spans.h"

namespace hone::evaluate {

class Queues {
public:
    static constexpr Duration reservation = std::chrono::minutes(15);
    static constexpr Duration fill_cadence = std::chrono::minutes(1);

    // `spans` may be null: queues cannot be filled by a rule, and labels wait.
    Queues(sql::Database& database, const Clock& clock, access::Access& access, AnnotationConfigs& configs,
           Datasets& datasets, telemetry::Spans* spans)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_configs(configs),
          m_datasets(datasets),
          m_spans(spans) {}

    // Newest first; only those of projects that the caller can read.
    Result<access::Page<Queue>> list(const access::Caller& caller, const access::SpaceId& space,
                                     const access::PageRequest& page) const;
    // By id, or by name within `space`.
    Result<Queue> find(const access::Caller& caller, const access::SpaceId& space, std::string_view id_or_name,
                       access::Permission permission = access::Permission::queue_answer) const;
    Result<Queue> create(const access::Caller& caller, const access::SpaceId& space, const NewQueue& wanted);
    Result<Queue> update(const access::Caller& caller, const Queue& queue, const QueueChange& change);
    // With its items and labels; evals stay.
    Result<> remove(const access::Caller& caller, const Queue& queue);

    // Adds targets that a person chose. Those that are there already are left out.
    Result<QueueFilled> add(const access::Caller& caller, const Queue& queue,
                            const std::vector<std::string>& target_ids);
    // Adds what matches the fill rule in the last hours, at most `limit`.
    Result<QueueFilled> fill(const access::Caller& caller, const Queue& queue, int64_t hours, int64_t limit);

    // Oldest first; `state` empty: all. Without verdicts.
    Result<access::Page<QueueItem>> items(const access::Caller& caller, const Queue& queue,
                                          std::optional<QueueItemState> state, const access::PageRequest& page) const;
    Result<QueueItem> item(const access::Caller& caller, const Queue& queue, const QueueItemId& id) const;
    // The item that the caller has reserved, or the next free one, reserved; nothing: none is left for the caller.
    Result<std::optional<QueueItem>> next(const access::Caller& caller, const Queue& queue);
    // Stores the labels of the caller; a second time replaces them. Conflict when others have labelled it meanwhile.
    Result<QueueItem> label(const access::Caller& caller, const Queue& queue, const QueueItemId& id,
                            const LabelQueueItem& wanted);
    Result<QueueItem> skip(const access::Caller& caller, const Queue& queue, const QueueItemId& id,
                           const std::string& reason);
    // Takes back the last item that the caller labelled or skipped, and reserves it again; its evals are deleted.
    Result<QueueItem> undo(const access::Caller& caller, const Queue& queue);

    Result<QueueAgreement> agreement(const access::Caller& caller, const Queue& queue) const;

    // Background: writes labels that wait to the span store, fills queues by their rules.
    Result<int64_t> publish();
    Result<int64_t> fill_due();

private:
    Result<> check(const access::Caller& caller, const Queue& queue, access::Permission permission) const;
    // A person who may label: their id.
    Result<std::string> reviewer(const access::Caller& caller, const Queue& queue) const;
    Result<std::vector<AnnotationConfig>> configs_of(const access::SpaceId& space,
                                                     const std::vector<std::string>& names) const;
    Result<Queue> read(const std::string& condition, const std::string& value) const;
    Result<> set_configs(sql::Transaction& transaction, const QueueId& id,
                         const std::vector<AnnotationConfig>& configs) const;
    Result<int64_t> insert(const Queue& queue, const std::vector<std::pair<std::string, std::string>>& targets,
                           const std::string& by);
    // Targets with their traces, newest first.
    Result<std::vector<std::pair<std::string, std::string>>> matching(const Queue& queue, int64_t from_ns,
                                                                      int64_t limit) const;
    Result<> settle(sql::Transaction& transaction, const Queue& queue, const QueueItemId& id) const;
    Result<> add_reference(const Queue& queue, const QueueItem& item, const json::Value& reference);
    Result<std::vector<QueueVerdict>> verdicts_of(const Queue& queue, const QueueItem& item) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    AnnotationConfigs& m_configs;
    Datasets& m_datasets;
    telemetry::Spans* const m_spans;
};

// Whether a target is in the sample of so many millionths; a larger share has the same ones and more.
bool is_sampled(std::string_view id, int64_t ppm);

} // namespace hone::evaluate
