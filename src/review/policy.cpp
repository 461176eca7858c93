#include "review/policy.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::review {

namespace {

Result<> check_range(std::string_view name, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most)
        return invalid(fmt::format("review.{} must be between {} and {}", name, least, most));
    return {};
}

// One line of plain text, for names and patterns.
Result<> check_line(std::string_view name, std::string_view text, size_t most) {
    bool plain = !text.empty() && text.size() <= most && is_valid_utf8(text);
    for (const char c : text) plain = plain && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (!plain) return invalid(fmt::format("review.{}: one line of 1 to {} bytes", name, most));
    return {};
}

Result<> check_lines(std::string_view name, const std::vector<std::string>& lines, size_t count, size_t most) {
    if (lines.size() > count) return invalid(fmt::format("review.{} has more than {} entries", name, count));
    for (const std::string& line : lines) TRY(check_line(name, line, most));
    return {};
}

bool is_identity(std::string_view author) {
    const size_t open = author.find(" <");
    return open != std::string_view::npos && open > 0 && author.ends_with('>') &&
           author.find('@') != std::string_view::npos && author.find('<', open + 2) == std::string_view::npos &&
           author.find('>') == author.size() - 1;
}

// Both without a leading slash. Each `*` is tried from short to long; patterns are short and checked beforehand.
bool matches(std::string_view pattern, std::string_view path) {
    while (!pattern.empty()) {
        if (pattern.starts_with("**/")) {
            pattern.remove_prefix(3);
            for (size_t at = 0;; at = path.find('/', at) + 1) {
                if (matches(pattern, path.substr(at))) return true;
                if (path.find('/', at) == std::string_view::npos) return false;
            }
        }
        if (pattern == "**") return true;
        if (pattern.front() == '*') {
            pattern.remove_prefix(1);
            for (size_t at = 0; at <= path.size(); ++at) {
                if (matches(pattern, path.substr(at))) return true;
                if (at < path.size() && path[at] == '/') return false;
            }
            return false;
        }
        if (path.empty() || (pattern.front() != '?' && pattern.front() != path.front()) ||
            (pattern.front() == '?' && path.front() == '/'))
            return false;
        pattern.remove_prefix(1);
        path.remove_prefix(1);
    }
    return path.empty();
}

Result<> check_replay(const ReplayPolicy& replay) {
    if (replay.command.value.size() > 8192 || !is_valid_utf8(*replay.command) ||
        replay.command.value.find('\0') != std::string::npos)
        return invalid("review.replay.command must be at most 8192 bytes of text");
    for (const auto& [name, text] : {std::pair("replay.evaluator", &*replay.evaluator),
                                     std::pair("replay.control_evaluator", &*replay.control_evaluator)})
        if (!text->empty()) TRY(check_line(name, *text, 300));
    TRY(check_range("replay.repetitions", replay.repetitions, 1, 9));
    TRY(check_range("replay.evidence", replay.evidence, 1, 20));
    TRY(check_range("replay.control", replay.control, 0, 20));
    TRY(check_range("replay.timeout_seconds", replay.timeout_seconds, 1, 3600));
    return check_range("replay.budget_seconds", replay.budget_seconds, 1, 86'400);
}

} // namespace

bool matches_path(std::string_view pattern, std::string_view path) {
    if (pattern.starts_with('/')) pattern.remove_prefix(1);
    if (pattern.ends_with('/')) return path.starts_with(pattern);
    if (pattern.find('/') == std::string_view::npos) path = path.substr(path.rfind('/') + 1);
    return matches(pattern, path);
}

Result<> validate(const ReviewPolicy& policy) {
    TRY(check_range("approvals", policy.approvals, 1, 10));
    TRY(check_range("open_pull_requests", policy.open_pull_requests, 1, 100));
    if (*policy.role < access::Role::member)
        return invalid("review.role must be member, admin or owner: others cannot review");
    TRY(check_lines("protected_paths", *policy.protected_paths, 100, 200));
    for (const std::string& pattern : *policy.protected_paths)
        if (std::count(pattern.begin(), pattern.end(), '*') > 8)
            return invalid("review.protected_paths: a pattern has at most 8 asterisks");
    TRY(check_lines("labels", *policy.labels, 20, 100));
    TRY(check_lines("reviewers", *policy.reviewers, 20, 100));
    TRY(check_lines("trailers", *policy.trailers, 20, 300));
    for (const std::string& trailer : *policy.trailers) {
        const size_t colon = trailer.find(": ");
        if (colon == std::string::npos || colon == 0 || trailer.substr(0, colon).find(' ') != std::string::npos)
            return invalid("review.trailers: write Key: value");
    }
    if (!policy.author.value.empty()) {
        TRY(check_line("author", *policy.author, 300));
        if (!is_identity(*policy.author)) return invalid("review.author: write Name <mail@example.com>");
    }
    if (policy.verification.value.size() > 10) return invalid("review.verification has more than 10 commands");
    for (const VerificationCommand& command : *policy.verification) {
        TRY(check_line("verification.name", command.name, 60));
        if (trim(command.command).empty() || command.command.size() > 8192 || !is_valid_utf8(command.command) ||
            command.command.find('\0') != std::string::npos)
            return invalid("review.verification.command must be 1 to 8192 bytes of text");
        TRY(check_range("verification.timeout_seconds", command.timeout_seconds, 1, 3600));
    }
    if (*policy.require_verified && policy.verification.value.empty())
        return invalid("review.require_verified needs review.verification: the commands to run");
    TRY(check_replay(*policy.replay));
    if (*policy.require_replayed && trim(*policy.replay.value.command).empty())
        return invalid("review.require_replayed needs review.replay.command: the command that runs one example");
    return {};
}

} // namespace hone::review
