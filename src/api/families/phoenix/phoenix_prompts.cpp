// Prompts, their versions and tags in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/node_id.h"
#include "evaluate/evaluate.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct NewPromptData {
    static constexpr bool ignores_unknown = true;
    std::string name;
    std::optional<std::string> description;
    std::optional<std::string> source_prompt_id;
    std::optional<std::map<std::string, json::Value>> metadata;
    static constexpr Pack fields{
        Field{"name", &NewPromptData::name, "Letters in lower case, digits, - and _."},
        Field{"description", &NewPromptData::description, "Of a new prompt."},
        Field{"source_prompt_id", &NewPromptData::source_prompt_id, "Prompt that it is copied from."},
        Field{"metadata", &NewPromptData::metadata, "Of a new prompt."},
    };
};

struct CreatePrompt {
    static constexpr bool ignores_unknown = true;
    NewPromptData prompt;
    std::map<std::string, json::Value> version;
    static constexpr Pack fields{
        Field{"prompt", &CreatePrompt::prompt, "The prompt is made when there is none with this name."},
        Field{"version", &CreatePrompt::version,
              "model_provider, model_name, template, template_type, template_format, invocation_parameters, tools, "
              "response_format, description."},
    };
};

struct ChangePrompt {
    static constexpr bool ignores_unknown = true;
    std::optional<std::optional<std::string>> description;
    std::optional<std::map<std::string, json::Value>> metadata;
    static constexpr Pack fields{
        Field{"description", &ChangePrompt::description, "null: none."},
        Field{"metadata", &ChangePrompt::metadata, "Replaces the metadata."},
    };
};

struct PromptView {
    std::string id;
    std::string name;
    std::optional<std::string> description;
    std::optional<std::string> source_prompt_id;
    json::Value metadata;
    static constexpr Pack fields{
        Field{"id", &PromptView::id, ""},
        Field{"name", &PromptView::name, "Unique in the space."},
        Field{"description", &PromptView::description, ""},
        Field{"source_prompt_id", &PromptView::source_prompt_id, ""},
        Field{"metadata", &PromptView::metadata, "An object."},
    };
};

struct PromptTagView {
    std::string id;
    std::string name;
    std::optional<std::string> description;
    static constexpr Pack fields{
        Field{"id", &PromptTagView::id, ""},
        Field{"name", &PromptTagView::name, "Unique in the prompt."},
        Field{"description", &PromptTagView::description, ""},
    };
};

struct SetPromptTag {
    static constexpr bool ignores_unknown = true;
    std::string name;
    std::optional<std::string> description;
    static constexpr Pack fields{
        Field{"name", &SetPromptTag::name, "Letters in lower case, digits, - and _."},
        Field{"description", &SetPromptTag::description, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<evaluate::Prompt> prompt_in_path(const Call& call, const std::optional<std::string>& space,
                                        access::Permission permission = access::Permission::dataset_read) {
    const auto where = TRY(space_of(call, space));
    return call.services.evaluate.prompts.find(call.caller, where, plain_id("Prompt", call.at("prompt")), permission);
}

Result<evaluate::PromptVersionId> prompt_version_in_path(const Call& call) {
    return read_node_id<evaluate::PromptVersionTag>("PromptVersion", "prompt version", call.at("prompt_version"));
}

PromptView prompt_view(const evaluate::Prompt& prompt) {
    PromptView view{make_node_id("Prompt", prompt.id), prompt.name, or_null(prompt.description), {}, prompt.metadata};
    if (prompt.source_id) view.source_prompt_id = make_node_id("Prompt", *prompt.source_id);
    return view;
}

// The content as it was sent, with the id.
json::Value prompt_version_view(const evaluate::PromptVersion& version) {
    json::Value view = version.content;
    view.as_object()["id"] = make_node_id("PromptVersion", version.id);
    return view;
}

} // namespace

Result<List<PromptView>> list_prompts(const Call& call, const ListInSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    auto page = TRY(page_of(query.limit, query.cursor));
    // Clients that read one page expect all of them.
    if (!query.limit) page.limit = access::largest_page;
    const auto found = TRY(call.services.evaluate.prompts.list(call.caller, space, page));
    List<PromptView> list{{}, found.next_cursor};
    for (const auto& prompt : found.data) list.data.push_back(prompt_view(prompt));
    return list;
}

Result<One<json::Value>> create_prompt(const Call& call, const InSpace& query, const CreatePrompt& body) {
    const auto space = TRY(space_of(call, query.space));
    evaluate::NewPrompt wanted;
    wanted.name = body.prompt.name;
    wanted.description = body.prompt.description;
    if (body.prompt.metadata) wanted.metadata = json::to_value(*body.prompt.metadata);
    if (body.prompt.source_prompt_id)
        wanted.source = TRY(read_node_id<evaluate::PromptTag>("Prompt", "prompt", *body.prompt.source_prompt_id));
    return One<json::Value>{prompt_version_view(
        TRY(call.services.evaluate.prompts.add_version(call.caller, space, wanted, json::to_value(body.version))))};
}

Result<One<PromptView>> change_prompt(const Call& call, const InSpace& query, const ChangePrompt& body) {
    const auto prompt = TRY(prompt_in_path(call, query.space, access::Permission::prompt_write));
    evaluate::PromptChange change;
    if (body.description) change.description = body.description->value_or("");
    if (body.metadata) change.metadata = json::to_value(*body.metadata);
    return One<PromptView>{prompt_view(TRY(call.services.evaluate.prompts.update(call.caller, prompt.id, change)))};
}

Result<NoContent> delete_prompt(const Call& call, const InSpace& query) {
    const auto prompt = TRY(prompt_in_path(call, query.space, access::Permission::prompt_write));
    TRY(call.services.evaluate.prompts.remove(call.caller, prompt.id));
    return NoContent{};
}

Result<List<json::Value>> list_prompt_versions(const Call& call, const ListInSpace& query) {
    const auto prompt = TRY(prompt_in_path(call, query.space));
    const auto found =
        TRY(call.services.evaluate.prompts.versions(call.caller, prompt.id, TRY(page_of(query.limit, query.cursor))));
    List<json::Value> list{{}, found.next_cursor};
    for (const auto& version : found.data) list.data.push_back(prompt_version_view(version));
    return list;
}

Result<One<json::Value>> latest_prompt_version(const Call& call, const InSpace& query) {
    const auto prompt = TRY(prompt_in_path(call, query.space));
    return One<json::Value>{prompt_version_view(TRY(call.services.evaluate.prompts.latest(call.caller, prompt.id)))};
}

Result<One<json::Value>> tagged_prompt_version(const Call& call, const InSpace& query) {
    const auto prompt = TRY(prompt_in_path(call, query.space));
    return One<json::Value>{
        prompt_version_view(TRY(call.services.evaluate.prompts.tagged(call.caller, prompt.id, call.at("tag"))))};
}

Result<One<json::Value>> get_prompt_version(const Call& call) {
    const auto id = TRY(prompt_version_in_path(call));
    return One<json::Value>{prompt_version_view(TRY(call.services.evaluate.prompts.version(call.caller, id)))};
}

Result<List<PromptTagView>> list_prompt_tags(const Call& call, const PageQuery& query) {
    const auto id = TRY(prompt_version_in_path(call));
    const auto found =
        TRY(call.services.evaluate.prompts.tags(call.caller, id, TRY(page_of(query.limit, query.cursor))));
    List<PromptTagView> list{{}, found.next_cursor};
    for (const auto& mark : found.data)
        list.data.push_back({make_node_id("PromptVersionTag", mark.id), mark.name, or_null(mark.description)});
    return list;
}

Result<NoContent> set_prompt_tag(const Call& call, const SetPromptTag& body) {
    const auto id = TRY(prompt_version_in_path(call));
    TRY(call.services.evaluate.prompts.set_tag(call.caller, id, body.name, body.description.value_or("")));
    return NoContent{};
}

Result<NoContent> delete_prompt_tag(const Call& call) {
    const auto id = TRY(prompt_version_in_path(call));
    TRY(call.services.evaluate.prompts.remove_tag(call.caller, id, call.at("tag")));
    return NoContent{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_prompts_table[] = {
    route<list_prompts>("GET", "/v1/prompts", need(dataset_read), "Prompts of a space, newest first.").like_phoenix(),
    route<create_prompt>("POST", "/v1/prompts", need(prompt_write),
                         "Add a version to a prompt; the prompt is made when there is none.")
        .like_phoenix(),
    route<change_prompt>("PATCH", "/v1/prompts/{prompt}", need(prompt_write),
                         "Change the description or metadata of a prompt.")
        .like_phoenix(),
    route<delete_prompt>("DELETE", "/v1/prompts/{prompt}", need(prompt_write), "Delete a prompt with its versions.")
        .like_phoenix(),
    route<list_prompt_versions>("GET", "/v1/prompts/{prompt}/versions", need(dataset_read),
                                "Versions of a prompt, newest first.")
        .like_phoenix(),
    route<latest_prompt_version>("GET", "/v1/prompts/{prompt}/latest", need(dataset_read),
                                 "The newest version of a prompt.")
        .like_phoenix(),
    route<tagged_prompt_version>("GET", "/v1/prompts/{prompt}/tags/{tag}", need(dataset_read),
                                 "The version of a prompt with this tag.")
        .like_phoenix(),
    route<get_prompt_version>("GET", "/v1/prompt_versions/{prompt_version}", need(dataset_read),
                              "A version of a prompt.")
        .like_phoenix(),
    route<list_prompt_tags>("GET", "/v1/prompt_versions/{prompt_version}/tags", need(dataset_read),
                            "Tags of a version of a prompt.")
        .like_phoenix(),
    route<set_prompt_tag>("POST", "/v1/prompt_versions/{prompt_version}/tags", need(prompt_write),
                          "Give a version a tag; another version of the prompt loses it.")
        .like_phoenix(),
    route<delete_prompt_tag>("DELETE", "/v1/prompt_versions/{prompt_version}/tags/{tag}", need(prompt_write),
                             "Remove a tag of a version.")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_prompts_routes() {
    return phoenix_prompts_table;
}

} // namespace hone::api
