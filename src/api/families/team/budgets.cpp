// What model calls used, and what a space may spend.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "broker/spending/budget.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListModelUsage {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<broker::UsageGroup> group_by;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> run;
    std::optional<std::string> model;
    std::optional<int64_t> limit;
    static constexpr Pack fields{
        Field{"space", &ListModelUsage::space, "Id or name of the space; the caller's first one if not given."},
        Field{"group_by", &ListModelUsage::group_by, "Grouping of the rows; day if not given."},
        Field{"from", &ListModelUsage::from, "First day (UTC), such as 2026-11-01; 30 days ago if not given."},
        Field{"to", &ListModelUsage::to, "Last day; today if not given."},
        Field{"run", &ListModelUsage::run, "Only calls of this run."},
        Field{"model", &ListModelUsage::model, "Only calls of this model."},
        Field{"limit", &ListModelUsage::limit,
              "Rows, 1 to 1000: the newest days, or the groups with the highest cost; 100 if not given."},
    };
};

struct ModelUsageView {
    std::string group;
    int64_t calls = 0;
    int64_t incomplete_calls = 0;
    int64_t failed_calls = 0;
    int64_t input_tokens = 0;
    int64_t cache_read_tokens = 0;
    int64_t cache_write_tokens = 0;
    int64_t output_tokens = 0;
    int64_t reasoning_tokens = 0;
    int64_t total_tokens = 0;
    int64_t estimated_tokens = 0;
    int64_t cost_micro_usd = 0;
    int64_t unpriced_calls = 0;
    static constexpr Pack fields{
        Field{"group", &ModelUsageView::group, "The day, model, run, automation or project; empty: none."},
        Field{"calls", &ModelUsageView::calls, "Model calls."},
        Field{"incomplete_calls", &ModelUsageView::incomplete_calls, "Calls without the provider's final numbers."},
        Field{"failed_calls", &ModelUsageView::failed_calls, "Calls without a response, or with an error."},
        Field{"input_tokens", &ModelUsageView::input_tokens, "Input tokens neither read from nor written to a cache."},
        Field{"cache_read_tokens", &ModelUsageView::cache_read_tokens, ""},
        Field{"cache_write_tokens", &ModelUsageView::cache_write_tokens, ""},
        Field{"output_tokens", &ModelUsageView::output_tokens,
              "Output tokens without reasoning, where the provider reports it separately."},
        Field{"reasoning_tokens", &ModelUsageView::reasoning_tokens, ""},
        Field{"total_tokens", &ModelUsageView::total_tokens, "Sum of the five, as the providers counted."},
        Field{"estimated_tokens", &ModelUsageView::estimated_tokens,
              "Estimated tokens of interrupted calls beyond the provider's numbers. They count for budgets."},
        Field{"cost_micro_usd", &ModelUsageView::cost_micro_usd, "Millionths of a US dollar, by the price table."},
        Field{"unpriced_calls", &ModelUsageView::unpriced_calls, "Calls to models without a price: tokens only."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr Duration default_span = std::chrono::hours(24 * 30);

Result<std::string> day(const std::optional<std::string>& given, Time otherwise) {
    if (!given) return broker::day_of(otherwise);
    if (given->size() != 10 || !parse_time(*given + "T00:00:00Z").ok()) return invalid("a day is written 2026-01-31");
    return *given;
}

ModelUsageView usage_view_of(const broker::UsageSum& sum) {
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
    const auto space = TRY(space_of(call, query.space));
    broker::UsageQuery wanted;
    wanted.group_by = query.group_by.value_or(broker::UsageGroup::day);
    wanted.from_day = TRY(day(query.from, call.services.clock.now() - default_span));
    wanted.to_day = TRY(day(query.to, call.services.clock.now()));
    wanted.run_id = query.run;
    wanted.model = query.model;
    wanted.limit = TRY(page_of(query.limit, std::nullopt)).limit;
    // Calls that are over are counted; when the database is slow, the last of them may be missing for a moment.
    static_cast<void>(call.services.usage.flush(std::chrono::seconds(1)));
    List<ModelUsageView> list;
    for (const broker::UsageSum& sum : TRY(call.services.usage.report(call.caller, space, wanted)))
        list.data.push_back(usage_view_of(sum));
    return list;
}

Result<One<broker::SpaceBudget>> get_space_budget(const Call& call) {
    const auto space = TRY(call.access().spaces.choose(call.caller, call.at("space")));
    return One<broker::SpaceBudget>{TRY(call.services.budgets.space_budget(call.caller, space))};
}

Result<One<broker::SpaceBudget>> put_space_budget(const Call& call, const broker::SpaceBudget& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, call.at("space")));
    return One<broker::SpaceBudget>{TRY(call.services.budgets.set_space_budget(call.caller, space, body))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route budgets_table[] = {
    route<get_space_budget>("GET", "/v1/spaces/{space}/budget", need(space_read),
                            "Daily budget of the model calls of a space."),
    route<put_space_budget>("PUT", "/v1/spaces/{space}/budget", need(space_update),
                            "Set the daily budget of the model calls of a space."),
    route<list_model_usage>("GET", "/v1/model_usage", need(space_read),
                            "Tokens and cost of model calls by day, model, run, automation or project."),
};

} // namespace

std::span<const Route> budgets_routes() {
    return budgets_table;
}

} // namespace hone::api
