// Datasets as workers see them: they read examples and propose new ones, which wait for a person's yes. The key of a
// run reads the datasets of its space without the examples that come from other projects. Thread-safe.
#pragma once

#include "evaluate/datasets/datasets.h"

namespace hone::evaluate {

struct ProposalTag {
    static constexpr std::string_view kind = "proposal";
};
using ProposalId = Id<ProposalTag>;

enum class ProposalState { pending, accepted, rejected };
constexpr auto enum_names(ProposalState) {
    return std::array{EnumName{ProposalState::pending, "pending"}, EnumName{ProposalState::accepted, "accepted"},
                      EnumName{ProposalState::rejected, "rejected"}};
}

struct Proposal {
    ProposalId id;
    json::Value input = json::Object{};
    json::Value output = json::Object{};
    json::Value metadata = json::Object{};
    std::string reason;
    std::optional<std::string> source_project;
    std::optional<std::string> source_trace;
    std::optional<std::string> source_span;
    ProposalState state = ProposalState::pending;
    std::string proposed_by;
    std::optional<std::string> run_id;
    Time created_at{};
    std::optional<std::string> decided_by;
    std::optional<Time> decided_at;
    static constexpr Pack fields{
        Field{"id", &Proposal::id, "Id of the proposal; the example gets it as its external id."},
        Field{"input", &Proposal::input, "An object."},
        Field{"output", &Proposal::output, "Reference output, an object."},
        Field{"metadata", &Proposal::metadata, "An object."},
        Field{"reason", &Proposal::reason, "Why it should be in the dataset."},
        Field{"source_project", &Proposal::source_project, "Id of the project of its trace."},
        Field{"source_trace", &Proposal::source_trace, "Trace that it comes from."},
        Field{"source_span", &Proposal::source_span, "Span that it comes from."},
        Field{"state", &Proposal::state, "pending, accepted or rejected."},
        Field{"proposed_by", &Proposal::proposed_by, "Name of the key."},
        Field{"run_id", &Proposal::run_id, "Run of the worker."},
        Field{"created_at", &Proposal::created_at, "Time of the proposal."},
        Field{"decided_by", &Proposal::decided_by, "Who accepted or rejected it."},
        Field{"decided_at", &Proposal::decided_at, "Time of the decision."},
    };
};

struct NewProposal {
    json::Value input;
    json::Defaulted<json::Value> output = json::Value(json::Object{});
    json::Defaulted<json::Value> metadata = json::Value(json::Object{});
    json::Defaulted<std::string> reason;
    std::optional<std::string> trace_id;
    std::optional<std::string> span_id;
    static constexpr Pack fields{
        Field{"input", &NewProposal::input, "Input of the example, an object."},
        Field{"output", &NewProposal::output, "Reference output, an object."},
        Field{"metadata", &NewProposal::metadata, "An object."},
        Field{"reason", &NewProposal::reason, "Why it should be in the dataset, for the person who decides."},
        Field{"trace_id", &NewProposal::trace_id, "Trace of the run's project that it comes from."},
        Field{"span_id", &NewProposal::span_id, "Span of this trace."},
    };
};

struct Proposed {
    int64_t added = 0;
    int64_t known = 0;
    int64_t redacted = 0;
    static constexpr Pack fields{
        Field{"added", &Proposed::added, "Proposals that wait for a person now."},
        Field{"known", &Proposed::known, "Left out: the dataset has or had a proposal with this content."},
        Field{"redacted", &Proposed::redacted, "Texts from which a credential was removed."},
    };
};

constexpr size_t most_proposals_at_once = 50;
constexpr int64_t most_pending_proposals = 1000;
constexpr size_t largest_proposal = 256 << 10; // bytes of JSON

class Proposals {
public:
    Proposals(sql::Database& database, const Clock& clock, access::Access& access, Datasets& datasets)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_datasets(datasets) {}

    // For tools. A run's key needs project_read in its project, others dataset_read; to propose, others need
    // dataset_write.
    Result<access::Page<Dataset>> datasets_for_tool(const access::Caller& caller, const access::SpaceId& space,
                                                    const access::PageRequest& page) const;
    // Of the newest version; `after` is a position. `next`: of the following call; absent at the end.
    Result<std::vector<Example>> examples_for_tool(const access::Caller& caller, const access::SpaceId& space,
                                                   std::string_view dataset, int64_t after, int64_t limit,
                                                   std::optional<int64_t>& next) const;
    Result<Proposed> propose(const access::Caller& caller, const access::SpaceId& space, std::string_view dataset,
                             const std::vector<NewProposal>& proposals);

    // Oldest first.
    Result<access::Page<Proposal>> list(const access::Caller& caller, const DatasetId& dataset, ProposalState state,
                                        const access::PageRequest& page) const;
    // Adds the examples to the dataset. Accepting one twice adds it once.
    Result<Uploaded> accept(const access::Caller& caller, const DatasetId& dataset, const std::vector<ProposalId>& ids);
    Result<> reject(const access::Caller& caller, const DatasetId& dataset, const std::vector<ProposalId>& ids);

private:
    Result<Dataset> find_for_tool(const access::Caller& caller, const access::SpaceId& space, std::string_view dataset,
                                  access::Permission permission) const;
    Result<std::vector<Proposal>> pending(const DatasetId& dataset, const std::vector<ProposalId>& ids) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Datasets& m_datasets;
};

} // namespace hone::evaluate
