// The parts of evaluating that have no route of their own: a queue of jobs, and the statistics of a comparison.
// bench_evaluate [JOBS]. Prints one JSON object: jobs made, claimed one by one, and ended in a second, with the memory
// that they took; seconds of the bootstrap of 10,000 pairs with 10,000 resamples, and of its sign flips.
#include "evaluate/evaluate.h"
#include "access/access.h"
#include "bench/machine_state.h"
#include "evaluate/statistics/statistics.h"
#include "sql/migrate.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

using namespace hone;

constexpr int64_t jobs_at_once = 20'000; // as a backfill makes them
constexpr int64_t claims = 5'000;

template <class T>
T must(Result<T> result) {
    if (!result.ok()) {
        std::fprintf(stderr, "bench_evaluate: %s\n", result.error().message.c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

double seconds_of(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

int64_t peak_memory_mb() {
    const auto status = must(read_file("/proc/self/status", 1 << 16));
    const size_t at = status.find("VmHWM:");
    return at == std::string::npos ? 0 : std::strtoll(status.c_str() + at + 6, nullptr, 10) / 1024;
}

// A task whose evaluator is a model: its jobs are claimed one by one.
evaluate::EvalTask make_task(sql::Database& database, const Clock& clock, access::Access& access,
                             evaluate::Evaluate& parts) {
    const access::Caller caller = access::Caller::system();
    const access::SpaceId space = must(access.spaces.find(caller, "default")).id;
    must(access.projects.create(caller, space, "shop", "", false, {}));
    evaluate::EvaluatorVersion version;
    version.evaluator_id = make_id<evaluate::EvaluatorTag>(clock);
    version.space_id = space;
    version.kind = evaluate::EvaluatorKind::llm;
    version.name = "polite";
    evaluate::LlmDefinition llm;
    llm.model.name = "none";
    llm.messages = {{"user", "{{input}}"}};
    version.llm = llm;
    must(database.execute(
        "INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, "
        "other_label, sample_percent, enabled, revision, judged_up_to, next_at, judged, matched, problem, created_by, "
        "created_by_name, created_at, updated_at) VALUES (?, ?, NULL, 'llm', 'polite', '', '', '', '', '', 100, 1, 1, "
        "0, 0, 0, 0, '', '', '', 0, 0)",
        version.evaluator_id, space));
    must(database.write(
        [&](sql::Transaction& transaction) { return evaluate::EvaluatorVersions::add(transaction, version); }));
    evaluate::NewEvalTask wanted;
    wanted.project = "shop";
    wanted.evaluator = "polite";
    wanted.target = evaluate::EvalTarget::span;
    return must(parts.eval_tasks.create(
        caller, space, wanted,
        [&](const std::string&, std::optional<int64_t>) -> Result<evaluate::EvaluatorVersion> { return version; }));
}

json::Object measure_queue(int64_t count) {
    const std::string folder =
        std::filesystem::temp_directory_path() / ("bench-evaluate-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    json::Object found;
    {
        const SystemClock clock;
        const auto database = must(sql::Database::open({.url = "sqlite:" + folder + "/jobs.db"}));
        must(sql::migrate(*database, clock));
        access::Access access(*database, clock, access::Policy{});
        must(access.first_start("correct horse battery"));
        evaluate::Evaluate parts(*database, clock, access);
        const evaluate::EvalTask task = make_task(*database, clock, access, parts);
        const evaluate::JobQueue queue(*database, clock);
        const int64_t before = peak_memory_mb();
        const double adding = seconds_of([&] {
            for (int64_t first = 0; first < count; first += jobs_at_once) {
                std::vector<telemetry::FoundTarget> targets;
                for (int64_t n = first; n < std::min(first + jobs_at_once, count); ++n) {
                    telemetry::FoundTarget target;
                    target.id = std::to_string(n) + "-0123456789abcdef";
                    target.trace_id = std::to_string(n / 10) + "-0123456789abcdef0123456789abcdef";
                    target.start_ns = count - n;
                    target.inclusion = 1;
                    targets.push_back(std::move(target));
                }
                must(database->write([&](sql::Transaction& transaction) {
                    return queue.add(transaction, task, task.current_version, targets, std::nullopt);
                }));
            }
        });
        std::vector<evaluate::EvalJob> claimed;
        const double claiming = seconds_of([&] {
            for (int64_t i = 0; i < std::min(claims, count); ++i) {
                auto next = must(queue.claim("bench", 1));
                for (evaluate::EvalJob& job : next.value().jobs) claimed.push_back(std::move(job));
            }
        });
        evaluate::JudgeOutcome outcome;
        outcome.verdict.emplace();
        outcome.verdict->label = "pass";
        const double ending = seconds_of([&] {
            for (const evaluate::EvalJob& job : claimed) must(queue.end(task, job, "bench", outcome));
        });
        const auto per_second = [](size_t jobs, double seconds) {
            return static_cast<int64_t>(static_cast<double>(jobs) / std::max(seconds, 1e-9));
        };
        found = {{"queued_jobs", count},
                 {"queue_adds_per_s", per_second(static_cast<size_t>(count), adding)},
                 {"queue_claims_per_s", per_second(claimed.size(), claiming)},
                 {"queue_ends_per_s", per_second(claimed.size(), ending)},
                 {"queue_memory_mb", peak_memory_mb() - before}};
    }
    std::filesystem::remove_all(folder);
    return found;
}

void measure_statistics(json::Object& found) {
    std::vector<double> differences(10'000);
    for (size_t i = 0; i < differences.size(); ++i)
        differences[i] = (static_cast<double>(i % 9) - static_cast<double>(i % 10)) / 10;
    found["bootstrap_10000x10000_s"] =
        seconds_of([&] { static_cast<void>(evaluate::paired_difference(differences, 1)); });
    found["sign_flips_10000x10000_s"] = seconds_of([&] { static_cast<void>(evaluate::sign_flip_p(differences, 1)); });
}

} // namespace

int main(int argc, char** argv) {
    crypto::start();
    const auto wanted = argc > 1 ? parse_integer(argv[1]) : Result<int64_t>(1'000'000);
    json::Object found = measure_queue(std::max<int64_t>(must(wanted), 1));
    measure_statistics(found);
    std::printf("%s\n", json::print(found).c_str());
}
