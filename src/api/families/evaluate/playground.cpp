// The playground: one call of a model with a prompt, as Server-Sent Events; and tags of prompts that are protected.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/node_id.h"
#include "evaluate/evaluate.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ProtectTag {
    std::string name;
    static constexpr Pack fields{
        Field{"name", &ProtectTag::name, "Name of the tag: letters in lower case, digits, - and _."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<net::Response> run_playground(const Call& call, const InSpace& query, const evaluate::PlaygroundRun& body) {
    const auto space = TRY(space_of(call, query.space));
    evaluate::Playground& playground = call.services.evaluate.playground;
    evaluate::PlaygroundRun wanted = body;
    wanted.prompt = plain_id("PromptVersion", *wanted.prompt);
    auto prepared = TRY(playground.prepare(call.caller, space, wanted));
    net::Response response;
    response.events_end = true;
    response.on_events = [&playground, prepared](const std::shared_ptr<net::EventStream>& events) {
        events->on_close([prepared] { prepared->cancel(); });
        playground.start(
            prepared,
            [events](std::string_view event, const std::string& data) { return events->send(event, "", data); },
            [events] { events->close(); });
    };
    return response;
}

Result<One<evaluate::CallsEstimate>> estimate_playground(const Call& call, const InSpace& query,
                                                         const evaluate::EstimateCalls& body) {
    const auto space = TRY(space_of(call, query.space));
    evaluate::EstimateCalls wanted = body;
    wanted.call.prompt = plain_id("PromptVersion", *wanted.call.prompt);
    wanted.dataset = plain_id("Dataset", *wanted.dataset);
    wanted.split = plain_id("DatasetSplit", *wanted.split);
    return One<evaluate::CallsEstimate>{TRY(call.services.evaluate.playground.estimate(call.caller, space, wanted))};
}

Result<List<evaluate::OfferedModel>> list_models(const Call& call, const InSpace& query,
                                                 const evaluate::ModelListRequest& body) {
    const auto space = TRY(space_of(call, query.space));
    return List<evaluate::OfferedModel>{TRY(call.services.evaluate.playground.list_models(call.caller, space, body)),
                                        {}};
}

Result<List<evaluate::ProtectedPromptTag>> list_protected_tags(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return List<evaluate::ProtectedPromptTag>{TRY(call.services.evaluate.prompts.protected_tags(call.caller, space)),
                                              {}};
}

Result<One<evaluate::ProtectedPromptTag>> protect_tag(const Call& call, const InSpace& query, const ProtectTag& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<evaluate::ProtectedPromptTag>{
        TRY(call.services.evaluate.prompts.protect_tag(call.caller, space, body.name))};
}

Result<Nothing> unprotect_tag(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    TRY(call.services.evaluate.prompts.unprotect_tag(call.caller, space, call.at("tag")));
    return Nothing{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route playground_table[] = {
    route<run_playground>("POST", "/v1/playground/run", need(run_start),
                          "Send a prompt to a model and receive the response as Server-Sent Events.")
        .raw("text/event-stream")
        .with_body_limit(4 << 20),
    route<estimate_playground>("POST", "/v1/playground/estimate", need(run_start),
                               "Tokens and cost that a call of a model, or one for each example of a dataset, is "
                               "likely to use; nothing is sent.")
        .with_body_limit(4 << 20),
    route<list_models>("POST", "/v1/model_lists", need(run_start),
                       "Models that a provider offers, from the provider itself; nothing is stored.")
        .secret(),
    route<list_protected_tags>("GET", "/v1/protected_prompt_tags", need(dataset_read),
                               "Tags of prompts that only members with space_update can set, move and remove."),
    route<protect_tag>("POST", "/v1/protected_prompt_tags", need(space_update),
                       "Protect a tag in all prompts of the space."),
    route<unprotect_tag>("DELETE", "/v1/protected_prompt_tags/{tag}", need(space_update),
                         "End the protection of a tag."),
};

} // namespace

std::span<const Route> playground_routes() {
    return playground_table;
}

} // namespace hone::api
