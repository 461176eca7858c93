#include "review/delivery/pull_request_body.h"

#include "base/text.h"
#include "review/branch/closing_words.h"
#include "review/branch/secret_forms.h"

#include <fmt/format.h>

namespace hone::review {

namespace {

constexpr size_t longest_body = 60'000; // forges take a little more
constexpr size_t longest_part = 8'000;
// harmless_markdown lets no worker write them.
constexpr std::string_view part_begins = "<!-- hone:begin: this part is updated by Hone; text outside it is kept -->";
constexpr std::string_view part_ends = "<!-- hone:end -->";

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string cell(std::string_view text) {
    std::string shown;
    for (const char c : truncate_utf8(text, 200)) shown += c == '|' || c == '\n' || c == '\r' || c == '`' ? ' ' : c;
    return shown;
}

std::string outcome(const std::optional<VerificationRun>& run) {
    if (!run) return "not run";
    if (run->timed_out) return "timed out";
    if (!run->exit_code) return "was ended";
    return *run->exit_code == 0 ? "green" : fmt::format("red (exit {})", *run->exit_code);
}

constexpr size_t longest_replay = 4096;

std::string_view outcome_words(ReplayOutcome outcome) {
    switch (outcome) {
    case ReplayOutcome::none:
        break;
    case ReplayOutcome::not_reproduced:
        return "Not reproduced: no evidence fails on the base, so the fix is not proven";
    case ReplayOutcome::fixed:
        return "Fixed";
    case ReplayOutcome::partly:
        return "Partly fixed";
    case ReplayOutcome::unchanged:
        return "Unchanged";
    case ReplayOutcome::regressed:
        return "Regressed: something that passes on the base does not pass on the branch";
    }
    return "No outcome";
}

std::string side_words(const ReplaySide& side, int64_t repetitions) {
    return fmt::format("{} ({} of {} pass)", name_of(side.verdict), side.passed, repetitions);
}

} // namespace

std::string replay_block(const BranchReplay& replay) {
    if (replay.state != ReplayState::done) return "";
    const ReplayResult& result = replay.result;
    std::string block =
        fmt::format("\n## Verified fix\n\n**{}**: {}.\n\n", outcome_words(replay.outcome), replay_sentence(replay));
    block += fmt::format("Recorded traces of the issue, run on the base and on the branch; evaluated by `{}`.",
                         cell(*replay.settings.evaluator));
    if (result.with_recorded_tools > 0)
        block += fmt::format(" Tools of {} examples were not called: recorded results were used.",
                             result.with_recorded_tools);
    if (!result.not_replayed.empty())
        block += fmt::format(" {} traces could not be replayed.", result.not_replayed.size());
    if (result.evidence < 6) block += " Fewer than 6 traces cannot show p < 0.05.";
    block += "\n\n| trace | set | base | branch |\n|---|---|---|---|\n";
    size_t shown = 0;
    for (const ReplayedExample& example : result.examples) {
        const std::string row = fmt::format("| {} | {} | {} | {} |\n", cell(example.trace_id), name_of(example.set),
                                            side_words(example.base, *replay.settings.repetitions),
                                            side_words(example.branch, *replay.settings.repetitions));
        if (block.size() + row.size() > longest_replay - 60) break;
        block += row;
        ++shown;
    }
    if (shown < result.examples.size())
        block += fmt::format("\n{} further examples are in the review.\n", result.examples.size() - shown);
    return block;
}

std::string harmless_title(std::string_view text) {
    std::string harmless;
    const std::string kept = without_closing(text);
    for (size_t at = 0; at < kept.size(); ++at) {
        harmless += kept[at];
        if (kept[at] == '@' && at + 1 < kept.size() && is_name_character(kept[at + 1]) &&
            (at == 0 || !is_name_character(kept[at - 1])))
            harmless += ' ';
    }
    return harmless;
}

std::string harmless_markdown(std::string_view text) {
    std::string harmless;
    const std::string kept = without_closing(text);
    for (const std::string_view line : split(truncate_utf8(kept, longest_part), '\n')) {
        if (!seeming_secret(line).empty()) {
            harmless += "(a line that seems to hold a secret was left out)\n";
            continue;
        }
        for (size_t at = 0; at < line.size(); ++at) {
            if (line[at] == '@' && at + 1 < line.size() && is_name_character(line[at + 1]) &&
                (at == 0 || !is_name_character(line[at - 1])))
                harmless += "&#64;";
            else if (line.substr(at).starts_with("<!--"))
                harmless += "&lt;";
            else
                harmless += line[at];
        }
        harmless += '\n';
    }
    while (harmless.ends_with('\n')) harmless.pop_back();
    return repair_utf8(harmless);
}

std::string pull_request_body(const Branch& branch, const Revision& revision, const PullRequestContext& context,
                              const std::vector<std::string>& approved_by, const std::optional<BranchReplay>& replay) {
    std::string body;
    if (!context.issue_title.empty())
        body += fmt::format("**Issue:** {}{}\n\n", harmless_markdown(context.issue_title),
                            context.issue_url.empty() ? "" : " (" + context.issue_url + ")");
    if (!context.root_cause.empty()) body += "## Root cause\n\n" + harmless_markdown(context.root_cause) + "\n\n";
    if (!context.evidence.empty()) {
        body += "## Evidence\n\n";
        for (const std::string& link : context.evidence) body += "- " + link + "\n";
        body += "\n";
    }
    body += fmt::format("## Change\n\n{} {}, {} added, {} deleted.\n\n", revision.files,
                        revision.files == 1 ? "file" : "files", revision.additions, revision.deletions);
    for (const Commit& commit : revision.commits) {
        const size_t end = commit.message.find('\n');
        body += "- " + harmless_markdown(commit.message.substr(0, end)) + "\n";
        if (end != std::string::npos && revision.commits.size() == 1)
            body += "\n" + harmless_markdown(trim(std::string_view(commit.message).substr(end))) + "\n";
    }
    body += "\n## Verification\n\n";
    if (revision.verification_results.empty()) {
        body += "The preset names no commands; nothing was run beside what the worker did itself.\n";
    } else {
        body += "| command | base | branch |\n|---|---|---|\n";
        for (const VerificationResult& result : revision.verification_results)
            body += fmt::format("| {} (`{}`) | {} | {} |\n", cell(result.name), cell(result.command),
                                outcome(result.base), outcome(result.branch));
    }
    if (replay) body += replay_block(*replay);
    body += "\n---\n";
    if (!approved_by.empty()) {
        std::string names;
        for (const std::string& name : approved_by) names += (names.empty() ? "" : ", ") + harmless_markdown(name);
        body += "Approved in Hone by " + names + ". ";
    }
    if (!context.run_url.empty()) body += "[Run](" + context.run_url + ")";
    if (!context.review_url.empty()) body += " · [Review](" + context.review_url + ")";
    if (context.run_url.empty()) body += "Run " + branch.run_id;
    body += "\n";
    return std::string(truncate_utf8(body, longest_body));
}

std::string own_part(std::string_view body) {
    return std::string(part_begins) + "\n" + std::string(trim(body)) + "\n" + std::string(part_ends);
}

std::optional<std::string> with_own_part(std::string_view there, std::string_view body) {
    const size_t begin = there.find(part_begins);
    const size_t end = begin == std::string_view::npos ? begin : there.find(part_ends, begin);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(there.substr(0, begin)) + own_part(body) + std::string(there.substr(end + part_ends.size()));
}

std::string squashed_message(const Branch& branch, const Revision& revision) {
    std::string message = revision.title + "\n";
    for (const Commit& commit : revision.commits) {
        const size_t end = commit.message.find('\n');
        if (revision.commits.size() > 1)
            message += "\n* " + commit.message.substr(0, end);
        else if (end != std::string::npos)
            message += "\n" + std::string(trim(std::string_view(commit.message).substr(end)));
    }
    if (!message.ends_with('\n')) message += '\n';
    message += "\nHone-Run: " + branch.run_id + "\n";
    for (const std::string& trailer : *branch.policy.trailers) message += trailer + "\n";
    if (*branch.policy.sign_off)
        message += "Signed-off-by: " +
                   (branch.policy.author.value.empty() ? std::string("Hone <hone@localhost>") : *branch.policy.author) +
                   "\n";
    return message;
}

} // namespace hone::review
