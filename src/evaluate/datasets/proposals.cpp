#include "evaluate/datasets/proposals.h"

#include "access/page.h"
#include "evaluate/content/canonical.h"
#include "evaluate/datasets/dataset_rows.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr size_t most_decisions = 200;
constexpr std::string_view proposal_columns =
    "id, input, output, metadata, reason, source_project, source_trace, source_span, state, proposed_by_name, run_id, "
    "created_at, decided_by_name, decided_at";

Proposal proposal_of(const sql::Row& row) {
    Proposal proposal;
    proposal.id = row.id<ProposalTag>(0);
    proposal.input = stored_json(row.text(1));
    proposal.output = stored_json(row.text(2));
    proposal.metadata = stored_json(row.text(3));
    proposal.reason = row.text(4);
    proposal.source_project = row.optional_text(5);
    proposal.source_trace = row.optional_text(6);
    proposal.source_span = row.optional_text(7);
    proposal.state = parse_enum<ProposalState>(row.text(8)).value_or(ProposalState::rejected);
    proposal.proposed_by = row.text(9);
    proposal.run_id = row.optional_text(10);
    proposal.created_at = row.time(11);
    proposal.decided_by = row.optional_text(12);
    proposal.decided_at = row.optional_time(13);
    return proposal;
}

bool is_hex_id(const std::optional<std::string>& id, size_t digits) {
    return !id || (id->size() == digits && id->find_first_not_of("0123456789abcdef") == std::string::npos);
}

struct ReadyProposal {
    std::string input, output, metadata, hash, reason;
    std::optional<std::string> trace, span;
};

Result<ReadyProposal> ready_proposal(const NewProposal& given, size_t number, bool has_project, int64_t& redacted) {
    const auto wrong = [&](std::string_view why) { return invalid(fmt::format("example {}: {}", number, why)); };
    json::Value input = given.input, output = *given.output, metadata = *given.metadata;
    if (!input.is_object()) return wrong("input must be an object");
    if (!output.is_object()) return wrong("output must be an object");
    if (!metadata.is_object()) return wrong("metadata must be an object");
    if (given.reason.value.size() > 2000 || given.reason.value.find('\0') != std::string::npos)
        return wrong("reason must be text of at most 2000 bytes");
    if (!is_hex_id(given.trace_id, 32) || !is_hex_id(given.span_id, 16))
        return wrong("trace_id has 32 and span_id has 16 hexadecimal digits");
    if (given.span_id && !given.trace_id) return wrong("span_id needs a trace_id");
    if (given.trace_id && !has_project)
        return wrong("trace_id belongs to the project of a run; this is not a run's key");
    json::Value reason(*given.reason);
    for (json::Value* value : {&input, &output, &metadata, &reason}) redacted += remove_credentials(*value);
    ReadyProposal ready{json::print(input), json::print(output), json::print(metadata), {}, {}, {}, {}};
    if (ready.input.size() + ready.output.size() + ready.metadata.size() > largest_proposal)
        return wrong(fmt::format("it has more than {} KiB of JSON", largest_proposal >> 10));
    ready.hash = content_hash(input, output, metadata);
    ready.reason = std::string(std::string_view(reason.get_string()));
    ready.trace = given.trace_id;
    ready.span = given.span_id;
    return ready;
}

} // namespace

// A run's key has no permission about datasets of its own: what its starter may, narrowed to its space and project.
Result<Dataset> Proposals::find_for_tool(const Caller& caller, const SpaceId& space, std::string_view dataset,
                                         Permission permission) const {
    if (caller.run.empty()) return m_datasets.find(caller, space, dataset, permission);
    TRY(m_access.projects.find(caller, space, caller.bound_project.text(), Permission::project_read));
    Dataset found = TRY(m_datasets.find(Caller::system(), space, dataset));
    if (found.space_id != space || !caller.role_in(space))
        return not_found("dataset " + std::string(truncate_utf8(dataset, 100)));
    return found;
}

Result<Page<Dataset>> Proposals::datasets_for_tool(const Caller& caller, const SpaceId& space,
                                                   const PageRequest& page) const {
    if (caller.run.empty()) return m_datasets.list(caller, space, {}, page);
    TRY(m_access.projects.find(caller, space, caller.bound_project.text(), Permission::project_read));
    if (!caller.role_in(space)) return not_found("space");
    return m_datasets.list(Caller::system(), space, {}, page);
}

Result<std::vector<Example>> Proposals::examples_for_tool(const Caller& caller, const SpaceId& space,
                                                          std::string_view dataset, int64_t after, int64_t limit,
                                                          std::optional<int64_t>& next) const {
    const Dataset of = TRY(find_for_tool(caller, space, dataset, Permission::dataset_read));
    auto found = TRY(m_datasets.examples(Caller::system(), of.id, of.version, {}, after, limit));
    if (static_cast<int64_t>(found.size()) == limit) next = found.back().position;
    if (caller.run.empty()) return found;
    std::erase_if(found, [&](const Example& example) {
        return example.source_project && !example.source_project->empty() &&
               *example.source_project != caller.bound_project.text();
    });
    return found;
}

Result<Proposed> Proposals::propose(const Caller& caller, const SpaceId& space, std::string_view dataset,
                                    const std::vector<NewProposal>& proposals) {
    const Dataset of = TRY(find_for_tool(caller, space, dataset, Permission::dataset_write));
    if (proposals.empty() || proposals.size() > most_proposals_at_once)
        return invalid(fmt::format("examples has 1 to {} examples", most_proposals_at_once));
    Proposed outcome;
    const bool is_run = !caller.run.empty();
    std::vector<ReadyProposal> ready;
    for (size_t i = 0; i < proposals.size(); ++i)
        ready.push_back(TRY(ready_proposal(proposals[i], i + 1, is_run, outcome.redacted)));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto waiting = TRY(transaction.query(
            "SELECT COUNT(*) FROM proposed_examples WHERE dataset_id = ? AND state = 'pending'", of.id));
        if (waiting.front().integer(0) + static_cast<int64_t>(ready.size()) > most_pending_proposals)
            return busy(fmt::format("{} proposals wait for a person, the most that a dataset can have; try again when "
                                    "some are decided",
                                    waiting.front().integer(0)));
        for (const ReadyProposal& one : ready) {
            const auto project = one.trace ? std::optional(caller.bound_project.text()) : std::optional<std::string>();
            const auto run = is_run ? std::optional(caller.run) : std::optional<std::string>();
            const auto added = TRY(transaction.execute(
                "INSERT INTO proposed_examples (id, dataset_id, input, output, metadata, hash, reason, source_project, "
                "source_trace, source_span, state, proposed_by, proposed_by_name, run_id, created_at) VALUES (?, ?, ?, "
                "?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?) ON CONFLICT (dataset_id, hash) DO NOTHING",
                make_id<ProposalTag>(m_clock), of.id, one.input, one.output, one.metadata, one.hash, one.reason,
                project, one.trace, one.span, caller.actor(), caller.name, run, now));
            (added > 0 ? outcome.added : outcome.known) += 1;
        }
        if (outcome.added == 0) return {};
        return m_access.audit.record(transaction, caller,
                                     {"dataset_propose", of.space_id, of.id.text(), {{"examples", outcome.added}}});
    }));
    return outcome;
}

Result<Page<Proposal>> Proposals::list(const Caller& caller, const DatasetId& dataset, ProposalState state,
                                       const PageRequest& page) const {
    TRY(m_datasets.find(caller, {}, dataset.text()));
    std::vector<Proposal> found;
    for (const auto& row : TRY(m_database.query("SELECT " + std::string(proposal_columns) +
                                                    " FROM proposed_examples WHERE dataset_id = ? AND state = ? AND id "
                                                    "> ? ORDER BY id LIMIT ?",
                                                dataset, name_of(state), TRY(page.after()), page.limit + 1)))
        found.push_back(proposal_of(row));
    return access::make_page(std::move(found), page, [](const Proposal& one) { return one.id.text(); });
}

Result<std::vector<Proposal>> Proposals::pending(const DatasetId& dataset, const std::vector<ProposalId>& ids) const {
    if (ids.empty() || ids.size() > most_decisions)
        return invalid(fmt::format("ids has 1 to {} ids of proposals", most_decisions));
    std::vector<Proposal> found;
    for (const ProposalId& id : ids) {
        const auto rows = TRY(m_database.query("SELECT " + std::string(proposal_columns) +
                                                   " FROM proposed_examples WHERE dataset_id = ? AND id = ?",
                                               dataset, id));
        if (rows.empty()) return not_found("proposal " + id.text());
        found.push_back(proposal_of(rows.front()));
        if (found.back().state != ProposalState::pending)
            return conflict(fmt::format("proposal {} was {} by {}", id.text(), name_of(found.back().state),
                                        found.back().decided_by.value_or("")));
    }
    return found;
}

Result<Uploaded> Proposals::accept(const Caller& caller, const DatasetId& dataset, const std::vector<ProposalId>& ids) {
    const Dataset of = TRY(m_datasets.find(caller, {}, dataset.text(), Permission::dataset_write));
    Upload upload;
    upload.action = UploadAction::append;
    upload.name = of.name;
    upload.source = VersionSource::ui;
    upload.note = "proposals accepted by " + caller.name;
    for (Proposal& proposal : TRY(pending(dataset, ids))) {
        NewExample example;
        example.input = std::move(proposal.input);
        example.output = std::move(proposal.output);
        example.metadata = std::move(proposal.metadata);
        // The id of the proposal: when the mark below is lost, accepting it again changes nothing.
        example.example_id = proposal.id.text();
        if (proposal.source_trace)
            example.source = ExampleSource{proposal.source_project.value_or(""), *proposal.source_trace,
                                           proposal.source_span.value_or("")};
        upload.examples.push_back(std::move(example));
    }
    Uploaded uploaded = TRY(m_datasets.upload(caller, of.space_id, std::move(upload)));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const ProposalId& id : ids)
            TRY(transaction.execute(
                "UPDATE proposed_examples SET state = 'accepted', decided_by_name = ?, decided_at = "
                "? WHERE id = ? AND state = 'pending'",
                caller.name, now, id));
        return m_access.audit.record(
            transaction, caller,
            {"proposal_accept", of.space_id, dataset.text(), {{"examples", static_cast<int64_t>(ids.size())}}});
    }));
    return uploaded;
}

Result<> Proposals::reject(const Caller& caller, const DatasetId& dataset, const std::vector<ProposalId>& ids) {
    const Dataset of = TRY(m_datasets.find(caller, {}, dataset.text(), Permission::dataset_write));
    TRY(pending(dataset, ids));
    const Time now = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const ProposalId& id : ids)
            TRY(transaction.execute(
                "UPDATE proposed_examples SET state = 'rejected', decided_by_name = ?, decided_at = "
                "? WHERE id = ? AND state = 'pending'",
                caller.name, now, id));
        return m_access.audit.record(
            transaction, caller,
            {"proposal_reject", of.space_id, dataset.text(), {{"examples", static_cast<int64_t>(ids.size())}}});
    });
}

} // namespace hone::evaluate
