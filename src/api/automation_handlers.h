// Handlers of automations, their ledger, webhooks and the scheduler.
#pragma once

#include "api/automation_requests.h"
#include "api/automation_services.h"
#include "api/call.h"

namespace hone::api {

Result<List<automation::Automation>> list_automations(const Call&, const ListAutomations&);
Result<One<automation::Automation>> create_automation(const Call&, const InSpace&, const automation::NewAutomation&);
Result<One<automation::Automation>> get_automation(const Call&, const InSpace&);
Result<One<automation::Automation>> update_automation(const Call&, const InSpace&, const automation::AutomationChange&);
Result<NoContent> delete_automation(const Call&, const InSpace&);
Result<One<automation::Slot>> run_automation(const Call&, const InSpace&);
Result<One<automation::Automation>> pause_automation(const Call&, const InSpace&, const PauseAutomation&);
Result<One<automation::Automation>> resume_automation(const Call&, const InSpace&);
Result<One<automation::Automation>> rotate_automation_secret(const Call&, const InSpace&);
Result<List<automation::Slot>> list_slots(const Call&, const ListSlots&);
Result<List<NextFiring>> list_firings(const Call&, const ListFirings&);
Result<One<automation::TriggerPreview>> preview_trigger(const Call&, const InSpace&, const PreviewTrigger&);
Result<List<PromptVariable>> list_prompt_variables(const Call&);
Result<One<Delivered>> deliver_webhook(const Call&, const RawBody&);
Result<One<automation::SchedulerState>> get_scheduler(const Call&);

} // namespace hone::api
