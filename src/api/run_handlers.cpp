#include "api/run_handlers.h"

#include "api/path_id.h"
#include "api/route.h"

#include "harness/catalog.h"

#include <unistd.h>

namespace hone::api {

namespace {

Result<access::SpaceId> space_of(const Call& call, const std::optional<std::string>& space) {
    return call.access().spaces.choose(call.caller, space);
}

Result<run::RunId> run_in_path(const Call& call) {
    return id_in_path<run::RunTag>(call, "run");
}

} // namespace

Result<RunServices*> runs_of(const Call& call) {
    if (call.services.runs == nullptr) return unavailable("this server runs no workers");
    return call.services.runs;
}

Result<List<run::Preset>> list_presets(const Call& call, const ListInSpace& query) {
    return TRY(runs_of(call))
        ->presets.list(call.caller, TRY(space_of(call, query.space)), TRY(page_of(query.limit, query.cursor)));
}

Result<One<run::Preset>> create_preset(const Call& call, const InSpace& query, const CreatePreset& body) {
    return One<run::Preset>{TRY(TRY(runs_of(call))
                                    ->presets.create(call.caller, TRY(space_of(call, query.space)), body.name,
                                                     body.description.value_or(""), body.settings))};
}

Result<One<run::Preset>> get_preset(const Call& call, const InSpace& query) {
    return One<run::Preset>{
        TRY(TRY(runs_of(call))->presets.find(call.caller, TRY(space_of(call, query.space)), call.at("preset")))};
}

Result<One<run::Preset>> update_preset(const Call& call, const InSpace& query, const UpdatePreset& body) {
    return One<run::Preset>{TRY(TRY(runs_of(call))
                                    ->presets.update(call.caller, TRY(space_of(call, query.space)), call.at("preset"),
                                                     body.name, body.description, body.settings))};
}

Result<NoContent> delete_preset(const Call& call, const InSpace& query) {
    TRY(TRY(runs_of(call))->presets.remove(call.caller, TRY(space_of(call, query.space)), call.at("preset")));
    return NoContent{};
}

Result<List<run::PresetVersion>> list_preset_versions(const Call& call, const InSpace& query) {
    return List<run::PresetVersion>{
        TRY(TRY(runs_of(call))->presets.versions(call.caller, TRY(space_of(call, query.space)), call.at("preset"))),
        {}};
}

Result<List<HarnessView>> list_harnesses(const Call& call) {
    const auto installed = TRY(TRY(runs_of(call))->harnesses.list());
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

Result<List<run::Run>> list_runs(const Call& call, const ListRuns& query) {
    run::RunFilter filter{query.project, query.preset, query.automation, query.origin, {}, query.after};
    if (query.state)
        for (const std::string_view name : split(*query.state, ',')) {
            const auto state = parse_enum<run::State>(trim(name));
            if (!state) return invalid("query parameter state must be of " + json::detail::enum_choices<run::State>());
            filter.states.push_back(*state);
        }
    return TRY(runs_of(call))
        ->runs.list(call.caller, TRY(space_of(call, query.space)), filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<run::Run>> start_run(const Call& call, const InSpace& query, const run::StartRun& body) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.start(call.caller, TRY(space_of(call, query.space)), body))};
}

Result<One<run::Run>> get_run(const Call& call) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.find(call.caller, TRY(run_in_path(call))))};
}

Result<One<run::Manifest>> get_run_manifest(const Call& call) {
    return One<run::Manifest>{TRY(TRY(runs_of(call))->runs.manifest(call.caller, TRY(run_in_path(call))))};
}

// As JSON, or live for those who accept a stream of events.
Result<net::Response> get_run_events(const Call& call, const ListRunEvents& query) {
    RunServices& services = *TRY(runs_of(call));
    const run::RunId id = TRY(run_in_path(call));
    const int64_t limit = TRY(page_of(query.limit, {})).limit;
    int64_t after = query.after.value_or(0);
    if (after < 0) return invalid("query parameter after must not be negative");
    if (call.head.header("Accept").find("text/event-stream") == std::string_view::npos) {
        List<run::RunEvent> list;
        list.data = TRY(services.runs.events(call.caller, id, after, limit));
        return detail::respond(std::move(list));
    }
    TRY(services.runs.find(call.caller, id));
    if (const std::string_view last = call.head.header("Last-Event-ID"); !last.empty()) {
        const auto number = parse_integer(last);
        if (!number.ok() || number.value() < 0) return invalid("Last-Event-ID is not one of this stream");
        after = number.value();
    }
    if (!services.followers.has_room()) return busy("too many live transcripts are open; try again later");
    net::Response response;
    response.on_events = [&services, id, after](std::shared_ptr<net::EventStream> events) {
        services.followers.follow(id, after, std::move(events));
    };
    return response;
}

Result<One<run::RunEvent>> get_run_event(const Call& call) {
    const auto seq = parse_integer(call.at("seq"));
    if (!seq.ok()) return not_found("event");
    return One<run::RunEvent>{TRY(TRY(runs_of(call))->runs.event(call.caller, TRY(run_in_path(call)), seq.value()))};
}

Result<List<run::EgressRow>> list_run_egress(const Call& call, const ListRunEgress& query) {
    RunServices& services = *TRY(runs_of(call));
    const run::Run run = TRY(services.runs.find(call.caller, TRY(run_in_path(call))));
    const int64_t limit = TRY(page_of(query.limit, {})).limit;
    return List<run::EgressRow>{TRY(services.egress.after(run.id, query.after.value_or(0), limit)), {}};
}

Result<One<run::Run>> say_to_run(const Call& call, const SayToRun& body) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.say(call.caller, TRY(run_in_path(call)), body.text))};
}

Result<One<run::Run>> interrupt_run(const Call& call) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.interrupt(call.caller, TRY(run_in_path(call))))};
}

Result<One<run::Run>> cancel_run(const Call& call) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.cancel(call.caller, TRY(run_in_path(call))))};
}

Result<One<run::Run>> rerun(const Call& call, const Rerun& body) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.rerun(call.caller, TRY(run_in_path(call)), body.prompt))};
}

Result<One<run::Run>> fork_run(const Call& call, const ForkRun& body) {
    return One<run::Run>{TRY(TRY(runs_of(call))->runs.fork(call.caller, TRY(run_in_path(call)), body.prompt))};
}

} // namespace hone::api
