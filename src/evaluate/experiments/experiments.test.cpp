// Experiments on both engines: frozen examples, runs stored once, what is incomplete, comparisons.
#include "access/testing.h"
#include "evaluate/evaluate.h"
#include "evaluate/experiments/compare.h"

#include <thread>

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

struct Laboratory {
    explicit Laboratory(World& given) : world(given), evaluate(given.database, given.clock, given.access) {
        must(given.database.execute("DELETE FROM datasets"));
    }

    Uploaded dataset(int examples, bool must_pass = false) {
        Upload upload;
        upload.action = UploadAction::update;
        upload.name = "shop";
        for (int i = 0; i < examples; ++i) {
            NewExample example;
            example.input = json::Object{{"number", i}};
            example.example_id = "e" + std::to_string(i);
            if (must_pass) example.metadata = json::Object{{"must_pass", true}};
            upload.examples.push_back(std::move(example));
        }
        return must(evaluate.datasets.upload(world.admin, world.space, std::move(upload)));
    }
    std::vector<Example> examples(const DatasetId& id) {
        return must(evaluate.datasets.examples(world.admin, id, newest_version, {}, -1, 1000));
    }
    ExperimentRun run(const ExperimentId& id, const ExampleId& example, int64_t repetition = 1,
                      std::optional<std::string> error = {}) {
        ExperimentRun made;
        made.experiment_id = id;
        made.example_id = example;
        made.repetition = repetition;
        made.output = R"({"a":1})";
        made.error = std::move(error);
        made.started_at = world.clock.now();
        made.ended_at = world.clock.now() + std::chrono::milliseconds(5);
        return made;
    }
    // An experiment in which example i passes when `passes(i, repetition)`.
    template <class Passes>
    ExperimentId measured(const DatasetId& dataset, int64_t repetitions, Passes passes) {
        NewExperiment wanted;
        wanted.repetitions = repetitions;
        const auto made = must(evaluate.experiments.create(world.admin, dataset, wanted));
        int i = 0;
        for (const Example& example : examples(dataset)) {
            for (int64_t repetition = 1; repetition <= repetitions; ++repetition) {
                ExperimentEval eval;
                eval.run_id = must(evaluate.experiments.add_run(world.admin, run(made.id, example.id, repetition)));
                eval.name = "correct";
                eval.score = passes(i, repetition) ? 1 : 0;
                must(evaluate.experiments.set_eval(world.admin, eval));
            }
            ++i;
        }
        return made.id;
    }

    World& world;
    Evaluate evaluate;
};

template <class Test>
void for_each_laboratory(Test&& test) {
    access::testing::for_each_world([&](World& world) {
        Laboratory laboratory(world);
        test(laboratory);
    });
}

} // namespace

TEST_CASE("an experiment keeps the examples it was created with") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(3);
        NewExperiment wanted;
        wanted.repetitions = 2;
        const auto made = must(lab.evaluate.experiments.create(lab.world.admin, sent.dataset, wanted));
        CHECK(made.example_count == 3);
        CHECK(made.missing_runs() == 6);
        const auto examples = lab.examples(sent.dataset);
        lab.dataset(1); // two are deleted
        const auto incomplete = must(lab.evaluate.experiments.incomplete_runs(lab.world.admin, made.id, {}));
        REQUIRE(incomplete.data.size() == 3);
        CHECK(incomplete.data[0].repetitions == std::vector<int64_t>{1, 2});
        CHECK(outcome(lab.evaluate.experiments.add_run(lab.world.admin, lab.run(made.id, examples[2].id))) == "ok");
        const auto newer = must(lab.evaluate.experiments.create(lab.world.admin, sent.dataset, {}));
        CHECK(newer.example_count == 1);
        CHECK(outcome(lab.evaluate.experiments.add_run(lab.world.admin, lab.run(newer.id, examples[2].id))) ==
              "not_found");
        // Its project exists and is left out of lists.
        CHECK(must(lab.world.access.projects.list(lab.world.admin, lab.world.space, {}, {})).data.empty());
        CHECK(must(lab.world.access.projects.list(lab.world.admin, lab.world.space, {}, {}, true)).data.size() == 2);
        CHECK(outcome(lab.world.access.projects.find(lab.world.admin, lab.world.space, made.project_name)) == "ok");
        must(lab.evaluate.experiments.remove(lab.world.admin, made.id, true));
        CHECK(must(lab.world.access.projects.list(lab.world.admin, lab.world.space, {}, {}, true)).data.size() == 1);
    });
}

TEST_CASE("a summary has the means of evals over examples, failed evals apart, and the tags") {
    for_each_laboratory([](Laboratory& lab) {
        auto& experiments = lab.evaluate.experiments;
        const auto sent = lab.dataset(4);
        // Example 0 passes in one of two repetitions: its mean is 0.5.
        const auto id =
            lab.measured(sent.dataset, 2, [](int i, int64_t time) { return i > 1 || (i == 0 && time == 1); });
        must(experiments.set_tag(lab.world.admin, id, "baseline", ""));
        ExperimentEval failed;
        failed.run_id = must(experiments.runs(lab.world.admin, id, "", 1)).front().id;
        failed.name = "judged";
        failed.error = "no model";
        must(experiments.set_eval(lab.world.admin, failed));
        const auto empty = must(experiments.create(lab.world.admin, sent.dataset, {}));
        const auto found = must(experiments.find(lab.world.admin, id));
        const auto summaries = must(experiments.summaries({found, empty}));
        REQUIRE(summaries.contains(id));
        CHECK(!summaries.contains(empty.id));
        const auto& summary = summaries.at(id);
        CHECK(summary.tags == std::vector<std::string>{"baseline"});
        REQUIRE(summary.evals.size() == 2);
        CHECK(summary.evals[0].name == "correct");
        CHECK(summary.evals[0].examples == 4);
        CHECK(summary.evals[0].mean == doctest::Approx(0.625));
        REQUIRE(summary.evals[0].low);
        CHECK(*summary.evals[0].low < 0.625);
        CHECK(summary.evals[1].name == "judged");
        CHECK(summary.evals[1].examples == 0);
        CHECK(summary.evals[1].errors == 1);
        CHECK(must(experiments.summaries({})).empty());
        // A client sent these evals. An evaluator of this server is named with its version, also for results that have
        // names of their own.
        CHECK(!summary.evals[0].evaluator_version);
        must(lab.world.database.execute("INSERT INTO experiment_evaluators (experiment_id, position, evaluator_id, "
                                        "number, name) VALUES (?, 0, 'evaluator_1', 3, 'judged')",
                                        id));
        ExperimentEval part;
        part.run_id = failed.run_id;
        part.name = "tone";
        part.score = 1;
        part.evaluator = "judged";
        must(experiments.set_eval(lab.world.admin, part));
        const auto applied = must(experiments.summaries({found})).at(id).evals;
        REQUIRE(applied.size() == 3);
        CHECK(!applied[0].evaluator_id);
        CHECK(applied[1].evaluator_id == "evaluator_1");
        CHECK(applied[1].evaluator_version == 3);
        CHECK(applied[2].name == "tone");
        CHECK(applied[2].evaluator_version == 3);
        // The runs of one example.
        const auto example = lab.examples(sent.dataset)[1].id;
        const auto records = must(experiments.records_of(lab.world.admin, id, example));
        REQUIRE(records.size() == 2);
        CHECK(records[1].run.repetition == 2);
        CHECK(records[1].run.example_id == example);
        CHECK(outcome(experiments.records_of(lab.world.admin, id, ExampleId("example_none"))) == "not_found");
    });
}

TEST_CASE("experiments that mention a prompt version are found in their own space only") {
    for_each_laboratory([](Laboratory& lab) {
        auto& experiments = lab.evaluate.experiments;
        const auto sent = lab.dataset(1);
        NewExperiment wanted;
        wanted.metadata = json::Object{{"prompt_version", "promptversion_7"}};
        const auto made = must(experiments.create(lab.world.admin, sent.dataset, wanted));
        must(experiments.create(lab.world.admin, sent.dataset, {}));
        const auto find = [&](const access::SpaceId& space, std::vector<std::string> texts) {
            return must(experiments.mentioning(lab.world.admin, space, texts, 10)).size();
        };
        CHECK(find(lab.world.space, {"none", "promptversion_7"}) == 1);
        CHECK(find(lab.world.space, {"promptversion_8"}) == 0);
        CHECK(find(lab.world.space, {}) == 0);
        const auto other = must(lab.world.access.spaces.create(lab.world.admin, "other", ""));
        CHECK(find(other.id, {"promptversion_7"}) == 0);
        CHECK(made.missing_runs() == 1);
    });
}

TEST_CASE("a run is stored once: a failed one is replaced, a good one is not") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(2);
        const auto made = must(lab.evaluate.experiments.create(lab.world.admin, sent.dataset, {}));
        const auto id = lab.examples(sent.dataset)[0].id;
        auto& experiments = lab.evaluate.experiments;
        const auto failed = must(experiments.add_run(lab.world.admin, lab.run(made.id, id, 1, "it broke")));
        ExperimentEval eval;
        eval.run_id = failed;
        eval.name = "correct";
        eval.score = 0;
        must(experiments.set_eval(lab.world.admin, eval));
        CHECK(must(experiments.find(lab.world.admin, made.id)).failed_runs == 1);
        const auto good = must(experiments.add_run(lab.world.admin, lab.run(made.id, id)));
        CHECK(good == failed);
        CHECK(lab.world.count("experiment_evals") == 0); // of the failed run
        CHECK(outcome(experiments.add_run(lab.world.admin, lab.run(made.id, id))) == "conflict");
        CHECK(outcome(experiments.add_run(lab.world.admin, lab.run(made.id, id, 1, "again"))) == "conflict");
        const auto now = must(experiments.find(lab.world.admin, made.id));
        CHECK(now.successful_runs == 1);
        CHECK(now.missing_runs() == 1);
        for (const int64_t repetition : {int64_t{0}, int64_t{-1}, int64_t{2}, int64_t{1'000'000'000}})
            CHECK(outcome(experiments.add_run(lab.world.admin, lab.run(made.id, id, repetition))) == "invalid");
        auto backwards = lab.run(made.id, lab.examples(sent.dataset)[1].id);
        std::swap(backwards.started_at, backwards.ended_at);
        CHECK(outcome(experiments.add_run(lab.world.admin, backwards)) == "invalid");
    });
}

TEST_CASE("runs that several clients send at the same time are stored once") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(5);
        const auto made = must(lab.evaluate.experiments.create(lab.world.admin, sent.dataset, {}));
        const auto examples = lab.examples(sent.dataset);
        std::vector<std::thread> threads;
        std::atomic<int> stored{0}, refused{0};
        for (int client = 0; client < 4; ++client)
            threads.emplace_back([&] {
                for (const Example& example : examples) {
                    const auto sent_run =
                        lab.evaluate.experiments.add_run(lab.world.admin, lab.run(made.id, example.id));
                    if (sent_run.ok()) ++stored;
                    if (!sent_run.ok() && sent_run.error().code == Code::conflict) ++refused;
                }
            });
        for (auto& thread : threads) thread.join();
        CHECK(stored == 5);
        CHECK(refused == 15);
    });
}

TEST_CASE("evals are replaced by name, and those that are missing or failed are listed") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(2);
        auto& experiments = lab.evaluate.experiments;
        const auto made = must(experiments.create(lab.world.admin, sent.dataset, {}));
        const auto examples = lab.examples(sent.dataset);
        ExperimentEval eval;
        eval.run_id = must(experiments.add_run(lab.world.admin, lab.run(made.id, examples[0].id)));
        must(experiments.add_run(lab.world.admin, lab.run(made.id, examples[1].id, 1, "failed")));
        eval.name = "correct";
        eval.error = "model unavailable";
        const auto first = must(experiments.set_eval(lab.world.admin, eval));
        const auto missing = [&](std::vector<std::string> names) {
            std::string all;
            for (const auto& one : must(experiments.incomplete_evaluations(lab.world.admin, made.id, names, {})).data)
                for (const auto& name : one.names) all += name + " ";
            return all;
        };
        CHECK(missing({"correct", "tone"}) == "correct tone "); // not of the failed run
        eval.error.reset();
        eval.score = 1;
        CHECK(must(experiments.set_eval(lab.world.admin, eval)) == first);
        CHECK(missing({"correct", "tone"}) == "tone ");
        CHECK(missing({"correct"}).empty());
        CHECK(outcome(experiments.incomplete_evaluations(lab.world.admin, made.id, {}, {})) == "invalid");
        eval.score = std::numeric_limits<double>::infinity();
        CHECK(outcome(experiments.set_eval(lab.world.admin, eval)) == "invalid");
        eval.score = 1;
        eval.run_id = make_id<ExperimentRunTag>(lab.world.clock);
        CHECK(outcome(experiments.set_eval(lab.world.admin, eval)) == "not_found");
        const auto records = must(experiments.records(lab.world.admin, made.id, -1, 100));
        REQUIRE(records.size() == 2);
        CHECK(records[0].evals.size() == 1);
        CHECK(records[1].evals.empty());
    });
}

TEST_CASE("experiments of other spaces are invisible, and viewers cannot write") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(1);
        auto& experiments = lab.evaluate.experiments;
        const auto made = must(experiments.create(lab.world.admin, sent.dataset, {}));
        const auto example = lab.examples(sent.dataset)[0].id;
        ExperimentEval eval;
        eval.run_id = must(experiments.add_run(lab.world.admin, lab.run(made.id, example)));
        eval.name = "correct";
        const auto other = lab.world.join(lab.world.add_space("other"), "other@example.com", Role::owner);
        const auto viewer = lab.world.join(lab.world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(experiments.find(other, made.id)) == "not_found");
        CHECK(outcome(experiments.set_eval(other, eval)) == "not_found");
        CHECK(outcome(experiments.add_run(other, lab.run(made.id, example))) == "not_found");
        CHECK(outcome(experiments.find(viewer, made.id)) == "ok");
        CHECK(outcome(experiments.set_eval(viewer, eval)) == "forbidden");
        CHECK(outcome(experiments.create(viewer, sent.dataset, {})) == "forbidden");
        CHECK(outcome(experiments.set_tag(viewer, made.id, "baseline", "")) == "forbidden");
        CHECK(outcome(experiments.remove(viewer, made.id, false)) == "forbidden");
    });
}

TEST_CASE("a tag marks one experiment of a dataset and moves") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(1);
        auto& experiments = lab.evaluate.experiments;
        const auto one = must(experiments.create(lab.world.admin, sent.dataset, {}));
        const auto two = must(experiments.create(lab.world.admin, sent.dataset, {}));
        must(experiments.set_tag(lab.world.admin, one.id, "baseline", ""));
        CHECK(must(experiments.find_by_name(lab.world.admin, sent.dataset, "baseline")).id == one.id);
        must(experiments.set_tag(lab.world.admin, two.id, "baseline", "newer"));
        CHECK(must(experiments.tags(lab.world.admin, one.id)).empty());
        CHECK(must(experiments.find_by_name(lab.world.admin, sent.dataset, "baseline")).id == two.id);
        CHECK(must(experiments.find_by_name(lab.world.admin, sent.dataset, one.name)).id == one.id);
        CHECK(outcome(experiments.set_tag(lab.world.admin, one.id, "Not A Tag", "")) == "invalid");
        must(experiments.remove_tag(lab.world.admin, two.id, "baseline"));
        CHECK(outcome(experiments.find_by_name(lab.world.admin, sent.dataset, "baseline")) == "not_found");
    });
}

TEST_CASE("a comparison shows fixed and broken examples, and the gate fails on a significant drop") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(20);
        const auto base = lab.measured(sent.dataset, 1, [](int i, int64_t) { return i < 18; });
        const auto worse = lab.measured(sent.dataset, 1, [](int i, int64_t) { return i >= 8; });
        const auto& experiments = lab.evaluate.experiments;
        const auto found = must(compare(experiments, lab.world.admin, base, worse, {}));
        REQUIRE(found.metrics.size() == 1);
        CHECK(found.common_examples == 20);
        CHECK(found.metrics[0].fixed == 2);
        CHECK(found.metrics[0].broken == 8);
        CHECK(found.metrics[0].passed_both == 10);
        CHECK(found.metrics[0].delta == doctest::Approx(-0.3));
        CHECK(found.metrics[0].test == "exact_mcnemar");
        CHECK(found.metrics[0].p == doctest::Approx(0.109375)); // eight of ten
        CHECK(found.metrics[0].verdict == "no_difference_shown");
        CHECK(found.gate.verdict == "passed");
        REQUIRE(found.gate.notes.size() == 1);
        CHECK(found.examples.front().flip.at("correct") == "broken");
        const auto worst = lab.measured(sent.dataset, 1, [](int i, int64_t) { return i >= 12; });
        const auto failed = must(compare(experiments, lab.world.admin, base, worst, {}));
        CHECK(failed.metrics[0].verdict == "regressed");
        REQUIRE(failed.gate.reasons.size() == 1);
        CHECK(failed.gate.reasons[0].guard == "significance");
        CHECK(must(compare(experiments, lab.world.admin, worst, base, {})).gate.verdict == "passed");
        // The same eval, where less is better.
        CompareOptions lower;
        lower.lower_is_better = {"correct"};
        CHECK(must(compare(experiments, lab.world.admin, base, worst, lower)).gate.verdict == "passed");
    });
}

TEST_CASE("a comparison has pages of examples, the largest drop first, with the ids of their sender") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(10);
        const auto base = lab.measured(sent.dataset, 2, [](int, int64_t) { return true; });
        const auto worse = lab.measured(sent.dataset, 2, [](int i, int64_t n) { return i != 7 && (i != 4 || n == 2); });
        const auto page = [&](int64_t skip, int64_t limit) {
            CompareOptions options;
            options.skip = skip;
            options.limit = limit;
            return must(compare(lab.evaluate.experiments, lab.world.admin, base, worse, options));
        };
        const Comparison first = page(0, 2);
        REQUIRE(first.examples.size() == 2);
        CHECK(first.has_more_examples);
        CHECK(first.examples[0].external_id == "e7");
        CHECK(first.examples[0].delta.at("correct") == -1);
        CHECK(first.examples[1].external_id == "e4");
        CHECK(first.examples[1].other.at("correct") == std::vector<double>{0, 1}); // by repetition
        CHECK(first.examples[1].flaky);
        CHECK(first.latency.pairs == 10);
        CHECK(first.latency.base_median_ms == doctest::Approx(5));
        const Comparison last = page(9, 2);
        CHECK(last.examples.size() == 1);
        CHECK_FALSE(last.has_more_examples);
        CHECK(page(10, 2).examples.empty());
        CHECK(page(0, 0).examples.empty());
    });
}

TEST_CASE("evals in a group are stored all or not at all, except those of runs that are gone") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(2);
        auto& experiments = lab.evaluate.experiments;
        const auto made = must(experiments.create(lab.world.admin, sent.dataset, {}));
        std::vector<ExperimentEval> evals;
        for (const Example& example : lab.examples(sent.dataset)) {
            ExperimentEval eval;
            eval.run_id = must(experiments.add_run(lab.world.admin, lab.run(made.id, example.id)));
            eval.name = "correct";
            eval.score = 1;
            evals.push_back(eval);
        }
        std::vector<ExperimentEval> wrong = evals;
        wrong.back().score = std::numeric_limits<double>::infinity();
        CHECK(outcome(experiments.set_evals(lab.world.admin, wrong)) == "invalid");
        CHECK(lab.world.count("experiment_evals") == 0);
        std::vector<ExperimentEval> gone = evals;
        gone.front().run_id = make_id<ExperimentRunTag>(lab.world.clock);
        must(experiments.set_evals(lab.world.admin, gone));
        CHECK(lab.world.count("experiment_evals") == 1);
        must(experiments.set_evals(lab.world.admin, evals));
        CHECK(lab.world.count("experiment_evals") == 2);
        const access::Caller stranger = lab.world.join(lab.world.space, "viewer@example.com", access::Role::viewer);
        CHECK(outcome(experiments.set_evals(stranger, evals)) == "forbidden");
    });
}

TEST_CASE("several results of an evaluator replace the failure that was stored under its name") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(1);
        auto& experiments = lab.evaluate.experiments;
        const auto made = must(experiments.create(lab.world.admin, sent.dataset, {}));
        ExperimentEval eval;
        eval.run_id =
            must(experiments.add_run(lab.world.admin, lab.run(made.id, lab.examples(sent.dataset).front().id)));
        eval.name = "tone";
        eval.evaluator = "tone";
        eval.error = "the code failed";
        must(experiments.set_evals(lab.world.admin, {eval}));
        eval.error.reset();
        eval.score = 1;
        ExperimentEval other = eval;
        eval.name = "tone.short";
        other.name = "tone.polite";
        must(experiments.set_evals(lab.world.admin, {eval, other}));
        CHECK(must(experiments.eval_names(lab.world.admin, made.id)) ==
              std::vector<std::string>{"tone.polite", "tone.short"});
        // What a client sent under the name of the evaluator stays, and so does a verdict of its own.
        eval.name = "tone";
        must(experiments.set_evals(lab.world.admin, {eval, other}));
        CHECK(must(experiments.eval_names(lab.world.admin, made.id)).size() == 3);
    });
}

TEST_CASE("the gate fails on hard breaks, on examples that must pass and on missing runs") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(4, true);
        const auto& experiments = lab.evaluate.experiments;
        const auto base = lab.measured(sent.dataset, 3, [](int, int64_t) { return true; });
        const auto flaky = lab.measured(sent.dataset, 3, [](int i, int64_t n) { return i != 0 || n > 1; });
        const auto calm = must(compare(experiments, lab.world.admin, base, flaky, {}));
        CHECK(calm.metrics[0].flaky == 1);
        CHECK(calm.gate.verdict == "passed");
        const auto broken = lab.measured(sent.dataset, 3, [](int i, int64_t) { return i != 0; });
        const auto found = must(compare(experiments, lab.world.admin, base, broken, {}));
        CHECK(found.gate.verdict == "failed");
        REQUIRE(found.gate.reasons.size() == 2);
        CHECK(found.gate.reasons[0].guard == "hard_break");
        CHECK(found.gate.reasons[1].guard == "must_pass");
        const auto empty = must(lab.evaluate.experiments.create(lab.world.admin, sent.dataset, {}));
        const auto nothing = must(compare(experiments, lab.world.admin, base, empty.id, {}));
        REQUIRE(nothing.gate.reasons.size() == 1);
        CHECK(nothing.gate.reasons[0].guard == "coverage");
        CHECK(nothing.metrics.empty());
    });
}

TEST_CASE("deleting a dataset deletes its experiments and their projects") {
    for_each_laboratory([](Laboratory& lab) {
        const auto sent = lab.dataset(2);
        lab.measured(sent.dataset, 1, [](int, int64_t) { return true; });
        must(lab.evaluate.experiments.remove_dataset(lab.world.admin, sent.dataset));
        for (const std::string table : {"datasets", "experiments", "experiment_runs", "experiment_evals", "projects"})
            CHECK(lab.world.count(table) == 0);
    });
}

TEST_CASE("a prompt has versions, and tags that move between them") {
    for_each_laboratory([](Laboratory& lab) {
        must(lab.world.database.execute("DELETE FROM prompts"));
        auto& prompts = lab.evaluate.prompts;
        const auto content = [](const std::string& text) {
            return must(json::parse(R"({"model_provider":"OPENAI","model_name":"gpt-x","template_type":"CHAT",)"
                                    R"("template_format":"MUSTACHE","tools":null,"template":{"type":"chat","messages":)"
                                    R"([{"role":"user","content":")" +
                                    text + R"("}]},"invocation_parameters":{"type":"openai","openai":{}}})"));
        };
        const auto one = must(prompts.add_version(lab.world.admin, lab.world.space, {.name = "greet"}, content("hi")));
        const auto two = must(prompts.add_version(lab.world.admin, lab.world.space, {.name = "greet"}, content("yo")));
        CHECK(one.prompt_id == two.prompt_id);
        CHECK(two.number == 2);
        CHECK(!one.content.as_object().contains("tools")); // no null
        CHECK(must(prompts.latest(lab.world.admin, one.prompt_id)).id == two.id);
        must(prompts.set_tag(lab.world.admin, one.id, "production", ""));
        CHECK(must(prompts.tagged(lab.world.admin, one.prompt_id, "production")).id == one.id);
        must(prompts.set_tag(lab.world.admin, two.id, "production", ""));
        CHECK(must(prompts.tagged(lab.world.admin, one.prompt_id, "production")).id == two.id);
        CHECK(must(prompts.tags(lab.world.admin, one.id, {})).data.empty());
        CHECK(outcome(prompts.add_version(lab.world.admin, lab.world.space, {.name = "Not Good"}, content("hi"))) ==
              "invalid");
        auto text = content("hi");
        text.as_object()["template_type"] = "STR";
        CHECK(outcome(prompts.add_version(lab.world.admin, lab.world.space, {.name = "greet"}, text)) == "invalid");
        const auto viewer = lab.world.join(lab.world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(prompts.latest(viewer, one.prompt_id)) == "ok");
        CHECK(outcome(prompts.set_tag(viewer, one.id, "production", "")) == "forbidden");
        const auto other = lab.world.join(lab.world.add_space("other"), "other@example.com", Role::owner);
        CHECK(outcome(prompts.version(other, one.id)) == "not_found");
        must(prompts.remove(lab.world.admin, one.prompt_id));
        CHECK(outcome(prompts.version(lab.world.admin, one.id)) == "not_found");
    });
}

} // namespace hone::evaluate
