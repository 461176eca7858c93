#include "telemetry/log/backlog.h"

#include "base/text.h"

#include <fmt/format.h>

namespace hone::telemetry {

namespace {

constexpr size_t longest_reason = 400;

// 12345 -> "12,345", in every locale.
std::string with_commas(int64_t number) {
    std::string digits = std::to_string(number);
    for (size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

std::string in_words(Duration wait) {
    const int64_t seconds = wait.count() / 1'000'000'000;
    if (seconds < 120) return fmt::format("{} s", seconds);
    if (seconds < 7200) return fmt::format("{} min", seconds / 60);
    if (seconds < 172'800) return fmt::format("{} h", seconds / 3600);
    return fmt::format("{} days", seconds / 86'400);
}

std::string problem_of(const std::string& what, Duration wait, std::string_view why) {
    std::string reason(truncate_utf8(trim(why), longest_reason));
    while (reason.ends_with('.')) reason.pop_back();
    if (reason.empty()) reason = "the span engine has not caught up with what arrives";
    return fmt::format("{} waited {} to be stored: {}.", what, in_words(wait), reason);
}

} // namespace

void WaitingFrames::add(uint64_t sequence, Duration now) {
    if (m_first.empty() || now - m_first.back().since >= std::chrono::seconds(1)) m_first.push_back({sequence, now});
}

void WaitingFrames::loaded(uint64_t next, uint64_t after_last) {
    // What the front stands for ends where the second entry begins.
    while (m_first.size() > 1 && m_first[1].sequence <= next) m_first.pop_front();
    if (next >= after_last) m_first.clear();
}

std::string Backlog::problem() const {
    if (!is_late) return {};
    return problem_of(with_commas(spans) + (spans == 1 ? " span has" : " spans have"), oldest_wait, why);
}

std::string RecordBacklog::problem() const {
    if (!is_late) return {};
    const std::string what = with_commas(requests) + (requests == 1 ? " request" : " requests");
    return problem_of(what + " of log records and metrics " + (requests == 1 ? "has" : "have"), oldest_wait, why);
}

std::string record_backlog_advice() {
    return "They are safe in the log of the data directory and are stored as soon as that works again. Check the "
           "server's log, at the free disk space and at the owner of the data directory. New ones are accepted until "
           "their log has reached span_log_limit, or 512 MB.";
}

std::string backlog_advice() {
    return "They are safe in the log of the data directory and are stored as soon as that works again. Check the "
           "server's log, at the free disk space and at the owner of the data directory. New spans are accepted until "
           "the log has reached span_log_limit.";
}

BacklogView view_of(const Backlog& backlog) {
    BacklogView view{backlog.spans,
                     backlog.bytes,
                     backlog.oldest_wait.count() / 1'000'000'000,
                     backlog.failures,
                     backlog.is_late,
                     backlog.problem(),
                     {}};
    if (backlog.is_late) view.advice = backlog_advice();
    return view;
}

} // namespace hone::telemetry
