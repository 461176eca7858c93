// Automations, their scheduled times and webhooks, the scheduler.
#include "automation/automations.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "automation/scheduler.h"
#include "telemetry/spans.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListAutomations {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<automation::TriggerType> trigger;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListAutomations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListAutomations::project, "Id or name of a project: only its automations."},
        Field{"trigger", &ListAutomations::trigger, "cron, metric, monitor, webhook or managed."},
        Field{"limit", &ListAutomations::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListAutomations::cursor, "next_cursor of the previous response."},
    };
};

struct ListSlots {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<automation::SlotOutcome> outcome;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListSlots::space,
              "Id or name of the space; used when the path has the name of the automation."},
        Field{"outcome", &ListSlots::outcome, "due, fired, skipped or failed."},
        Field{"limit", &ListSlots::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListSlots::cursor, "next_cursor of the previous response."},
    };
};

struct ListFirings {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> count;
    static constexpr Pack fields{
        Field{"space", &ListFirings::space,
              "Id or name of the space; used when the path has the name of the automation."},
        Field{"count", &ListFirings::count, "Number of firings, 1 to 100; 10 if not given."},
    };
};

struct NextFiring {
    Time due_at{};
    static constexpr Pack fields{
        Field{"due_at", &NextFiring::due_at, "Scheduled time."},
    };
};

struct PauseAutomation {
    std::optional<std::string> reason;
    static constexpr Pack fields{
        Field{"reason", &PauseAutomation::reason, "Shown with the automation and with each skipped time."},
    };
};

struct PreviewTrigger {
    std::string project;
    automation::Trigger trigger;
    std::optional<int64_t> cool_off_seconds;
    static constexpr Pack fields{
        Field{"project", &PreviewTrigger::project, "Id or name of the project whose data is used."},
        Field{"trigger", &PreviewTrigger::trigger, "The trigger; nothing is saved."},
        Field{"cool_off_seconds", &PreviewTrigger::cool_off_seconds, "cool_off_seconds of the automation."},
    };
};

struct Delivered {
    std::optional<automation::SlotId> slot_id;
    std::optional<automation::SlotOutcome> outcome;
    static constexpr Pack fields{
        Field{"slot_id", &Delivered::slot_id,
              "The slot that it created; the same for the same delivery. Null: the sender's test of the address."},
        Field{"outcome", &Delivered::outcome, "Outcome so far."},
    };
};

struct PromptVariable {
    std::string name;
    automation::VariableType type = automation::VariableType::name;
    std::string doc;
    std::optional<automation::TriggerType> trigger;
    static constexpr Pack fields{
        Field{"name", &PromptVariable::name, "Written {{name}} in a prompt."},
        Field{"type", &PromptVariable::type, "Type of its text."},
        Field{"doc", &PromptVariable::doc, "Meaning of the variable."},
        Field{"trigger", &PromptVariable::trigger, "Only for triggers of this type; null: for all."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// The one that `{automation}` in the path names: by id, or by name within the space of the request.
Result<automation::Automation> automation_in_path(const Call& call, const std::optional<std::string>& space,
                                                  access::Permission permission) {
    const std::string& wanted = call.at("automation");
    std::optional<access::SpaceId> chosen;
    if (space || !parse_id<automation::AutomationTag>(wanted).ok()) chosen = TRY(space_of(call, space));
    return call.services.automations.find(call.caller, chosen, wanted, permission);
}

} // namespace

Result<List<automation::Automation>> list_automations(const Call& call, const ListAutomations& query) {
    return call.services.automations.list(call.caller, TRY(space_of(call, query.space)), {query.project, query.trigger},
                                          TRY(page_of(query.limit, query.cursor)));
}

Result<One<automation::Automation>> create_automation(const Call& call, const InSpace& query,
                                                      const automation::NewAutomation& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<automation::Automation>{TRY(call.services.automations.create(call.caller, space, body))};
}

Result<One<automation::Automation>> get_automation(const Call& call, const InSpace& query) {
    return One<automation::Automation>{TRY(automation_in_path(call, query.space, access::Permission::automation_read))};
}

Result<One<automation::Automation>> update_automation(const Call& call, const InSpace& query,
                                                      const automation::AutomationChange& body) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_write));
    return One<automation::Automation>{TRY(call.services.automations.update(call.caller, found, body))};
}

Result<NoContent> delete_automation(const Call& call, const InSpace& query) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_write));
    TRY(call.services.automations.remove(call.caller, found));
    return NoContent{};
}

Result<One<automation::Slot>> run_automation(const Call& call, const InSpace& query) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_write));
    return One<automation::Slot>{TRY(call.services.automations.run_now(call.caller, found))};
}

Result<One<automation::Automation>> pause_automation(const Call& call, const InSpace& query,
                                                     const PauseAutomation& body) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_write));
    return One<automation::Automation>{
        TRY(call.services.automations.pause(call.caller, found, body.reason.value_or("")))};
}

Result<One<automation::Automation>> resume_automation(const Call& call, const InSpace& query) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_write));
    return One<automation::Automation>{TRY(call.services.automations.resume(call.caller, found))};
}

Result<One<automation::Automation>> rotate_automation_secret(const Call& call, const InSpace& query) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_write));
    return One<automation::Automation>{TRY(call.services.automations.rotate_secret(call.caller, found))};
}

Result<List<automation::Slot>> list_slots(const Call& call, const ListSlots& query) {
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_read));
    return call.services.automations.slots(found, query.outcome, TRY(page_of(query.limit, query.cursor)));
}

Result<List<NextFiring>> list_firings(const Call& call, const ListFirings& query) {
    const int64_t count = query.count.value_or(10);
    if (count < 1 || count > 100) return invalid("query parameter count must be between 1 and 100");
    const automation::Automation found =
        TRY(automation_in_path(call, query.space, access::Permission::automation_read));
    List<NextFiring> list;
    for (const Time moment :
         automation::next_firings(found.trigger, call.services.clock.now(), static_cast<size_t>(count)))
        list.data.push_back({moment});
    return list;
}

Result<One<automation::TriggerPreview>> preview_trigger(const Call& call, const InSpace& query,
                                                        const PreviewTrigger& body) {
    const auto project = TRY(find_project(call, query.space, body.project, access::Permission::automation_read));
    const automation::Trigger trigger = TRY(automation::checked_trigger(body.trigger));
    const Time now = call.services.clock.now();
    if (trigger.type != automation::TriggerType::metric) {
        automation::TriggerPreview preview;
        preview.next = automation::next_firings(trigger, now, 10);
        return One<automation::TriggerPreview>{std::move(preview)};
    }
    TRY(find_project(call, query.space, body.project, access::Permission::project_read));
    auto* store = TRY(call.services.spans.store());
    return One<automation::TriggerPreview>{
        TRY(automation::dry_run(*store, project.id, trigger, body.cool_off_seconds.value_or(0), now))};
}

Result<List<PromptVariable>> list_prompt_variables(const Call&) {
    List<PromptVariable> list;
    for (const automation::Variable& variable : automation::variables())
        list.data.push_back({std::string(variable.name), variable.type, std::string(variable.doc), variable.only});
    return list;
}

Result<net::Response> deliver_webhook(const Call& call, const RawBody& body) {
    const auto id = parse_id<automation::AutomationTag>(call.at("automation"));
    automation::Delivery delivery;
    delivery.header = [&](std::string_view name) { return std::string(call.head.header(name)); };
    delivery.body = body.bytes;
    // A malformed id gets the same response as a wrong signature.
    const automation::Received received = TRY(call.services.automations.deliver(
        id.ok() ? id.value() : automation::AutomationId(std::string("auto_")), delivery));
    if (received.challenge) // Slack wants it at the top
        return net::json_response(200, json::print(json::Object{{"challenge", *received.challenge}}));
    Delivered made;
    if (received.slot) made = {received.slot->id, received.slot->outcome};
    return net::json_response(200, json::print(json::Object{{"data", json::to_value(made)}}));
}

Result<One<automation::SchedulerState>> get_scheduler(const Call& call) {
    return One<automation::SchedulerState>{TRY(call.services.scheduler.state())};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route automations_table[] = {
    route<list_automations>("GET", "/v1/automations", need(automation_read), "Automations of a space."),
    route<create_automation>("POST", "/v1/automations", need(automation_write),
                             "Create an automation; the secret of a webhook is shown once.")
        .secret(),
    route<get_automation>("GET", "/v1/automations/{automation}", need(automation_read), "An automation by id or name."),
    route<update_automation>("PATCH", "/v1/automations/{automation}", need(automation_write),
                             "Change an automation; later runs have the permissions of the caller.")
        .secret(),
    route<delete_automation>("DELETE", "/v1/automations/{automation}", need(automation_write),
                             "Delete an automation and its history; its runs are kept."),
    route<run_automation>("POST", "/v1/automations/{automation}/run", need(automation_write),
                          "Run an automation now; returns the new slot."),
    route<pause_automation>("POST", "/v1/automations/{automation}/pause", need(automation_write),
                            "Pause an automation: scheduled times are skipped until it is resumed."),
    route<resume_automation>("POST", "/v1/automations/{automation}/resume", need(automation_write),
                             "Resume an automation; resets its failure count."),
    route<rotate_automation_secret>(
        "POST", "/v1/automations/{automation}/rotate_secret", need(automation_write),
        "Replace the webhook secret of an automation; it is shown once. The old secret is no longer accepted.")
        .secret(),
    route<list_slots>("GET", "/v1/automations/{automation}/slots", need(automation_read),
                      "Scheduled times of an automation and their outcomes, newest first."),
    route<list_firings>("GET", "/v1/automations/{automation}/firings", need(automation_read),
                        "The next firings of a cron schedule."),
    route<preview_trigger>(
        "POST", "/v1/automation_preview", need(automation_read),
        "Next firings of a trigger (cron), or firings that the last seven days would have had (metric).")
        .on(net::Lane::query),
    route<list_prompt_variables>("GET", "/v1/prompt_variables", login,
                                 "Variables that prompts of automations can use."),
    route<deliver_webhook>("POST", "/v1/hooks/{automation}", guest,
                           "Deliver a webhook, signed as its source does; a repeated delivery is ignored.")
        .takes("*/*")
        .raw("application/json")
        .with_body_limit(automation::largest_delivery),
    route<get_scheduler>("GET", "/v1/scheduler", login, "State of the scheduler of automations."),
};

} // namespace

std::span<const Route> automations_routes() {
    return automations_table;
}

} // namespace hone::api
