// Automations and their slots.
#include "api/routes.h"

#include "api/automation_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route automation_table[] = {
    route<list_automations>("GET", "/v1/automations", need(automation_read), "Automations of a space."),
    route<create_automation>("POST", "/v1/automations", need(automation_write),
                             "Create an automation; the secret of a webhook is shown once.")
        .secret(),
    route<get_automation>("GET", "/v1/automations/{automation}", need(automation_read), "An automation by id or name."),
    route<update_automation>("PATCH", "/v1/automations/{automation}", need(automation_write),
                             "Change an automation; from then on its runs have the rights of the caller.")
        .secret(),
    route<delete_automation>("DELETE", "/v1/automations/{automation}", need(automation_write),
                             "Delete an automation and its ledger; its runs stay."),
    route<run_automation>("POST", "/v1/automations/{automation}/run", need(automation_write),
                          "Run it now; answers the due moment that this makes."),
    route<pause_automation>("POST", "/v1/automations/{automation}/pause", need(automation_write),
                            "Skip its due moments until it is resumed."),
    route<resume_automation>("POST", "/v1/automations/{automation}/resume", need(automation_write),
                             "Let it fire again; forgets its failures."),
    route<rotate_automation_secret>("POST", "/v1/automations/{automation}/rotate_secret", need(automation_write),
                                    "A new secret for its webhook, shown once; the old one is no good any more.")
        .secret(),
    route<list_slots>("GET", "/v1/automations/{automation}/slots", need(automation_read),
                      "Every due moment and what became of it, newest first."),
    route<list_firings>("GET", "/v1/automations/{automation}/firings", need(automation_read),
                        "The next firings of a cron schedule."),
    route<preview_trigger>("POST", "/v1/automation_preview", need(automation_read),
                           "What a trigger will do next (cron) or would have done in the last seven days (metric).")
        .on(net::Lane::query),
    route<list_prompt_variables>("GET", "/v1/prompt_variables", login,
                                 "Variables that prompts of automations can use."),
    route<deliver_webhook>("POST", "/v1/hooks/{automation}", guest,
                           "Deliver a webhook, signed by X-Hone-Signature; the same X-Hone-Delivery counts once.")
        .takes("*/*")
        .with_body_limit(automation::largest_delivery),
    route<get_scheduler>("GET", "/v1/scheduler", login,
                         "Whether automations are looked after: the scheduler's heartbeat."),
};

} // namespace

std::span<const Route> automation_routes() {
    return automation_table;
}

} // namespace hone::api
