#include "server/operations/capacity.h"

#include <algorithm>
#include <sys/statvfs.h>

namespace hone::server {

namespace {

constexpr int64_t usage_days = 7;

void add_span_numbers(api::CapacityView& view, const std::vector<telemetry::DiskUse>& uses) {
    constexpr int64_t day_ns = int64_t{86400} * 1'000'000'000;
    int64_t oldest = INT64_MAX, newest = 0;
    for (const telemetry::DiskUse& use : uses) {
        view.spans += use.spans;
        view.spans_bytes += use.bytes;
        oldest = std::min(oldest, use.oldest_ns);
        newest = std::max(newest, use.newest_ns);
    }
    if (view.spans == 0) return;
    view.days_with_spans = newest / day_ns - oldest / day_ns + 1;
    view.bytes_per_span = view.spans_bytes / view.spans;
    view.spans_per_day = view.spans / view.days_with_spans;
    view.span_bytes_per_day = view.spans_bytes / view.days_with_spans;
}

Result<> add_usage(api::CapacityView& view, const CapacityParts& parts) {
    broker::UsageQuery query;
    query.from_day = broker::day_of(view.measured_at - std::chrono::hours(24 * (usage_days - 1)));
    query.to_day = broker::day_of(view.measured_at);
    int64_t nano_usd = 0, calls = 0;
    for (const auto& [space, name] : TRY(parts.access.spaces.all_names()))
        for (const broker::UsageSum& day :
             TRY(parts.usage.report(access::Caller::system(), access::SpaceId(space), query))) {
            nano_usd += day.cost_nano_usd;
            calls += day.calls;
        }
    view.model_cost_micro_usd_per_day = nano_usd / 1000 / usage_days;
    view.model_calls_per_day = calls / usage_days;
    return {};
}

} // namespace

Result<api::CapacityView> measure_capacity(const CapacityParts& parts) {
    api::CapacityView view;
    view.measured_at = parts.clock.now();
    add_span_numbers(view, TRY(parts.retention.disk_use()));
    TRY(add_usage(view, parts));
    struct statvfs status {};
    if (statvfs(parts.data_directory.c_str(), &status) != 0) return view;
    const auto unit = static_cast<int64_t>(status.f_frsize);
    view.disk_bytes = static_cast<int64_t>(status.f_blocks) * unit;
    view.disk_free_bytes = static_cast<int64_t>(status.f_bavail) * unit;
    if (parts.spans_are_here && view.span_bytes_per_day > 0)
        view.days_until_full = view.disk_free_bytes / view.span_bytes_per_day;
    return view;
}

Result<std::vector<api::ServerView>> server_views(const lease::Servers& servers) {
    std::vector<api::ServerView> views;
    for (const lease::ServerInfo& info : TRY(servers.list())) {
        api::ServerView view;
        view.name = info.name;
        view.address = info.address;
        view.version = info.version;
        view.schema_version = info.schema_version;
        view.roles = info.roles;
        view.span_store = info.span_store;
        view.object_store = info.object_store;
        view.started_at = info.started_at;
        view.lease_until = info.lease_until;
        view.live = info.is_live;
        view.this_server = info.name == servers.name();
        views.push_back(std::move(view));
    }
    return views;
}

} // namespace hone::server
