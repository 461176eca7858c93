#include "evaluate/pairs/pair_runner.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "evaluate/content/canonical.h"
#include "evaluate/datasets/dataset_rows.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller;

namespace {

constexpr int64_t pairs_at_once = 50; // an output has up to 4 MiB
constexpr Duration pair_lease_renewal = std::chrono::seconds(2);
// So many pairs in a row without verdicts end the comparison: the others would fail too, and cost.
constexpr int64_t most_pair_failures = 5;
constexpr size_t longest_pair_explanation = 4000;

json::Value output_value(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(nullptr);
}

std::string pair_label_of(const JudgeOutcome& outcome) {
    return outcome.verdict ? outcome.verdict->label.value_or("") : "";
}

std::string pair_explanation_of(const JudgeOutcome& outcome) {
    return outcome.verdict
               ? std::string(truncate_utf8(outcome.verdict->explanation.value_or(""), longest_pair_explanation))
               : "";
}

} // namespace

json::Value pair_document(const PendingPair& pair, bool is_swapped) {
    json::Object document;
    document["input"] = stored_json(pair.example.input);
    document["reference"] = stored_json(pair.example.output);
    document["metadata"] = stored_json(pair.example.metadata);
    document["example_id"] = pair.example.id.text();
    document["repetition"] = pair.repetition;
    document["a"] = output_value(is_swapped ? pair.other_output : pair.base_output);
    document["b"] = output_value(is_swapped ? pair.base_output : pair.other_output);
    return document;
}

PairRunner::PairRunner(PairTasks& tasks, Judges& judges)
    : m_tasks(tasks),
      m_judges(judges),
      m_server(to_hex(crypto::random_bytes(12))),
      m_duty({"pairs", std::chrono::seconds(2)}, Duty::TimedStep([this]() -> Result<Duration> {
                 const bool has_worked = TRY(step());
                 return has_worked ? Duration::zero() : Duration(std::chrono::seconds(2));
             })) {}

PairRunner::~PairRunner() {
    m_ending = true;
    m_duty.stop();
}

Result<bool> PairRunner::step() {
    if (m_ending) return false;
    const auto claimed = TRY(m_tasks.claim(m_server));
    if (!claimed) return false;
    Live live(TRY(m_tasks.find(Caller::system(), *claimed)));
    const auto version = m_tasks.version(live.task);
    if (!version.ok() && version.error().code == Code::not_found) {
        TRY(m_tasks.end(live.task.id, m_server, TaskState::failed, "the evaluator was deleted"));
        return true;
    }
    if (!version.ok()) return version.error();
    const auto worked = [&] {
        const std::jthread keeper([this, &live] { keep_lease(live); });
        const auto result = work(live, version.value());
        const Lock lock(live.mutex);
        live.is_worked = true;
        live.changed.notify_all();
        return result;
    }();
    const Lock lock(live.mutex);
    if (!worked.ok() || live.error) {
        // A database that is away passes: the comparison is claimed again and continues.
        static_cast<void>(m_tasks.release(live.task.id, m_server));
        return worked.ok() ? *live.error : worked.error();
    }
    if (live.state == TaskState::done && is_over(live)) {
        TRY(m_tasks.release(live.task.id, m_server));
        return true;
    }
    TRY(m_tasks.end(live.task.id, m_server, live.state, live.reason));
    return true;
}

void PairRunner::keep_lease(Live& live) {
    for (;;) {
        {
            const Lock lock(live.mutex);
            if (!live.is_worked) live.changed.wait_for(live.mutex, pair_lease_renewal);
            if (live.is_worked) return;
        }
        const auto kept = m_tasks.renew(live.task.id, m_server);
        if (!kept.ok())
            log(Level::warning, "lease of a comparison not renewed", {{"why", kept.error().message}});
        else if (!kept.value())
            live.stopping = true;
    }
}

Result<> PairRunner::work(Live& live, const EvaluatorVersion& version) {
    ExampleId after{""};
    int64_t repetition = 0;
    while (!is_over(live)) {
        const auto pairs = TRY(m_tasks.pending(live.task, after, repetition, pairs_at_once));
        if (pairs.empty()) return {};
        std::atomic<size_t> next{0};
        const auto lane = [&] {
            for (size_t i = next++; i < pairs.size() && !is_over(live); i = next++)
                compare_pair(live, version, pairs[i]);
        };
        std::vector<std::jthread> lanes;
        for (int64_t i = 0; i < live.task.concurrency; ++i) lanes.emplace_back(lane);
        lanes.clear(); // joins
        after = pairs.back().example.id;
        repetition = pairs.back().repetition;
    }
    return {};
}

JudgeOutcome PairRunner::ask(Live& live, const EvaluatorVersion& version, const PendingPair& pair, bool is_swapped) {
    const json::Value document = pair_document(pair, is_swapped);
    JudgeRequest request{version, document};
    request.owner = live.task.id.text();
    request.repetition = pair.repetition;
    request.target.kind = "experiment_pair";
    request.target.id = pair.base_run_id.text() + ":" + pair.other_run_id.text();
    request.token_limit = live.task.budget_tokens;
    if (live.task.budget_micro_usd) request.cost_limit_nano_usd = *live.task.budget_micro_usd * 1000;
    request.stopped = [this, &live] { return is_over(live); };
    return m_judges.judge_persistently(request);
}

void PairRunner::end_with(Live& live, TaskState state, const std::string& reason) {
    const Lock lock(live.mutex);
    live.stopping = true;
    if (live.state != TaskState::done) return;
    live.state = state;
    live.reason = reason;
}

void PairRunner::compare_pair(Live& live, const EvaluatorVersion& version, const PendingPair& pair) {
    PairEval made;
    made.example_id = pair.example.id;
    made.repetition = pair.repetition;
    made.base_run_id = pair.base_run_id;
    made.other_run_id = pair.other_run_id;
    if (canonical_text(output_value(pair.base_output)) == canonical_text(output_value(pair.other_output))) {
        // Nothing to ask: the one text in two places could only show a bias.
        made.winner = PairWinner::tie;
        made.first_label = made.swapped_label = std::string(neither_is_better);
        made.explanation = "The outputs are equal.";
        made.cached = true;
    } else {
        bool is_cached = true;
        for (const bool is_swapped : {false, true}) {
            const JudgeOutcome outcome = ask(live, version, pair, is_swapped);
            if (outcome.reason == JudgeReason::stopped) return;
            if (outcome.reason == JudgeReason::budget) return end_with(live, TaskState::budget_stopped, outcome.error);
            if (outcome.reason == JudgeReason::rejected) return end_with(live, TaskState::failed, outcome.error);
            is_cached = is_cached && outcome.is_cached;
            made.tokens += outcome.tokens();
            made.estimated_tokens += outcome.estimated_tokens;
            made.duration_ms += outcome.duration_ms;
            made.cost_nano_usd = made.cost_nano_usd && outcome.cost_nano_usd
                                     ? std::optional(*made.cost_nano_usd + *outcome.cost_nano_usd)
                                     : std::nullopt;
            (is_swapped ? made.swapped_label : made.first_label) = pair_label_of(outcome);
            (is_swapped ? made.swapped_explanation : made.explanation) = pair_explanation_of(outcome);
            (is_swapped ? made.swapped_trace_id : made.trace_id) = outcome.trace_id;
            if (outcome.verdict) continue;
            made.error = fmt::format("{}: {}", name_of(outcome.reason), outcome.error);
            break;
        }
        made.cached = is_cached && made.error.empty();
        if (made.error.empty()) made.winner = winner_of(made.first_label, made.swapped_label);
    }
    const auto stored = m_tasks.store(live.task.id, made);
    int64_t failures = 0;
    {
        const Lock lock(live.mutex);
        if (!stored.ok()) {
            live.error = stored.error();
            live.stopping = true;
            return;
        }
        failures = live.failures = made.error.empty() ? 0 : live.failures + 1;
    }
    if (failures >= most_pair_failures)
        end_with(live, TaskState::failed,
                 fmt::format("{} pairs in a row have no verdict; the last one: {}", failures, made.error));
}

} // namespace hone::evaluate
