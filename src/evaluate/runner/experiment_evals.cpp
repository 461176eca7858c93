// The evaluators of an experiment: runs become documents, documents verdicts, verdicts evals.
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/runner/experiment_runner.h"
#include "evaluate/runner/rule_evals.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller;

namespace {

constexpr int64_t evals_at_once = 50;
constexpr size_t most_cheap_evals = 250; // the results of so many fit into the output of a sandbox
constexpr size_t most_cheap_bytes = 32 << 20;

} // namespace

json::Value document_of(const RunRecord& record) {
    json::Object document;
    document["input"] = stored_json(record.example.input);
    const auto output = json::parse(record.run.output);
    document["output"] = output.ok() ? output.value() : json::Value(nullptr);
    document["reference"] = stored_json(record.example.output);
    document["metadata"] = stored_json(record.example.metadata);
    document["example_id"] = record.example.id.text();
    document["repetition"] = record.run.repetition;
    document["latency_ms"] = static_cast<double>((record.run.ended_at - record.run.started_at).count()) / 1'000'000.0;
    return document;
}

Result<> ExperimentRunner::evaluate(Live& live, const ExperimentTask& task) {
    for (const TaskEvaluator& evaluator : task.evaluators) {
        if (is_over(live)) return {};
        TRY(evaluate_with(live, task, evaluator));
    }
    return {};
}

Result<DocumentFiles> ExperimentRunner::files_of(const ExperimentTask& task, const json::Value& document) const {
    const auto named = files_in(json::Array{document.at("input"), document.at("reference")});
    // Of examples that came from spans "$file" is data.
    if (!named.ok() || named.value().empty()) return DocumentFiles{};
    const Experiment of = TRY(m_parts.experiments.find(Caller::system(), task.experiment_id));
    auto files = m_parts.datasets.read_files(of.dataset_id, named.value());
    if (!files.ok()) return not_found("a file that the example names: " + files.error().message);
    int64_t bytes = 0;
    for (const auto& [id, file] : files.value()) bytes += file.about.bytes;
    if (bytes > largest_document_files)
        return too_large(fmt::format("the files of the example have more than {} MiB", largest_document_files >> 20));
    return files;
}

// One batch, or several when examples name large files.
Result<std::vector<CodeResult>> ExperimentRunner::apply_code(Live& live, const ExperimentTask& task,
                                                             const EvaluatorVersion& version,
                                                             const std::vector<RunRecord>& records) {
    std::vector<CodeResult> results(records.size());
    std::vector<json::Value> documents;
    std::vector<size_t> places;
    DocumentFiles files;
    int64_t bytes = 0;
    const auto run_batch = [&]() -> Result<> {
        if (documents.empty()) return {};
        const SharedPlace place(m_parts.places, [&] { return is_over(live); });
        if (!place.is_taken()) return conflict("the experiment ends");
        auto found = TRY(run_code(
            version, documents, [this, &live] { return is_over(live); }, files));
        for (size_t i = 0; i < places.size(); ++i) results[places[i]] = std::move(found[i]);
        documents.clear();
        places.clear();
        files.clear();
        bytes = 0;
        return {};
    };
    for (size_t i = 0; i < records.size(); ++i) {
        json::Value document = document_of(records[i]);
        auto named = files_of(task, document);
        if (!named.ok()) {
            results[i].error = named.error().message;
            continue;
        }
        int64_t own = 0;
        for (const auto& [id, file] : named.value()) own += file.about.bytes;
        if (bytes + own > largest_document_files) TRY(run_batch());
        bytes += own;
        files.merge(named.value());
        documents.push_back(std::move(document));
        places.push_back(i);
    }
    TRY(run_batch());
    return results;
}

// A model, an agent or a remote service: several documents at the same time.
std::vector<JudgeOutcome> ExperimentRunner::apply_judge(Live& live, const ExperimentTask& task,
                                                        const EvaluatorVersion& version,
                                                        const std::vector<RunRecord>& records) {
    std::vector<JudgeOutcome> outcomes(records.size());
    std::atomic<size_t> next{0};
    const auto lane = [&] {
        for (size_t i = next++; i < records.size(); i = next++) {
            const json::Value document = document_of(records[i]);
            JudgeRequest request{version, document};
            request.owner = task.experiment_id.text();
            request.repetition = records[i].run.repetition;
            request.target = {"experiment_run", records[i].run.id.text(), task.project_id, task.project_name};
            if (task.budget_micro_usd) request.cost_limit_nano_usd = *task.budget_micro_usd * 1000;
            request.stopped = [&] { return is_over(live); };
            const auto files = files_of(task, document);
            if (!files.ok()) {
                outcomes[i].error = files.error().message;
                outcomes[i].reason = JudgeReason::missing_variable;
                continue;
            }
            if (!files.value().empty()) request.files = &files.value();
            outcomes[i] = m_parts.judges.judge_persistently(request);
        }
    };
    std::vector<std::jthread> lanes;
    for (int64_t i = 0; i < task.concurrency; ++i) lanes.emplace_back(lane);
    lanes.clear(); // joins
    return outcomes;
}

Result<std::vector<JudgeOutcome>> ExperimentRunner::apply_evaluator(Live& live, const ExperimentTask& task,
                                                                    const TaskEvaluator& evaluator,
                                                                    const EvaluatorVersion& version,
                                                                    const std::vector<RunRecord>& records) {
    if (version.kind != EvaluatorKind::rule && version.kind != EvaluatorKind::code)
        return apply_judge(live, task, version, records);
    std::vector<CodeResult> results;
    if (version.code) {
        results = TRY(apply_code(live, task, version, records));
    } else {
        if (m_parts.spans == nullptr) return unavailable("this server stores no spans, so no rule can be applied");
        const Experiment of = TRY(m_parts.experiments.find(Caller::system(), task.experiment_id));
        // Recorded traces are in the projects that they came from.
        std::vector<std::string> projects = task.source_projects;
        projects.push_back(of.project_id.text());
        if (evaluator.project_id) projects.push_back(evaluator.project_id->text());
        results = TRY(apply_rule(*m_parts.spans, *version.rule, projects, records));
    }
    std::vector<JudgeOutcome> outcomes;
    for (CodeResult& result : results) {
        JudgeOutcome outcome;
        outcome.verdict = std::move(result.verdict);
        outcome.error = std::move(result.error);
        outcome.duration_ms = result.duration_ms;
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

// Runs that this evaluator has not evaluated. A sandbox takes longer to start than most code takes for a document, so
// code and rules get many in one batch, within a limit of memory. A model's verdicts are stored sooner: they cost.
Result<std::vector<RunRecord>> ExperimentRunner::next_records(const ExperimentTask& task, const std::string& evaluator,
                                                              bool is_cheap, std::string after) {
    std::vector<RunRecord> records;
    size_t bytes = 0;
    for (;;) {
        auto more = TRY(m_parts.tasks.pending_evals(task, evaluator, after, evals_at_once));
        const bool is_last = static_cast<int64_t>(more.size()) < evals_at_once;
        for (RunRecord& record : more) {
            bytes += record.run.output.size() + record.example.input.size() + record.example.output.size();
            records.push_back(std::move(record));
        }
        if (is_last || !is_cheap || records.size() >= most_cheap_evals || bytes >= most_cheap_bytes) return records;
        after = records.back().run.id.text();
    }
}

// One, or one for each of several results.
std::vector<ExperimentEval> ExperimentRunner::evals_of(const RunRecord& record, const TaskEvaluator& evaluator,
                                                       const EvaluatorVersion& version, const JudgeOutcome& outcome,
                                                       Time began) {
    const bool is_model = version.llm || version.agent;
    ExperimentEval eval;
    eval.run_id = record.run.id;
    eval.name = evaluator.name;
    eval.evaluator = evaluator.name;
    eval.kind = is_model ? AnnotatorKind::llm : AnnotatorKind::code;
    if (!outcome.trace_id.empty() && version.llm) eval.trace_id = outcome.trace_id;
    json::Object metadata;
    metadata["evaluator"] = evaluator.evaluator_id.text();
    metadata["version"] = evaluator.number;
    if (outcome.reason != JudgeReason::none) metadata["reason"] = std::string(name_of(outcome.reason));
    if (is_model) metadata["cached"] = outcome.is_cached;
    if (outcome.tokens() > 0) metadata["tokens"] = outcome.tokens();
    if (outcome.estimated_tokens > 0) metadata["estimated_tokens"] = outcome.estimated_tokens;
    eval.started_at = began;
    eval.ended_at = began + std::chrono::milliseconds(outcome.duration_ms);
    std::vector<ExperimentEval> evals;
    const auto add = [&](const std::string& name, const auto& found) {
        ExperimentEval one = eval;
        one.name = name;
        one.label = found.label;
        one.score = found.score;
        one.explanation = found.explanation;
        json::Object all = found.metadata.get_object();
        for (const auto& entry : metadata) all[entry.key()] = entry.value();
        one.metadata = std::move(all);
        evals.push_back(std::move(one));
    };
    if (const auto& verdict = outcome.verdict) {
        if (!verdict->is_only_named()) add(evaluator.name, *verdict);
        for (const NamedVerdict& named : *verdict->results) add(named.name, named);
    } else {
        eval.error = outcome.error;
        eval.metadata = std::move(metadata);
        evals.push_back(std::move(eval));
    }
    return evals;
}

Result<> ExperimentRunner::evaluate_with(Live& live, const ExperimentTask& task, const TaskEvaluator& evaluator) {
    const auto version = m_parts.tasks.version(evaluator);
    if (!version.ok()) {
        const Lock lock(live.mutex);
        live.problem += fmt::format("evaluator {} was deleted; ", evaluator.name);
        return {};
    }
    const EvaluatorKind kind = version.value().kind;
    const bool is_cheap = kind == EvaluatorKind::code || kind == EvaluatorKind::rule;
    std::string after;
    for (;;) {
        const auto records = TRY(next_records(task, evaluator.name, is_cheap, after));
        if (records.empty() || is_over(live)) return {};
        const Time began = m_parts.clock.now();
        const auto judged = TRY(apply_evaluator(live, task, evaluator, version.value(), records));
        std::vector<ExperimentEval> evals;
        for (size_t i = 0; i < records.size(); ++i) {
            if (judged[i].reason == JudgeReason::stopped) continue;
            if (judged[i].reason == JudgeReason::budget) {
                const Lock lock(live.mutex);
                live.problem = judged[i].error;
                live.out_of_budget = true;
                live.stopping = true;
                continue;
            }
            for (auto& eval : evals_of(records[i], evaluator, version.value(), judged[i], began))
                evals.push_back(std::move(eval));
        }
        TRY(m_parts.experiments.set_evals(Caller::system(), std::move(evals)));
        after = records.back().run.id.text();
    }
}

} // namespace hone::evaluate
