// Query strings, bodies and answers of the routes about automations, declared once.
#pragma once

#include "api/requests.h"
#include "automation/automations.h"
#include "automation/metric.h"
#include "automation/prompt_template.h"

namespace hone::api {

struct ListAutomations {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<automation::TriggerType> trigger;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListAutomations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListAutomations::project, "Id or name: only its automations."},
        Field{"trigger", &ListAutomations::trigger, "cron, metric, monitor, webhook or managed."},
        Field{"limit", &ListAutomations::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListAutomations::cursor, "next_cursor of the answer before."},
    };
};

struct ListSlots {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<automation::SlotOutcome> outcome;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListSlots::space, "Id or name of the space, when the automation is named by its name."},
        Field{"outcome", &ListSlots::outcome, "due, fired, skipped or failed."},
        Field{"limit", &ListSlots::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListSlots::cursor, "next_cursor of the answer before."},
    };
};

struct ListFirings {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> count;
    static constexpr std::tuple fields{
        Field{"space", &ListFirings::space, "Id or name of the space, when the automation is named by its name."},
        Field{"count", &ListFirings::count, "How many, 1 to 100; 10 if not given."},
    };
};

struct NextFiring {
    Time due_at{};
    static constexpr std::tuple fields{
        Field{"due_at", &NextFiring::due_at, "When it is due."},
    };
};

struct PauseAutomation {
    std::optional<std::string> reason;
    static constexpr std::tuple fields{
        Field{"reason", &PauseAutomation::reason, "Shown with the automation and with every skipped moment."},
    };
};

struct PreviewTrigger {
    std::string project;
    automation::Trigger trigger;
    std::optional<int64_t> cool_off_seconds;
    static constexpr std::tuple fields{
        Field{"project", &PreviewTrigger::project, "Id or name of the project whose data is looked at."},
        Field{"trigger", &PreviewTrigger::trigger, "A trigger that need not be saved."},
        Field{"cool_off_seconds", &PreviewTrigger::cool_off_seconds, "As the automation would have it."},
    };
};

struct Delivered {
    automation::SlotId slot_id;
    automation::SlotOutcome outcome = automation::SlotOutcome::due;
    static constexpr std::tuple fields{
        Field{"slot_id", &Delivered::slot_id, "The due moment that it made; the same for the same delivery id."},
        Field{"outcome", &Delivered::outcome, "What has become of it so far."},
    };
};

struct PromptVariable {
    std::string name;
    automation::VariableType type = automation::VariableType::name;
    std::string doc;
    std::optional<automation::TriggerType> trigger;
    static constexpr std::tuple fields{
        Field{"name", &PromptVariable::name, "Written {{name}} in a prompt."},
        Field{"type", &PromptVariable::type, "What its text can be."},
        Field{"doc", &PromptVariable::doc, "What it stands for."},
        Field{"trigger", &PromptVariable::trigger, "Only for triggers of this type; null: for all."},
    };
};

} // namespace hone::api
