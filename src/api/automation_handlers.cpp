#include "api/automation_handlers.h"

#include "api/handlers.h"
#include "api/route.h"
#include "api/spans.h"

namespace hone::api {

using access::Permission;
using automation::Automation, automation::Slot;

namespace {

Result<AutomationServices*> services_of(const Call& call) {
    if (call.services.automations == nullptr) return unavailable("this server has no scheduler");
    return call.services.automations;
}

// The one that `{automation}` in the path names: by id, or by name within the space of the request.
Result<Automation> automation_in_path(const Call& call, const std::optional<std::string>& space,
                                      Permission permission) {
    const std::string& wanted = call.at("automation");
    std::optional<access::SpaceId> chosen;
    if (space || !parse_id<automation::AutomationTag>(wanted).ok())
        chosen = TRY(call.access().spaces.choose(call.caller, space));
    return TRY(services_of(call))->automations.find(call.caller, chosen, wanted, permission);
}

} // namespace

Result<List<Automation>> list_automations(const Call& call, const ListAutomations& query) {
    return TRY(services_of(call))
        ->automations.list(call.caller, TRY(call.access().spaces.choose(call.caller, query.space)),
                           {query.project, query.trigger}, TRY(page_of(query.limit, query.cursor)));
}

Result<One<Automation>> create_automation(const Call& call, const InSpace& query,
                                          const automation::NewAutomation& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return One<Automation>{TRY(TRY(services_of(call))->automations.create(call.caller, space, body))};
}

Result<One<Automation>> get_automation(const Call& call, const InSpace& query) {
    return One<Automation>{TRY(automation_in_path(call, query.space, Permission::automation_read))};
}

Result<One<Automation>> update_automation(const Call& call, const InSpace& query,
                                          const automation::AutomationChange& body) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_write));
    return One<Automation>{TRY(TRY(services_of(call))->automations.update(call.caller, found, body))};
}

Result<NoContent> delete_automation(const Call& call, const InSpace& query) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_write));
    TRY(TRY(services_of(call))->automations.remove(call.caller, found));
    return NoContent{};
}

Result<One<Slot>> run_automation(const Call& call, const InSpace& query) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_write));
    return One<Slot>{TRY(TRY(services_of(call))->automations.run_now(call.caller, found))};
}

Result<One<Automation>> pause_automation(const Call& call, const InSpace& query, const PauseAutomation& body) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_write));
    return One<Automation>{
        TRY(TRY(services_of(call))->automations.pause(call.caller, found, body.reason.value_or("")))};
}

Result<One<Automation>> resume_automation(const Call& call, const InSpace& query) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_write));
    return One<Automation>{TRY(TRY(services_of(call))->automations.resume(call.caller, found))};
}

Result<One<Automation>> rotate_automation_secret(const Call& call, const InSpace& query) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_write));
    return One<Automation>{TRY(TRY(services_of(call))->automations.rotate_secret(call.caller, found))};
}

Result<List<Slot>> list_slots(const Call& call, const ListSlots& query) {
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_read));
    return TRY(services_of(call))->automations.slots(found, query.outcome, TRY(page_of(query.limit, query.cursor)));
}

Result<List<NextFiring>> list_firings(const Call& call, const ListFirings& query) {
    const int64_t count = query.count.value_or(10);
    if (count < 1 || count > 100) return invalid("query parameter count must be between 1 and 100");
    const Automation found = TRY(automation_in_path(call, query.space, Permission::automation_read));
    List<NextFiring> list;
    for (const Time moment :
         automation::next_firings(found.trigger, call.services.clock.now(), static_cast<size_t>(count)))
        list.data.push_back({moment});
    return list;
}

Result<One<automation::TriggerPreview>> preview_trigger(const Call& call, const InSpace& query,
                                                        const PreviewTrigger& body) {
    const auto project = TRY(find_project(call, query.space, body.project, Permission::automation_read));
    const automation::Trigger trigger = TRY(automation::checked_trigger(body.trigger));
    const Time now = call.services.clock.now();
    if (trigger.type != automation::TriggerType::metric) {
        automation::TriggerPreview preview;
        preview.next = automation::next_firings(trigger, now, 10);
        return One<automation::TriggerPreview>{std::move(preview)};
    }
    TRY(find_project(call, query.space, body.project, Permission::project_read));
    if (call.services.spans == nullptr) return unavailable("this server keeps no traces");
    auto* store = TRY(call.services.spans->telemetry.store());
    return One<automation::TriggerPreview>{
        TRY(automation::dry_run(*store, project.id, trigger, body.cool_off_seconds.value_or(0), now))};
}

Result<List<PromptVariable>> list_prompt_variables(const Call&) {
    List<PromptVariable> list;
    for (const automation::Variable& variable : automation::variables())
        list.data.push_back({std::string(variable.name), variable.type, std::string(variable.doc), variable.only});
    return list;
}

Result<One<Delivered>> deliver_webhook(const Call& call, const RawBody& body) {
    AutomationServices* services = TRY(services_of(call));
    const auto id = parse_id<automation::AutomationTag>(call.at("automation"));
    automation::Delivery delivery;
    delivery.id = call.head.header("X-Hone-Delivery");
    delivery.timestamp = call.head.header("X-Hone-Timestamp");
    delivery.signature = call.head.header("X-Hone-Signature");
    delivery.content_type = call.head.header("Content-Type");
    delivery.body = body.bytes;
    // What is no id gets the same answer as a wrong signature.
    const Slot slot = TRY(
        services->automations.deliver(id.ok() ? id.value() : automation::AutomationId(std::string("auto_")), delivery));
    return One<Delivered>{{slot.id, slot.outcome}};
}

Result<One<automation::SchedulerState>> get_scheduler(const Call& call) {
    return One<automation::SchedulerState>{TRY(TRY(services_of(call))->scheduler.state())};
}

} // namespace hone::api
