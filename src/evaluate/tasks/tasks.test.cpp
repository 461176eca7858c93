// Online tasks on both databases: which jobs there are, who runs them, what limits and failures do to them. Verdicts
// come from a model in memory; documents and evals need the span engine and are in tests/e2e/eval_tasks.py.
#include "access/testing.h"
#include "evaluate/evaluate.h"
#include "evaluate/judges/testing.h"
#include "evaluate/tasks/pass_rate.h"

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

struct JobBench {
    explicit JobBench(World& given)
        : world(given),
          evaluate(given.database, given.clock, given.access),
          queue(given.database, given.clock) {
        must(world.database.execute("DELETE FROM eval_tasks"));
        must(world.database.execute("DELETE FROM evaluators"));
        project = world.add_project(world.admin, world.space, "shop " + make_ulid(world.clock.now()));
        version = testing::polite(world.space);
        version.evaluator_id = make_id<EvaluatorTag>(world.clock);
        const Time now = world.clock.now();
        must(world.database.execute(
            "INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, "
            "other_label, sample_percent, enabled, revision, judged_up_to, next_at, judged, matched, problem, "
            "created_by, created_by_name, created_at, updated_at) VALUES (?, ?, NULL, 'llm', ?, '', '', '', '', '', "
            "100, 1, "
            "1, ?, ?, 0, 0, '', '', '', ?, ?)",
            version.evaluator_id, world.space, version.evaluator_id.text(), now, now, now, now));
        must(world.database.write(
            [&](sql::Transaction& transaction) { return EvaluatorVersions::add(transaction, version); }));
    }
    EvalTask task(const std::function<void(NewEvalTask&)>& change = {}) {
        NewEvalTask wanted;
        wanted.project = project.name;
        wanted.evaluator = "polite";
        wanted.target = EvalTarget::trace;
        if (change) change(wanted);
        return must(evaluate.eval_tasks.create(world.admin, world.space, wanted, finder()));
    }
    EvalTasks::FindEvaluator finder() {
        return [this](const std::string&, std::optional<int64_t>) -> Result<EvaluatorVersion> { return version; };
    }
    static telemetry::FoundTarget target(int number, int64_t last_ns = 1000) {
        telemetry::FoundTarget made;
        made.id = fmt_id(number);
        made.start_ns = 100 + number;
        made.last_ns = last_ns;
        made.inclusion = 0.05;
        return made;
    }
    static std::string fmt_id(int number) {
        std::string id = std::to_string(number);
        return std::string(32 - id.size(), '0') + id;
    }
    AddedJobs add(const EvalTask& of, const std::vector<telemetry::FoundTarget>& targets,
                  const std::optional<EvalBackfillId>& backfill = {}) {
        return must(world.database.write([&](sql::Transaction& transaction) {
            return queue.add(transaction, of, of.current_version, targets, backfill);
        }));
    }
    void add_many(const EvalTask& of, int count) {
        std::vector<telemetry::FoundTarget> targets;
        for (int i = 0; i < count; ++i) targets.push_back(target(i));
        add(of, targets);
    }
    static JudgeOutcome verdict(bool cached = false) {
        JudgeOutcome made;
        made.verdict.emplace();
        made.verdict->label = "pass";
        made.verdict->score = 1;
        made.is_cached = cached;
        if (!cached) {
            made.input_tokens = 100;
            made.cost_nano_usd = 5000;
        }
        return made;
    }
    static JudgeOutcome failure(JudgeReason reason, bool is_temporary = false) {
        JudgeOutcome made;
        made.reason = reason;
        made.error = "it did not work";
        made.is_temporary = is_temporary;
        return made;
    }
    std::string state(const EvalTask& of, const std::string& key) {
        const auto rows =
            must(world.database.query("SELECT state, reason FROM eval_jobs WHERE task_id = ? AND key = ?", of.id, key));
        if (rows.empty()) return "absent";
        return rows.front().text(0) + (rows.front().text(1).empty() ? "" : " " + rows.front().text(1));
    }
    int64_t count(const std::string& wanted) {
        const auto rows = must(world.database.query("SELECT COUNT(*) FROM eval_jobs WHERE state = ?", wanted));
        return rows.front().integer(0);
    }

    World& world;
    Evaluate evaluate;
    JobQueue queue;
    access::Project project;
    EvaluatorVersion version;
};

void in_jobs(const std::function<void(World&, JobBench&)>& work) {
    access::testing::for_each_world([&](World& world) {
        JobBench bench(world);
        work(world, bench);
    });
}

} // namespace

TEST_CASE("A target has one job for each version") {
    in_jobs([](World&, JobBench& bench) {
        const EvalTask task = bench.task();
        CHECK(task.version == 1);
        CHECK(task.delay_seconds == 30);
        CHECK(task.tokens_per_day == 1'000'000); // money is limited unless a person decides otherwise
        const std::vector targets{bench.target(1), bench.target(2)};
        CHECK(bench.add(task, targets).made == 2);
        const AddedJobs again = bench.add(task, targets);
        CHECK(again.made == 0);
        CHECK(again.known == 2);
        CHECK(bench.add(bench.task(), targets).made == 0); // another task of the same version
        CHECK(bench.add(task, targets, make_id<EvalBackfillTag>(bench.world.clock)).known == 2);
        EvalTask other = task;
        other.current_version = 2;
        CHECK(bench.add(other, targets).made == 2);
    });
}

TEST_CASE("Many targets together have one job each, also when some are known and some are given twice") {
    in_jobs([](World&, JobBench& bench) {
        const EvalTask task = bench.task();
        std::vector<telemetry::FoundTarget> targets;
        for (int i = 0; i < 350; ++i) targets.push_back(bench.target(i % 250));
        const AddedJobs first = bench.add(task, targets);
        CHECK(first.made == 250);
        CHECK(first.known == 100);
        for (int i = 250; i < 260; ++i) targets.push_back(bench.target(i));
        CHECK(bench.add(task, targets).made == 10);
        CHECK(bench.count("queued") == 260);
        CHECK(bench.add(task, {}).made == 0);
        // The newest target comes first, whatever the order of the keys.
        const auto claimed = must(bench.queue.claim("a", 50));
        REQUIRE(claimed);
        CHECK(claimed->jobs.front().target_id == bench.target(259).id);
    });
}

TEST_CASE("A trace that grows after its verdict is evaluated once more, and not a third time") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        const int64_t now = to_ns(world.clock.now());
        bench.add(task, {bench.target(1, now)});
        CHECK(bench.add(task, {bench.target(1, now + 10)}).made == 0); // not run yet: it will read everything
        const auto claimed = must(bench.queue.claim("a", 50));
        REQUIRE(claimed);
        must(bench.queue.end(task, claimed->jobs.front(), "a", bench.verdict()));
        CHECK(bench.add(task, {bench.target(1, now)}).made == 0);
        world.clock.advance(std::chrono::minutes(1));
        const int64_t later = to_ns(world.clock.now());
        CHECK(bench.add(task, {bench.target(1, later)}).made == 1);
        CHECK(bench.state(task, claimed->jobs.front().key) == "done superseded");
        const auto second = must(bench.queue.claim("a", 50));
        REQUIRE(second);
        CHECK(second->jobs.front().generation == 2);
        must(bench.queue.end(task, second->jobs.front(), "a", bench.verdict()));
        world.clock.advance(std::chrono::minutes(1));
        CHECK(bench.add(task, {bench.target(1, to_ns(world.clock.now()))}).made == 0);
        // A chat session that continues has no second job before it ends.
        telemetry::FoundTarget endless = bench.target(2, later);
        endless.is_complete = false;
        CHECK(bench.add(task, {endless}).made == 1);
    });
}

TEST_CASE("The pass rate of an evaluator is that of its newest version, weighted, in projects that the caller sees") {
    in_jobs([](World& world, JobBench& bench) {
        const auto rates_for = [&](const access::Caller& caller) {
            return must(pass_rates(world.database, {bench.version.evaluator_id},
                                   access::Projects::seen_by(caller, world.space, "t.project_id"),
                                   world.clock.now() - std::chrono::hours(24)));
        };
        const auto rate = [&] { return rates_for(world.admin).at(bench.version.evaluator_id.text()); };
        int next = 0;
        const auto judge = [&](const EvalTask& task, double inclusion, int count, int passes,
                               std::optional<double> fails) {
            std::vector<telemetry::FoundTarget> targets;
            for (int i = 0; i < count; ++i) {
                targets.push_back(bench.target(++next));
                targets.back().inclusion = inclusion;
            }
            bench.add(task, targets);
            for (int i = 0; i < count; ++i) {
                const auto claimed = must(bench.queue.claim("a", 1));
                REQUIRE(claimed);
                JudgeOutcome outcome = bench.verdict();
                if (i >= passes) outcome.verdict->score = fails;
                must(bench.queue.end(task, claimed->jobs.front(), "a", outcome));
            }
        };
        const EvalTask task = bench.task();
        CHECK(rates_for(world.admin).empty());
        judge(task, 1, 3, 0, std::nullopt); // cannot_judge
        CHECK(rates_for(world.admin).empty());
        judge(task, 0.05, 10, 9, 0);
        CHECK(rate().version == 1);
        CHECK(rate().scored == 10);
        CHECK(rate().rate == 0.9);
        CHECK(rate().low == 0.5958); // Wilson of 9 of 10: one weight for all changes nothing
        CHECK(rate().high == 0.9821);
        // Another version: eight that weigh 1 and four that weigh 4 count as eight.
        EvalTask other = task;
        other.current_version = 2;
        judge(other, 1, 8, 6, 0.4);
        judge(other, 0.25, 4, 1, 0);
        CHECK(rate().version == 2);
        CHECK(rate().scored == 12);
        CHECK(rate().rate == 0.4167);
        CHECK(rate().low == 0.1616);
        CHECK(rate().high == 0.7258);
        // A person who does not see the project sees none of its verdicts.
        const access::Caller viewer = world.join(world.space, "viewer-of-rates@example.com", Role::viewer);
        CHECK(rates_for(viewer).size() == 1);
        must(world.database.execute("UPDATE projects SET restricted = 1 WHERE id = ?", bench.project.id));
        CHECK(rates_for(viewer).empty());
        must(world.database.execute("UPDATE projects SET restricted = 0 WHERE id = ?", bench.project.id));
        // Scores that are no shares have no pass rate; after a day there is none either.
        other.current_version = 3;
        judge(other, 1, 2, 1, 7);
        CHECK(rates_for(world.admin).empty());
        must(world.database.execute("UPDATE eval_jobs SET score = 1 WHERE score = 7"));
        CHECK(rate().rate == 1);
        CHECK(rate().high == 1);
        world.clock.advance(std::chrono::hours(25));
        CHECK(rates_for(world.admin).empty());
    });
}

TEST_CASE("Two servers share the jobs of one task, and a killed one loses its lease") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        bench.add_many(task, 2);
        const auto first = must(bench.queue.claim("a", 50));
        const auto second = must(bench.queue.claim("b", 50));
        REQUIRE(first);
        REQUIRE(second);
        CHECK(first->jobs.front().key != second->jobs.front().key);
        CHECK(first->jobs.front().target_at > second->jobs.front().target_at); // newest first
        CHECK_FALSE(must(bench.queue.claim("c", 50)));
        world.clock.advance(JobQueue::lease / 2);
        must(bench.queue.renew("b", {second->jobs.front().key}));
        world.clock.advance(JobQueue::lease / 2 + std::chrono::seconds(1));
        CHECK(must(bench.queue.rescue()) == 1); // of a, which was killed
        const auto again = must(bench.queue.claim("b", 50));
        REQUIRE(again);
        CHECK(again->jobs.front().key == first->jobs.front().key);
        CHECK(again->jobs.front().attempts == 2);
        // The killed server was only slow: its end changes nothing.
        CHECK_FALSE(must(bench.queue.end(task, first->jobs.front(), "a", bench.verdict())).is_stored);
        CHECK(must(bench.queue.end(task, again->jobs.front(), "b", bench.verdict(true))).is_stored);
        CHECK(must(bench.queue.end(task, second->jobs.front(), "b", bench.verdict())).is_stored);
        CHECK(bench.count("done") == 2);
        const EvalTask seen = must(bench.evaluate.eval_tasks.find(world.admin, task.id));
        CHECK(seen.done_24h == 2);
        CHECK(seen.tokens_today == 100);
    });
}

TEST_CASE("A clock that is set back gives jobs back and does not hide new ones") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        bench.add_many(task, 1);
        REQUIRE(must(bench.queue.claim("a", 50)));
        world.clock.jump(-std::chrono::hours(5));
        CHECK(must(bench.queue.rescue()) == 1);
        world.clock.jump(std::chrono::hours(5));
        CHECK(must(bench.queue.claim("b", 50)));
    });
}

TEST_CASE("Temporary failures are retried with growing pauses, five times, and then are failures") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        bench.add_many(task, 1);
        std::string key;
        for (int64_t attempt = 1; attempt <= JobQueue::most_attempts; ++attempt) {
            auto claimed = must(bench.queue.claim("a", 50));
            REQUIRE(claimed);
            key = claimed->jobs.front().key;
            CHECK(claimed->jobs.front().attempts == attempt);
            JudgeOutcome failed = bench.failure(JudgeReason::provider, true);
            if (attempt == 1) failed.retry_after = std::chrono::seconds(60);
            must(bench.queue.end(task, claimed->jobs.front(), "a", failed));
            if (attempt == 1) {
                world.clock.advance(std::chrono::seconds(30));
                CHECK_FALSE(must(bench.queue.claim("a", 50))); // Retry-After is respected
            }
            world.clock.advance(JobQueue::probe_interval + std::chrono::seconds(1));
        }
        CHECK(bench.state(task, key) == "failed provider");
        // A person tries it again.
        CHECK(must(bench.evaluate.eval_tasks.retry(world.admin, task.id, {})).jobs == 1);
        const auto claimed = must(bench.queue.claim("a", 50));
        REQUIRE(claimed);
        CHECK(claimed->jobs.front().attempts == 1);
        // A remote service that needs time is not a failed attempt, but not forever.
        JudgeOutcome pending = bench.failure(JudgeReason::provider, true);
        pending.is_pending = true;
        must(bench.queue.end(task, claimed->jobs.front(), "a", pending));
        CHECK(bench.state(task, key) == "queued provider");
        world.clock.advance(JobQueue::longest_try + std::chrono::minutes(10));
        const auto late = must(bench.queue.claim("a", 50));
        REQUIRE(late);
        CHECK(late->jobs.front().attempts == 1);
        must(bench.queue.end(task, late->jobs.front(), "a", pending));
        CHECK(bench.state(task, key) == "expired provider");
    });
}

TEST_CASE("An hour of nonsense pauses the task after five failures, and a verdict resumes it") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        bench.add_many(task, 100);
        int64_t tried = 0;
        std::string paused;
        for (int second = 0; second < 3500; second += 10) {
            while (const auto claimed = must(bench.queue.claim("a", 50))) {
                ++tried;
                const auto ended =
                    must(bench.queue.end(task, claimed->jobs.front(), "a", bench.failure(JudgeReason::unparsable)));
                if (!ended.paused.empty()) paused = ended.paused;
            }
            world.clock.advance(std::chrono::seconds(10));
        }
        CHECK(tried <= JobQueue::failures_before_pause + 6); // one attempt every ten minutes
        CHECK(tried >= JobQueue::failures_before_pause + 4);
        CHECK(paused.find("unparsable") != std::string::npos);
        CHECK(bench.count("queued") == 100 - tried); // nothing is lost
        EvalTask seen = must(bench.evaluate.eval_tasks.find(world.admin, task.id));
        CHECK(seen.state == EvalTaskState::paused);
        CHECK(seen.waits_until);
        world.clock.advance(JobQueue::probe_interval);
        const auto probe = must(bench.queue.claim("a", 50));
        REQUIRE(probe);
        CHECK_FALSE(must(bench.queue.claim("b", 50))); // one attempt at a time
        must(bench.queue.end(task, probe->jobs.front(), "a", bench.verdict()));
        seen = must(bench.evaluate.eval_tasks.find(world.admin, task.id));
        CHECK(seen.state == EvalTaskState::active);
        CHECK(seen.reason.empty());
        CHECK(must(bench.queue.claim("a", 50)));
    });
}

TEST_CASE("A model that is gone pauses the task immediately and its job stays") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        bench.add_many(task, 3);
        const auto claimed = must(bench.queue.claim("a", 50));
        const auto ended =
            must(bench.queue.end(task, claimed->jobs.front(), "a", bench.failure(JudgeReason::rejected)));
        CHECK(ended.paused.find("rejected") != std::string::npos);
        CHECK(bench.count("queued") == 3);
        CHECK_FALSE(must(bench.queue.claim("a", 50)));
        // Enabling it resumes it.
        EvalTaskChange change;
        change.enabled = true;
        must(bench.evaluate.eval_tasks.update(world.admin, task.id, change));
        CHECK(must(bench.queue.claim("a", 50)));
        // A server that stops gives the job back without an attempt.
        const auto next = must(bench.queue.claim("a", 50));
        must(bench.queue.end(task, next->jobs.front(), "a", bench.failure(JudgeReason::stopped)));
        CHECK(must(bench.queue.claim("a", 50))->jobs.front().attempts == 1);
    });
}

TEST_CASE("A budget of one verdict gives one verdict: the others are skipped, or wait for the next day") {
    in_jobs([](World& world, JobBench& bench) {
        for (const OnBudget mode : {OnBudget::skip, OnBudget::defer}) {
            const EvalTask task = bench.task([&](NewEvalTask& wanted) {
                wanted.tokens_per_day = 100;
                wanted.on_budget = mode;
            });
            must(world.database.execute("DELETE FROM eval_jobs"));
            bench.add_many(task, 3);
            const auto claimed = must(bench.queue.claim("a", 50));
            REQUIRE(claimed);
            must(bench.queue.end(task, claimed->jobs.front(), "a", bench.verdict()));
            CHECK_FALSE(must(bench.queue.claim("a", 50)));
            CHECK(bench.count("done") == 1);
            CHECK(bench.count("skipped") == (mode == OnBudget::skip ? 2 : 0));
            const auto rows = must(bench.evaluate.eval_tasks.funnel(world.admin, task.id, 1));
            REQUIRE(rows.size() == 1);
            CHECK(rows[0].sampled == 3);
            CHECK(rows[0].judged == 1);
            CHECK(rows[0].skipped + rows[0].waiting == 2);
            if (mode == OnBudget::skip) CHECK(rows[0].reasons.at("budget") == 2);
            world.clock.advance(std::chrono::hours(24));
            if (mode == OnBudget::skip) {
                CHECK_FALSE(must(bench.queue.claim("a", 50)));
                RetryJobs skipped;
                skipped.reason = std::string("budget");
                CHECK(must(bench.evaluate.eval_tasks.retry(world.admin, task.id, skipped)).jobs == 2);
            }
            CHECK(must(bench.queue.claim("a", 50)));
            must(bench.evaluate.eval_tasks.remove(world.admin, task.id));
        }
    });
}

TEST_CASE("Tokens that a provider does not report are estimated, marked, and count for the budget") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task([](NewEvalTask& wanted) { wanted.tokens_per_day = 100; });
        bench.add_many(task, 2);
        const auto claimed = must(bench.queue.claim("a", 50));
        REQUIRE(claimed);
        JudgeOutcome unreported = bench.verdict();
        unreported.input_tokens = 0;
        unreported.estimated_tokens = 120;
        must(bench.queue.end(task, claimed->jobs.front(), "a", unreported));
        const auto jobs = must(bench.evaluate.eval_tasks.jobs(world.admin, task.id, "done", "", {})).data;
        REQUIRE(jobs.size() == 1);
        CHECK(jobs.front().tokens == 120);
        CHECK(jobs.front().estimated_tokens == 120);
        CHECK(must(bench.evaluate.eval_tasks.find(world.admin, task.id)).tokens_today == 120);
        CHECK_FALSE(must(bench.queue.claim("a", 50)));
        CHECK(bench.count("skipped") == 1);
    });
}

TEST_CASE("Caps hold for the hour and the day") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task([](NewEvalTask& wanted) {
            wanted.most_per_hour = 2;
            wanted.most_per_day = 3;
            wanted.on_budget = OnBudget::defer;
        });
        bench.add_many(task, 10);
        const auto run_all = [&] {
            int count = 0;
            while (const auto claimed = must(bench.queue.claim("a", 50))) {
                must(bench.queue.end(task, claimed->jobs.front(), "a", bench.verdict()));
                ++count;
            }
            return count;
        };
        CHECK(run_all() == 2);
        world.clock.advance(std::chrono::hours(1));
        CHECK(run_all() == 1);
        world.clock.advance(std::chrono::hours(1));
        CHECK(run_all() == 0);
        world.clock.advance(std::chrono::hours(24));
        CHECK(run_all() == 2);
        CHECK(bench.count("queued") == 5);
    });
}

TEST_CASE("Tasks take turns, backfills come last, and one of code gets a batch") {
    in_jobs([](World&, JobBench& bench) {
        const EvalTask first = bench.task();
        bench.add(first, {bench.target(1)}, make_id<EvalBackfillTag>(bench.world.clock));
        bench.add(first, {bench.target(2), bench.target(3)});
        const auto claimed = must(bench.queue.claim("a", 50));
        CHECK(claimed->jobs.front().target_id == bench.fmt_id(3));
        CHECK(must(bench.queue.claim("a", 50))->jobs.front().target_id == bench.fmt_id(2));
        CHECK(must(bench.queue.claim("a", 50))->jobs.front().target_id == bench.fmt_id(1));
    });
}

TEST_CASE("Backfills are fixed when they start and can be cancelled") {
    in_jobs([](World& world, JobBench& bench) {
        const EvalTask task = bench.task();
        NewBackfill wanted;
        wanted.from = world.clock.now() - std::chrono::hours(24);
        // Without spans there is nothing to search.
        CHECK(outcome(bench.evaluate.eval_tasks.start_backfill(world.admin, task.id, wanted)) == "unavailable");
        CHECK(outcome(bench.evaluate.eval_tasks.estimate(world.admin, task.id, wanted)) == "unavailable");
        wanted.most_targets = int64_t{0};
        CHECK(outcome(bench.evaluate.eval_tasks.estimate(world.admin, task.id, wanted)) == "invalid");
        const auto id = make_id<EvalBackfillTag>(world.clock);
        CHECK(outcome(bench.evaluate.eval_tasks.cancel_backfill(world.admin, task.id, id)) == "not_found");
    });
}

TEST_CASE("Only members who may spend money create tasks, and hidden projects have none") {
    in_jobs([](World& world, JobBench& bench) {
        const auto hidden = must(world.access.projects.create_for_experiment(access::Caller::system(), world.space,
                                                                             "hidden " + make_ulid(world.clock.now())));
        NewEvalTask wanted;
        wanted.project = hidden.id.text();
        wanted.evaluator = "polite";
        CHECK(outcome(bench.evaluate.eval_tasks.create(world.admin, world.space, wanted, bench.finder())) == "invalid");
        wanted.project = bench.project.name;
        wanted.filter = std::string("status =");
        CHECK(outcome(bench.evaluate.eval_tasks.create(world.admin, world.space, wanted, bench.finder())) == "invalid");
        wanted.filter = std::string();
        wanted.rate_ppm = int64_t{0};
        CHECK(outcome(bench.evaluate.eval_tasks.create(world.admin, world.space, wanted, bench.finder())) == "invalid");
        wanted.strata = std::vector<Stratum>{{"status = error", 1'000'000}};
        CHECK(outcome(bench.evaluate.eval_tasks.create(world.admin, world.space, wanted, bench.finder())) == "ok");
        const auto viewer =
            world.join(world.space, "viewer" + make_ulid(world.clock.now()) + "@example.com", Role::viewer);
        CHECK(outcome(bench.evaluate.eval_tasks.create(viewer, world.space, wanted, bench.finder())) == "forbidden");
        bench.version.kind = EvaluatorKind::rule;
        CHECK(outcome(bench.evaluate.eval_tasks.create(world.admin, world.space, wanted, bench.finder())) == "invalid");
    });
}

} // namespace hone::evaluate
