#include "cli/commands/loop/decision.h"

#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <thread>

namespace hone::cli {

namespace {

std::string decision_path(const Context& context, const std::vector<std::string>& rest = {}) {
    std::vector<std::string> parts{context.value_or_empty("ARTIFACT")};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/reviews", parts);
}

// "file report.md, 1.2 KiB, digest 3f2a…" or "branch hone/fix, revision 2, 3 files, +10 -2".
std::string described(const json::Value& review) {
    const json::Value& artifact = review.as_object().at("artifact");
    std::string text = text_of(artifact, "kind") + " " + safe_line(text_of(artifact, "name"));
    const json::Array* revisions = review.as_object().at("revisions").if_array();
    if (revisions == nullptr || revisions->empty())
        return text + ", " + bytes_text(static_cast<uint64_t>(number_of(artifact, "bytes"))) + ", digest " +
               text_of(artifact, "digest").substr(0, 12);
    const json::Value& newest = revisions->back();
    return text + ", revision " + std::to_string(number_of(newest, "revision")) + ", " +
           std::to_string(number_of(newest, "files")) + " files, +" + std::to_string(number_of(newest, "additions")) +
           " -" + std::to_string(number_of(newest, "deletions"));
}

// What the decision is about: from the options, or confirmed by the person at the terminal.
Result<> name_content(const Context& context, json::Object& body, bool is_needed) {
    if (const auto revision = TRY(context.integer("--revision", 1))) body["revision"] = *revision;
    const auto digest = context.parsed.value("--digest");
    if (digest) body["digest"] = *digest;
    if (!digest && (body.contains("revision") || !is_needed)) return {};
    const json::Value review = TRY(context.remote.get(decision_path(context)));
    const json::Value& artifact = review.as_object().at("artifact");
    const std::string whole = text_of(artifact, "digest");
    if (digest) {
        // The first characters are enough when they are those of the content of now.
        if (digest->size() >= 12 && whole.starts_with(*digest)) body["digest"] = whole;
        return {};
    }
    const bool is_branch = text_of(artifact, "kind") == "branch";
    if (!context.console.is_interactive())
        return context.usage(std::string(is_branch ? "--revision" : "--digest") +
                             " is needed: it names the content that you reviewed; hone review show prints it");
    const std::string typed = TRY(context.console.prompt("Approve " + described(review) + "? [y/N] "));
    if (typed != "y" && typed != "yes") return context.fail(Exit::usage, "cancelled: not confirmed");
    if (is_branch)
        body["revision"] = number_of(review.as_object().at("revisions").as_array().back(), "revision");
    else
        body["digest"] = whole;
    return {};
}

const json::Value* pull_request_in(const json::Value& review) {
    const json::Value* one = review.as_object().if_contains("pull_request");
    return one != nullptr && one->is_object() ? one : nullptr;
}

// Whether the approved revision waits to be delivered.
bool is_under_way(const json::Value& review) {
    const json::Value* one = pull_request_in(review);
    if (one == nullptr) return false;
    const std::string state = text_of(*one, "state");
    return state == "queued" || state == "pushed" || (state == "open" && text_of(*one, "update_state") == "pending");
}

// The review once the forge has the approved revision, or an error stops the delivery.
Result<json::Value> delivered(const Context& context, json::Value review) {
    std::string last;
    while (is_under_way(review)) {
        const json::Value& one = *pull_request_in(review);
        if (const std::string error = text_of(one, "error"); !error.empty() && error != last && !context.json()) {
            context.console.note(safe_line(error) + " Next attempt: " + text_of(one, "next_try_at").substr(0, 19) +
                                 "Z\n");
            last = error;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        review = TRY(context.remote.get(decision_path(context)));
    }
    return review;
}

Result<> show_delivered(const Context& context, const json::Value& review) {
    const json::Value* one = pull_request_in(review);
    if (one == nullptr) return show_done(context, review, "Approved; more approvals are needed.");
    const std::string state = text_of(*one, "state");
    const bool failed = state == "failed" || text_of(*one, "update_state") == "failed";
    if (!failed)
        return show_done(context, review,
                         state == "only_pushed" ? "Approved. The branch is pushed: " + text_of(*one, "branch")
                                                : "Approved. Pull request " + state + ": " + text_of(*one, "url"));
    if (context.json()) print_json(context, review);
    return context.fail(Exit::failure, "approved, and not delivered: " + text_of(*one, "error"),
                        "hone pr sync " + text_of(*one, "id") + " retries; hone pr cancel withdraws the approval");
}

Result<> decide(const Context& context, const std::string& decision, const std::string& sentence) {
    json::Object body;
    if (const auto comment = context.parsed.value("--comment")) body["comment"] = *comment;
    if (const auto comment = context.parsed.value("COMMENT")) body["comment"] = *comment;
    TRY(name_content(context, body, decision == "approve"));
    if (context.parsed.has("--allow-protected")) body["allow_protected"] = true;
    json::Value decided = TRY(context.remote.post(decision_path(context, {decision}), std::move(body)));
    if (decision == "approve" && context.parsed.has("--wait")) {
        decided = TRY(delivered(context, std::move(decided)));
        return show_delivered(context, decided);
    }
    const json::Value& artifact = decided.as_object().at("artifact");
    std::string result = sentence;
    if (decision == "approve" && text_of(artifact, "review") == "pending")
        result = "Approved; " + std::to_string(number_of(decided, "approvals")) + " of " +
                 std::to_string(number_of(decided, "approvals_needed")) + " approvals.";
    else if (decision == "approve" && text_of(artifact, "kind") == "labels")
        result = text_of(artifact, "applied_at").empty()
                     ? "Approved. The labels are published when the span store is ready."
                     : "Approved and published.";
    return show_done(context, decided, result);
}

Result<> approve(Context& context) {
    return decide(context, "approve", "Approved.");
}

Result<> reject(Context& context) {
    return decide(context, "reject", "Rejected.");
}

Result<> request_changes(Context& context) {
    return decide(context, "request_changes", "Changes requested. The session receives the comments.");
}

struct DecisionPaths {
    std::string_view group, approve, reject, request_changes;
};
constexpr DecisionPaths decision_paths[] = {
    {"artifact", "artifact approve", "artifact reject", "artifact request-changes"},
    {"review", "review approve", "review reject", "review request-changes"},
};

} // namespace

std::vector<Command> decision_commands(std::string_view group) {
    const DecisionPaths& paths = group == "artifact" ? decision_paths[0] : decision_paths[1];
    const Argument artifact{.name = "ARTIFACT", .doc = "Id of the artifact."};
    const Option comment{.name = "--comment", .value = "TEXT", .doc = "The reason."};
    const Option revision{.name = "--revision",
                          .value = "NUMBER",
                          .doc =
                              "Revision of the branch that you reviewed. The command fails if there is a newer one."};
    const Option digest{.name = "--digest",
                        .value = "DIGEST",
                        .doc = "Digest of the content that you reviewed, or its first 12 characters. The command "
                               "fails if the content has changed."};
    return {
        {.path = paths.approve,
         .summary = "Approve an artifact. Labels are published; a branch with enough approvals is pushed and its pull "
                    "request opened.",
         .arguments = {artifact},
         .options = {comment,
                     revision,
                     digest,
                     {.name = "--allow-protected", .value = "", .doc = "Allow changes that are flagged as blocking."},
                     {.name = "--wait",
                      .value = "",
                      .doc = "Wait until the pull request is open or updated; the command fails if it cannot be."}},
         .details =
             "An approval needs the --revision of a branch, or the --digest of another artifact, as hone review show\n"
             "prints them. On a terminal the command asks for confirmation instead.\n",
         .run = approve},
        {.path = paths.reject,
         .summary = "Reject an artifact.",
         .arguments = {artifact},
         .options = {comment, revision, digest},
         .run = reject},
        {.path = paths.request_changes,
         .summary = "Request changes: sends the comment and all open comments to the session.",
         .arguments = {artifact, {.name = "COMMENT", .doc = "Comment: what to change.", .optional = true}},
         .options = {revision, digest},
         .run = request_changes},
    };
}

} // namespace hone::cli
