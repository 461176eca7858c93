// Verdicts of people about runs of experiments, on both engines.
#include "access/testing.h"
#include "evaluate/evaluate.h"

#include <limits>

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

struct CorrectedExperiment {
    explicit CorrectedExperiment(World& given) : world(given), evaluate(given.database, given.clock, given.access) {
        must(given.database.execute("DELETE FROM datasets"));
        Upload upload;
        upload.action = UploadAction::update;
        upload.name = "shop";
        NewExample example;
        example.input = json::Object{{"question", "Where is it?"}};
        upload.examples.push_back(std::move(example));
        const DatasetId dataset = must(evaluate.datasets.upload(world.admin, world.space, std::move(upload))).dataset;
        experiment = must(evaluate.experiments.create(world.admin, dataset, {})).id;
        run = store_run({});
        ExperimentEval eval;
        eval.run_id = run;
        eval.name = "correct";
        eval.kind = AnnotatorKind::llm;
        eval.label = "fail";
        eval.score = 0;
        eval.explanation = "it is rude";
        must(evaluate.experiments.set_eval(world.admin, eval));
    }
    ExperimentRunId store_run(std::optional<std::string> error) {
        const auto dataset = must(evaluate.experiments.find(world.admin, experiment)).dataset_id;
        ExperimentRun made;
        made.experiment_id = experiment;
        made.example_id = must(evaluate.datasets.examples(world.admin, dataset, newest_version, {}, -1, 1)).front().id;
        made.output = R"("soon")";
        made.error = std::move(error);
        return must(evaluate.experiments.add_run(world.admin, made));
    }
    EvalCorrection verdict(std::string label, double score) const {
        EvalCorrection wanted;
        wanted.run_id = run;
        wanted.name = "correct";
        wanted.label = std::move(label);
        wanted.score = score;
        wanted.explanation = "it is polite";
        return wanted;
    }
    RunRecord record() { return must(evaluate.experiments.record(world.admin, run)); }

    World& world;
    Evaluate evaluate;
    ExperimentId experiment;
    ExperimentRunId run;
};

} // namespace

TEST_CASE("a person's verdict is kept beside the eval and changes no number of the experiment") {
    access::testing::for_each_world([](World& world) {
        CorrectedExperiment made(world);
        Experiments& experiments = made.evaluate.experiments;
        const auto annotator = world.join(world.space, "annotator@example.com", Role::annotator);
        const EvalCorrection stored = must(experiments.correct(annotator, made.verdict("pass", 1)));
        CHECK(stored.author_name == annotator.name);
        must(experiments.correct(world.admin, made.verdict("fail", 0)));
        RunRecord record = made.record();
        REQUIRE(record.evals.size() == 1);
        CHECK(record.evals.front().label == "fail");
        CHECK(record.evals.front().explanation == "it is rude");
        REQUIRE(record.corrections.size() == 2);
        const auto summaries = must(experiments.summaries({must(experiments.find(world.admin, made.experiment))}));
        CHECK(summaries.at(made.experiment).evals.front().mean == 0);
        CHECK(summaries.at(made.experiment).evals.size() == 1);
        // A second verdict of the same person replaces the first.
        world.clock.advance(std::chrono::seconds(1));
        must(experiments.correct(annotator, made.verdict("unclear", 0.5)));
        record = made.record();
        REQUIRE(record.corrections.size() == 2);
        CHECK(record.corrections.front().label == "unclear"); // the newest first
        CHECK(record.corrections.front().author == annotator.user.text());
        CHECK(world.count("audit_entries WHERE action = 'verdict_correct'") == 3);
    });
}

TEST_CASE("a verdict needs a result, an eval of the run, and a person who may label") {
    access::testing::for_each_world([](World& world) {
        CorrectedExperiment made(world);
        Experiments& experiments = made.evaluate.experiments;
        const auto refused = [&](const access::Caller& caller, const EvalCorrection& wanted) {
            return outcome(experiments.correct(caller, wanted));
        };
        CHECK(refused(world.join(world.space, "viewer@example.com", Role::viewer), made.verdict("pass", 1)) ==
              "forbidden");
        EvalCorrection wanted = made.verdict("pass", 1);
        wanted.name = "unknown";
        CHECK(refused(world.admin, wanted) == "not_found");
        wanted = made.verdict("pass", std::numeric_limits<double>::infinity());
        CHECK(refused(world.admin, wanted) == "invalid");
        wanted = made.verdict(std::string("a\0b", 3), 1);
        CHECK(refused(world.admin, wanted) == "invalid");
        wanted = made.verdict("pass", 1);
        wanted.explanation = std::string(100'001, 'x');
        CHECK(refused(world.admin, wanted) == "invalid");
        wanted.explanation.clear();
        wanted.label.reset();
        wanted.score.reset();
        CHECK(refused(world.admin, wanted) == "invalid");
        wanted = made.verdict("pass", 1);
        wanted.run_id = make_id<ExperimentRunTag>(world.clock);
        CHECK(refused(world.admin, wanted) == "not_found");
        access::Caller worker = world.admin;
        worker.run = "run_1";
        CHECK(refused(worker, made.verdict("pass", 1)) == "forbidden");
        CHECK(made.record().corrections.empty());
    });
}

} // namespace hone::evaluate
