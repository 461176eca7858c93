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
    static constexpr Pack fields{
        Field{"name", &CreatePreset::name, "Unique in the space."},
        Field{"description", &CreatePreset::description, "Purpose, as text."},
        Field{"settings", &CreatePreset::settings, "Settings of its runs."},
    };
};

struct UpdatePreset {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<run::Settings> settings;
    static constexpr Pack fields{
        Field{"name", &UpdatePreset::name, "Unique in the space."},
        Field{"description", &UpdatePreset::description, "Purpose, as text."},
        Field{"settings", &UpdatePreset::settings, "Replaces all settings; creates a version when they differ."},
    };
};

// A harness as the server has it.
struct HarnessRun {
    run::RunId id;
    run::State state = run::State::succeeded;
    std::string reason;
    std::optional<Time> ended_at;
    static constexpr Pack fields{
        Field{"id", &HarnessRun::id, "Id of the run."},
        Field{"state", &HarnessRun::state, "Its outcome."},
        Field{"reason", &HarnessRun::reason, "Reason of the state."},
        Field{"ended_at", &HarnessRun::ended_at, "When it ended."},
    };
};

struct HarnessView {
    std::string name;
    std::string title;
    std::vector<std::string> protocols;
    bool live_follow_up = true;
    bool resumes = true;
    bool ready = false;
    std::optional<std::string> version;
    std::vector<std::string> versions;
    std::optional<run::NewestHarness> newest;
    std::optional<HarnessRun> last_run;
    std::optional<std::string> advice;
    static constexpr Pack fields{
        Field{"name", &HarnessView::name, "Name in presets."},
        Field{"title", &HarnessView::title, "Name for people."},
        Field{"protocols", &HarnessView::protocols, "Model protocols it supports; none: it needs no model."},
        Field{"live_follow_up", &HarnessView::live_follow_up, "Accepts a message during a turn."},
        Field{"resumes", &HarnessView::resumes, "Continues its conversation in a new sandbox."},
        Field{"ready", &HarnessView::ready, "It can be used on this server."},
        Field{"version", &HarnessView::version, "Installed version that runs use unless their preset pins another."},
        Field{"versions", &HarnessView::versions, "All installed versions, newest installation first."},
        Field{"newest", &HarnessView::newest,
              "Newest version that `hone harness upgrade` found; null before its first check."},
        Field{"last_run", &HarnessView::last_run,
              "Newest run of the space that ended by itself; null: none, or the caller cannot read runs."},
        Field{"advice", &HarnessView::advice, "What to do when it is not ready."},
    };
};

struct InstallHarness {
    std::string harness;
    json::Defaulted<std::string> version;
    static constexpr Pack fields{
        Field{"harness", &InstallHarness::harness, "Name of the harness, such as claude-code."},
        Field{"version", &InstallHarness::version, "Version of its npm package; the newest if not given."},
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

namespace {

// Health is of a space: others' runs are not shown, nor to callers who read no runs.
Result<std::optional<HarnessRun>> last_run_of(const Call& call, const std::optional<access::SpaceId>& space,
                                              std::string_view harness) {
    if (!space) return std::optional<HarnessRun>();
    using enum run::State;
    run::RunFilter filter;
    filter.harness = std::string(harness);
    filter.states = {succeeded, failed, timed_out, budget_stopped, lost};
    access::PageRequest one;
    one.limit = 1;
    const auto found = call.services.run.runs.list(call.caller, *space, filter, one);
    if (!found.ok() && (found.error().code == Code::forbidden || found.error().code == Code::not_found))
        return std::optional<HarnessRun>();
    if (!found.ok()) return found.error();
    if (found.value().data.empty()) return std::optional<HarnessRun>();
    const run::Run& last = found.value().data.front();
    return std::optional(HarnessRun{last.id, last.state, last.reason, last.ended_at});
}

} // namespace

Result<List<HarnessView>> list_harnesses(const Call& call, const InSpace& query) {
    const auto space = space_of(call, query.space);
    if (!space.ok() && query.space) return space.error();
    const std::optional<access::SpaceId> shown = space.ok() ? std::optional(space.value()) : std::nullopt;
    const auto installed = TRY(call.services.run.harnesses.list());
    List<HarnessView> list;
    for (const harness::Harness& known : harness::catalog()) {
        if (const auto owner = run::owner_of_harness(known.name); owner && !call.services.run.providers.has(*owner))
            continue;
        HarnessView view;
        view.name = known.name;
        view.title = known.title;
        for (const std::string_view protocol : split(known.protocols, ' '))
            if (!protocol.empty()) view.protocols.emplace_back(protocol);
        view.live_follow_up = known.live_follow_up;
        view.resumes = known.resumes;
        view.ready = known.package.empty();
        for (const run::InstalledHarness& one : installed)
            if (one.name == known.name) view.versions.push_back(one.version);
        if (!view.versions.empty()) view.version = view.versions.front();
        if (view.version) view.ready = true;
        if (!known.package.empty()) view.newest = call.services.run.harnesses.newest(known.name);
        view.last_run = TRY(last_run_of(call, shown, known.name));
        if (!view.ready)
            view.advice = "Install it: hone server install " + view.name + ", or on the server: hone harness install " +
                          view.name + " --data-dir DIR";
        list.data.push_back(std::move(view));
    }
    return list;
}

Result<List<run::HarnessInstallation>> list_harness_installations(const Call& call) {
    return List<run::HarnessInstallation>{TRY(call.services.run.installer.list(call.caller)), {}};
}

Result<One<run::HarnessInstallation>> install_harness(const Call& call, const InstallHarness& body) {
    return One<run::HarnessInstallation>{
        TRY(call.services.run.installer.start(call.caller, body.harness, *body.version))};
}

Result<One<run::HarnessInstallation>> cancel_harness_installation(const Call& call) {
    return One<run::HarnessInstallation>{TRY(call.services.run.installer.cancel(call.caller, call.at("harness")))};
}

Result<List<run::ProviderView>> list_providers(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    const run::SpacePolicyView view = TRY(call.services.run.policies.find(call.caller, space));
    List<run::ProviderView> list{call.services.run.providers.list(), {}};
    for (run::ProviderView& one : list.data) {
        one.allowed = run::allows(view.policy, one.name);
        if (one.available && !one.allowed) one.advice = "The policy of the space does not allow it.";
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
    route<list_providers>("GET", "/v1/providers", need(space_read),
                          "Where runs can work, and what each provider does not have."),
    route<list_harnesses>("GET", "/v1/harnesses", login, "Harnesses, and whether this server can run them."),
    route<list_harness_installations>("GET", "/v1/harness_installations", need(user_manage),
                                      "The last installation of each harness since the server started."),
    route<install_harness>("POST", "/v1/harness_installations", need(user_manage),
                           "Install a harness on the server, from npm; one at a time."),
    route<cancel_harness_installation>("DELETE", "/v1/harness_installations/{harness}", need(user_manage),
                                       "Cancel the installation that runs."),
};

} // namespace

std::span<const Route> presets_routes() {
    return presets_table;
}

} // namespace hone::api
