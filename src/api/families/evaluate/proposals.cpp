// Examples that workers propose for a dataset: list them, accept them into it, reject them.
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "evaluate/evaluate.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListProposals {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<evaluate::ProposalState> state;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListProposals::space, "Id or name of the space; the caller's first one if not given."},
        Field{"state", &ListProposals::state, "pending (if not given), accepted or rejected."},
        Field{"limit", &ListProposals::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListProposals::cursor, "next_cursor of the previous response."},
    };
};

struct DecideProposals {
    std::vector<evaluate::ProposalId> ids;
    static constexpr Pack fields{
        Field{"ids", &DecideProposals::ids, "Ids of pending proposals, at most 200."},
    };
};

struct AcceptedProposals {
    std::string version_id;
    int64_t examples = 0;
    static constexpr Pack fields{
        Field{"version_id", &AcceptedProposals::version_id, "Newest version of the dataset."},
        Field{"examples", &AcceptedProposals::examples, "Examples that were added."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<List<evaluate::Proposal>> list_proposals(const Call& call, const ListProposals& query) {
    const auto id = TRY(dataset_in_path(call, query.space)).id;
    return call.services.evaluate.proposals.list(call.caller, id,
                                                 query.state.value_or(evaluate::ProposalState::pending),
                                                 TRY(page_of(query.limit, query.cursor)));
}

Result<One<AcceptedProposals>> accept_proposals(const Call& call, const InSpace& query, const DecideProposals& body) {
    const auto id = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write)).id;
    const auto accepted = TRY(call.services.evaluate.proposals.accept(call.caller, id, body.ids));
    return One<AcceptedProposals>{{make_node_id("DatasetVersion", accepted.version), accepted.created}};
}

Result<Nothing> reject_proposals(const Call& call, const InSpace& query, const DecideProposals& body) {
    const auto id = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write)).id;
    TRY(call.services.evaluate.proposals.reject(call.caller, id, body.ids));
    return Nothing{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route proposals_table[] = {
    route<list_proposals>("GET", "/v1/datasets/{dataset}/proposals", need(dataset_read),
                          "Examples that workers propose, oldest first."),
    route<accept_proposals>("POST", "/v1/datasets/{dataset}/proposals/accept", need(dataset_write),
                            "Add proposed examples to the dataset."),
    route<reject_proposals>("POST", "/v1/datasets/{dataset}/proposals/reject", need(dataset_write),
                            "Reject proposed examples; the same content cannot be proposed again."),
};

} // namespace

std::span<const Route> proposals_routes() {
    return proposals_table;
}

} // namespace hone::api
