// Routes about what model calls used and what a space may spend. Handlers as in handlers.h.
#pragma once

#include "api/call.h"
#include "api/requests.h"
#include "broker/spending/budget.h"

namespace hone::api {

struct ListModelUsage {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<broker::UsageGroup> group_by;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> run;
    std::optional<std::string> model;
    std::optional<int64_t> limit;
    static constexpr std::tuple fields{
        Field{"space", &ListModelUsage::space, "Id or name of the space; the caller's first one if not given."},
        Field{"group_by", &ListModelUsage::group_by, "What one row stands for; day if not given."},
        Field{"from", &ListModelUsage::from, "First day (UTC), such as 2026-11-01; 30 days ago if not given."},
        Field{"to", &ListModelUsage::to, "Last day; today if not given."},
        Field{"run", &ListModelUsage::run, "Only calls of this run."},
        Field{"model", &ListModelUsage::model, "Only calls of this model."},
        Field{"limit", &ListModelUsage::limit,
              "Rows, 1 to 1000: the newest days, or what cost most; 100 if not given."},
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
    static constexpr std::tuple fields{
        Field{"group", &ModelUsageView::group, "The day, model, run, automation or project; empty: none."},
        Field{"calls", &ModelUsageView::calls, "Model calls."},
        Field{"incomplete_calls", &ModelUsageView::incomplete_calls, "Calls without the provider's final numbers."},
        Field{"failed_calls", &ModelUsageView::failed_calls, "Calls that were not answered, or with an error."},
        Field{"input_tokens", &ModelUsageView::input_tokens, "Neither read from nor written to a cache."},
        Field{"cache_read_tokens", &ModelUsageView::cache_read_tokens, ""},
        Field{"cache_write_tokens", &ModelUsageView::cache_write_tokens, ""},
        Field{"output_tokens", &ModelUsageView::output_tokens, "Without reasoning, where the provider tells it apart."},
        Field{"reasoning_tokens", &ModelUsageView::reasoning_tokens, ""},
        Field{"total_tokens", &ModelUsageView::total_tokens, "Sum of the five, as the providers counted."},
        Field{"estimated_tokens", &ModelUsageView::estimated_tokens,
              "Of calls that broke off: what was probably used beyond the provider's numbers. Counts for budgets."},
        Field{"cost_micro_usd", &ModelUsageView::cost_micro_usd, "Millionths of a US dollar, by the price table."},
        Field{"unpriced_calls", &ModelUsageView::unpriced_calls, "Calls to models without a price: tokens only."},
    };
};

Result<List<ModelUsageView>> list_model_usage(const Call&, const ListModelUsage&);
Result<One<broker::SpaceBudget>> get_space_budget(const Call&);
Result<One<broker::SpaceBudget>> put_space_budget(const Call&, const broker::SpaceBudget&);

} // namespace hone::api
