#include "api/usage_handlers.h"

namespace hone::api {

namespace {

constexpr Duration default_span = std::chrono::hours(24 * 30);

Result<broker::UsageLedger*> ledger_of(const Call& call) {
    if (call.services.usage == nullptr) return unavailable("this server has no model gateway");
    return call.services.usage;
}

Result<broker::Budgets*> budgets_of(const Call& call) {
    if (call.services.budgets == nullptr) return unavailable("this server has no model gateway");
    return call.services.budgets;
}

Result<std::string> day(const std::optional<std::string>& given, Time otherwise) {
    if (!given) return broker::day_of(otherwise);
    if (given->size() != 10 || !parse_time(*given + "T00:00:00Z").ok()) return invalid("a day is written 2026-01-31");
    return *given;
}

ModelUsageView view_of(const broker::UsageSum& sum) {
    ModelUsageView view;
    view.group = sum.group;
    view.calls = sum.calls;
    view.incomplete_calls = sum.incomplete_calls;
    view.failed_calls = sum.failed_calls;
    view.input_tokens = sum.tokens.input;
    view.cache_read_tokens = sum.tokens.cache_read;
    view.cache_write_tokens = sum.tokens.cache_write;
    view.output_tokens = sum.tokens.output;
    view.reasoning_tokens = sum.tokens.reasoning;
    view.total_tokens = sum.tokens.total();
    view.estimated_tokens = sum.estimated_tokens;
    view.cost_micro_usd = sum.cost_nano_usd / 1000;
    view.unpriced_calls = sum.unpriced_calls;
    return view;
}

} // namespace

Result<List<ModelUsageView>> list_model_usage(const Call& call, const ListModelUsage& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    TRY(call.caller.require(access::Permission::space_read, space));
    broker::UsageLedger& ledger = *TRY(ledger_of(call));
    broker::UsageQuery asked;
    asked.group_by = query.group_by.value_or(broker::UsageGroup::day);
    asked.from_day = TRY(day(query.from, call.services.clock.now() - default_span));
    asked.to_day = TRY(day(query.to, call.services.clock.now()));
    asked.run_id = query.run;
    asked.model = query.model;
    asked.limit = TRY(page_of(query.limit, std::nullopt)).limit;
    List<ModelUsageView> list;
    for (const broker::UsageSum& sum : TRY(ledger.report(call.caller, space, asked))) list.data.push_back(view_of(sum));
    return list;
}

Result<One<broker::SpaceBudget>> get_space_budget(const Call& call) {
    const auto space = TRY(call.access().spaces.choose(call.caller, call.at("space")));
    TRY(call.caller.require(access::Permission::space_read, space));
    broker::Budgets& budgets = *TRY(budgets_of(call));
    return One<broker::SpaceBudget>{TRY(budgets.space_budget(call.caller, space))};
}

Result<One<broker::SpaceBudget>> put_space_budget(const Call& call, const broker::SpaceBudget& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, call.at("space")));
    TRY(call.caller.require(access::Permission::space_update, space));
    broker::Budgets& budgets = *TRY(budgets_of(call));
    return One<broker::SpaceBudget>{TRY(budgets.set_space_budget(call.caller, space, body))};
}

} // namespace hone::api
