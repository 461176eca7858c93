// Presets and harnesses.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "harness/catalog.h"
#include "run/run_services.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct CreatePreset {
    std::string name;
    std::optional<std::string> description;
    run::Settings settings;
    static constexpr std::tuple fields{
        Field{"name", &CreatePreset::name, "Unique in the space."},
        Field{"description", &CreatePreset::description, "Purpose, as text."},
        Field{"settings", &CreatePreset::settings, "Settings of its runs."},
    };
};

struct UpdatePreset {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<run::Settings> settings;
    static constexpr std::tuple fields{
        Field{"name", &UpdatePreset::name, "Unique in the space."},
        Field{"description", &UpdatePreset::description, "Purpose, as text."},
        Field{"settings", &UpdatePreset::settings, "Replaces all settings; creates a version when they differ."},
    };
};

// A harness as the server has it.
struct HarnessView {
    std::string name;
    std::string title;
    std::vector<std::string> protocols;
    bool live_follow_up = true;
    bool resumes = true;
    bool ready = false;
    std::optional<std::string> version;
    std::optional<std::string> advice;
    static constexpr std::tuple fields{
        Field{"name", &HarnessView::name, "Name in presets."},
        Field{"title", &HarnessView::title, "Name for people."},
        Field{"protocols", &HarnessView::protocols, "Model protocols it supports; none: it needs no model."},
        Field{"live_follow_up", &HarnessView::live_follow_up, "Accepts a message during a turn."},
        Field{"resumes", &HarnessView::resumes, "Continues its conversation in a new sandbox."},
        Field{"ready", &HarnessView::ready, "It can be used on this server."},
        Field{"version", &HarnessView::version, "Installed version."},
        Field{"advice", &HarnessView::advice, "What to do when it is not ready."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<List<run::Preset>> list_presets(const Call& call, const ListInSpace& query) {
    return call.services.run.presets.list(call.caller, TRY(space_of(call, query.space)),
                                          TRY(page_of(query.limit, query.cursor)));
}

Result<One<run::Preset>> create_preset(const Call& call, const InSpace& query, const CreatePreset& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<run::Preset>{TRY(
        call.services.run.presets.create(call.caller, space, body.name, body.description.value_or(""), body.settings))};
}

Result<One<run::Preset>> get_preset(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<run::Preset>{TRY(call.services.run.presets.find(call.caller, space, call.at("preset")))};
}

Result<One<run::Preset>> update_preset(const Call& call, const InSpace& query, const UpdatePreset& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<run::Preset>{TRY(call.services.run.presets.update(call.caller, space, call.at("preset"), body.name,
                                                                 body.description, body.settings))};
}

Result<NoContent> delete_preset(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    TRY(call.services.run.presets.remove(call.caller, space, call.at("preset")));
    return NoContent{};
}

Result<List<run::PresetVersion>> list_preset_versions(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return List<run::PresetVersion>{TRY(call.services.run.presets.versions(call.caller, space, call.at("preset"))), {}};
}

Result<List<HarnessView>> list_harnesses(const Call& call) {
    const auto installed = TRY(call.services.run.harnesses.list());
    List<HarnessView> list;
    for (const harness::Harness& known : harness::catalog()) {
        HarnessView view;
        view.name = known.name;
        view.title = known.title;
        for (const std::string_view protocol : split(known.protocols, ' '))
            if (!protocol.empty()) view.protocols.emplace_back(protocol);
        view.live_follow_up = known.live_follow_up;
        view.resumes = known.resumes;
        view.ready = known.package.empty();
        for (const run::InstalledHarness& one : installed)
            if (one.name == known.name && !view.version) view.version = one.version;
        if (view.version) view.ready = true;
        if (!view.ready) view.advice = "On the server: hone harness install " + view.name;
        list.data.push_back(std::move(view));
    }
    return list;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route presets_table[] = {
    route<list_presets>("GET", "/v1/presets", need(preset_read), "Presets of a space."),
    route<create_preset>("POST", "/v1/presets", need(preset_write), "Create a preset."),
    route<get_preset>("GET", "/v1/presets/{preset}", need(preset_read), "A preset by id or name."),
    route<update_preset>("PATCH", "/v1/presets/{preset}", need(preset_write),
                         "Change a preset; new settings create a version."),
    route<delete_preset>("DELETE", "/v1/presets/{preset}", need(preset_write), "Delete a preset; its runs are kept."),
    route<list_preset_versions>("GET", "/v1/presets/{preset}/versions", need(preset_read),
                                "Versions of a preset with their changes, newest first."),
    route<list_harnesses>("GET", "/v1/harnesses", login, "Harnesses, and whether this server can run them."),
};

} // namespace

std::span<const Route> presets_routes() {
    return presets_table;
}

} // namespace hone::api
