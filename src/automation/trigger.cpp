#include "automation/automation.h"

#include "automation/cron.h"
#include "base/text.h"
#include "telemetry/query/filter.h"

#include <cmath>

namespace hone::automation {

namespace {

constexpr int64_t minute = 60, day = 86'400;

Result<> check_range(std::string_view field, const std::optional<int64_t>& value, int64_t least, int64_t most) {
    if (!value || (*value >= least && *value <= most)) return {};
    return invalid("trigger." + std::string(field) + " must be between " + std::to_string(least) + " and " +
                   std::to_string(most));
}

// A field that this type does not use is a mistake: rejected, not ignored.
Result<> refuse_others(const Trigger& trigger) {
    const auto refuse = [&](std::string_view field, bool given, TriggerType only) -> Result<> {
        if (!given || trigger.type == only) return {};
        return invalid("trigger." + std::string(field) + " belongs to the type " + std::string(name_of(only)) +
                       ", not to " + std::string(name_of(trigger.type)));
    };
    using enum TriggerType;
    TRY(refuse("schedule", trigger.schedule.has_value(), cron));
    TRY(refuse("time_zone", trigger.time_zone.has_value(), cron));
    TRY(refuse("metric", trigger.metric.has_value(), metric));
    TRY(refuse("filter", trigger.filter.has_value(), metric));
    TRY(refuse("comparator", trigger.comparator.has_value(), metric));
    TRY(refuse("threshold", trigger.threshold.has_value(), metric));
    TRY(refuse("window_seconds", trigger.window_seconds.has_value(), metric));
    TRY(refuse("every_seconds", trigger.every_seconds.has_value(), metric));
    TRY(refuse("for_seconds", trigger.for_seconds.has_value(), metric));
    TRY(refuse("minimum_samples", trigger.minimum_samples.has_value(), metric));
    TRY(refuse("eval_name", trigger.eval_name.has_value(), metric));
    TRY(refuse("eval_label", trigger.eval_label.has_value(), metric));
    TRY(refuse("monitor", trigger.monitor.has_value(), monitor));
    TRY(refuse("source", trigger.source.has_value(), webhook));
    TRY(refuse("signature_header", trigger.signature_header.has_value(), webhook));
    return refuse("timestamp_header", trigger.timestamp_header.has_value(), webhook);
}

Result<> check_cron(Trigger& trigger) {
    if (!trigger.schedule) return invalid("trigger.schedule is missing; write one like \"0 9 * * mon-fri\"");
    trigger.schedule = std::string(trim(*trigger.schedule));
    const Cron cron = TRY(Cron::parse(*trigger.schedule));
    if (!trigger.time_zone || trigger.time_zone->empty()) trigger.time_zone = "UTC";
    const calendar::TimeZone zone = TRY(calendar::TimeZone::find(*trigger.time_zone));
    // Any moment does: a schedule that never comes never comes from anywhere.
    if (!cron.next(from_ns(1'790'000'000'000'000'000), zone))
        return invalid("trigger.schedule: no date matches \"" + *trigger.schedule + "\"");
    return {};
}

Result<> check_header_name(std::string_view field, const std::optional<std::string>& name) {
    if (!name) return {};
    bool is_name = !name->empty() && name->size() <= 100;
    for (const char c : *name)
        is_name &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (is_name) return {};
    return invalid("trigger." + std::string(field) + " must be the name of a header, like X-Signature");
}

Result<> check_webhook(Trigger& trigger) {
    if (!trigger.source) trigger.source = HookSource::hone;
    if (*trigger.source == HookSource::hmac) {
        if (!trigger.signature_header) trigger.signature_header = "X-Signature";
        TRY(check_header_name("signature_header", trigger.signature_header));
        return check_header_name("timestamp_header", trigger.timestamp_header);
    }
    if (trigger.signature_header || trigger.timestamp_header)
        return invalid("trigger.signature_header and trigger.timestamp_header belong to the source hmac");
    return {};
}

Result<> check_metric(Trigger& trigger) {
    using telemetry::Metric;
    if (!trigger.metric) return invalid("trigger.metric is missing");
    if (!trigger.threshold || !std::isfinite(*trigger.threshold)) return invalid("trigger.threshold is missing");
    if (!trigger.comparator) trigger.comparator = Comparator::above;
    if (!trigger.filter) trigger.filter = "";
    if (trigger.filter->size() > 10'000) return invalid("trigger.filter is longer than 10000 characters");
    if (const auto parsed = telemetry::parse_filter(*trigger.filter); !parsed.ok())
        return invalid("trigger.filter: " + parsed.error().message);
    if (!trigger.window_seconds) trigger.window_seconds = 15 * minute;
    if (!trigger.every_seconds) trigger.every_seconds = minute;
    if (!trigger.for_seconds) trigger.for_seconds = 0;
    if (!trigger.minimum_samples) trigger.minimum_samples = 1;
    TRY(check_range("window_seconds", trigger.window_seconds, minute, 7 * day));
    TRY(check_range("every_seconds", trigger.every_seconds, 10, day));
    TRY(check_range("for_seconds", trigger.for_seconds, 0, day));
    TRY(check_range("minimum_samples", trigger.minimum_samples, 0, 1'000'000'000));
    const bool rate = *trigger.metric == Metric::eval_rate, score = *trigger.metric == Metric::eval_score;
    if ((rate || score) && trigger.eval_name.value_or("").empty())
        return invalid("trigger.eval_name is missing: give the name of the eval");
    if (rate && trigger.eval_label.value_or("").empty())
        return invalid("trigger.eval_label is missing: give the label whose share is measured");
    if (!rate && !score && trigger.eval_name)
        return invalid("trigger.eval_name belongs to the metrics eval_rate and eval_score");
    if (!rate && trigger.eval_label) return invalid("trigger.eval_label belongs to the metric eval_rate");
    if (trigger.eval_name.value_or("").size() > 200 || trigger.eval_label.value_or("").size() > 200)
        return invalid("trigger.eval_name and trigger.eval_label have at most 200 characters");
    return {};
}

} // namespace

Result<Trigger> checked_trigger(Trigger trigger) {
    TRY(refuse_others(trigger));
    switch (trigger.type) {
    case TriggerType::cron:
        TRY(check_cron(trigger));
        break;
    case TriggerType::metric:
        TRY(check_metric(trigger));
        break;
    case TriggerType::monitor:
        if (!trigger.monitor || trigger.monitor->empty())
            return invalid("trigger.monitor is missing: give the id of a monitor");
        if (trigger.monitor->size() > 100 || !is_printable_ascii(*trigger.monitor))
            return invalid("trigger.monitor is not the id of a monitor");
        break;
    case TriggerType::webhook:
        TRY(check_webhook(trigger));
        break;
    case TriggerType::managed:
        break;
    }
    return trigger;
}

bool compares(Comparator comparator, double value, double threshold) {
    switch (comparator) {
    case Comparator::above:
        return value > threshold;
    case Comparator::at_least:
        return value >= threshold;
    case Comparator::below:
        return value < threshold;
    case Comparator::at_most:
        return value <= threshold;
    }
    return false;
}

} // namespace hone::automation
