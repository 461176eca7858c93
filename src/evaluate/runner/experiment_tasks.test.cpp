// Experiments that servers run, on both databases: who has one, what is left to do, and who may stop it. Code runs in
// real sandboxes.
#include "access/testing.h"
#include "evaluate/evaluate.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

struct TaskBench {
    explicit TaskBench(World& given) : world(given), evaluate(given.database, given.clock, given.access) {
        must(given.database.execute("DELETE FROM datasets"));
        Upload upload;
        upload.name = "numbers";
        for (int i = 0; i < 3; ++i) {
            NewExample example;
            example.input = json::Object{{"n", i}};
            example.output = json::Object{{"secret", i}};
            upload.examples.push_back(std::move(example));
        }
        dataset = must(evaluate.datasets.upload(world.admin, world.space, std::move(upload))).dataset;
    }
    ExperimentId experiment(int64_t repetitions = 1) {
        NewExperiment wanted;
        wanted.repetitions = repetitions;
        return must(evaluate.experiments.create(world.admin, dataset, wanted)).id;
    }
    ExperimentId started(int64_t repetitions = 1) {
        const auto id = experiment(repetitions);
        must(evaluate.tasks.start(world.admin, id, cat(), {}));
        return id;
    }
    static StartTask cat() {
        StartTask wanted;
        wanted.task.command = std::string("cat");
        return wanted;
    }
    size_t pending(const ExperimentId& id) {
        int64_t last = -1;
        return must(evaluate.tasks.pending_runs(must(evaluate.tasks.find(world.admin, id)), -1, 100, last)).size();
    }
    void add_run(const ExperimentId& id, size_t at, int64_t repetition, std::optional<std::string> error = {}) {
        ExperimentRun run;
        run.experiment_id = id;
        run.example_id = must(evaluate.datasets.examples(world.admin, dataset, newest_version, {}, -1, 10)).at(at).id;
        run.repetition = repetition;
        run.error = std::move(error);
        must(evaluate.experiments.add_run(world.admin, run));
    }

    World& world;
    Evaluate evaluate;
    DatasetId dataset;
};

std::string refusal(TaskBench& bench, const StartTask& wanted) {
    const auto tried = bench.evaluate.tasks.start(bench.world.admin, bench.experiment(), wanted, {});
    return tried.ok() ? "started" : tried.error().message;
}

} // namespace

TEST_CASE("one server has an experiment until its lease ends") {
    access::testing::for_each_world([](World& world) {
        TaskBench bench(world);
        const auto id = bench.started();
        ExperimentTasks& tasks = bench.evaluate.tasks;
        CHECK(must(tasks.claim("first")) == std::optional(id));
        CHECK(must(tasks.claim("second")) == std::nullopt);
        CHECK(must(tasks.renew(id, "first", std::chrono::seconds(1))));
        CHECK(!must(tasks.renew(id, "second", {})));
        world.clock.advance(ExperimentTasks::lease + std::chrono::seconds(1));
        CHECK(must(tasks.claim("second")) == std::optional(id));
        CHECK(!must(tasks.renew(id, "first", {})));
        // What the first one states about the end no longer counts.
        must(tasks.end(id, "first", TaskState::done, ""));
        CHECK(must(tasks.find(world.admin, id)).state == TaskState::running);
        must(tasks.end(id, "second", TaskState::done, ""));
        const auto ended = must(tasks.find(world.admin, id));
        CHECK(ended.state == TaskState::done);
        CHECK(ended.spent_ms == 1000);
        CHECK(must(tasks.claim("first")) == std::nullopt);
    });
}

TEST_CASE("what is missing is run, what failed only after a resume") {
    access::testing::for_each_world([](World& world) {
        TaskBench bench(world);
        const auto id = bench.started(2);
        CHECK(bench.pending(id) == 6);
        bench.add_run(id, 0, 1);
        bench.add_run(id, 0, 2, "it failed");
        CHECK(bench.pending(id) == 4);
        CHECK(outcome(bench.evaluate.tasks.resume(world.admin, id)) == "conflict");
        must(bench.evaluate.tasks.stop(world.admin, id));
        CHECK(outcome(bench.evaluate.tasks.stop(world.admin, id)) == "conflict");
        CHECK(must(bench.evaluate.tasks.claim("server")) == std::nullopt);
        world.clock.advance(std::chrono::seconds(1));
        CHECK(must(bench.evaluate.tasks.resume(world.admin, id)).state == TaskState::queued);
        CHECK(bench.pending(id) == 5);
        CHECK(outcome(bench.evaluate.tasks.start(world.admin, id, TaskBench::cat(), {})) == "conflict");
    });
}

TEST_CASE("a task that could not run is refused with the reason") {
    access::testing::for_each_world([](World& world) {
        TaskBench bench(world);
        const auto with = [](auto change) {
            StartTask wanted = TaskBench::cat();
            change(wanted);
            return wanted;
        };
        for (const auto& [wanted, reason] : std::initializer_list<std::pair<StartTask, std::string>>{
                 {with([](auto& w) { w.task.command = std::string(" "); }), "command is empty"},
                 {with([](auto& w) { w.task.files.value["../up"] = "x"; }), "not a path below"},
                 {with([](auto& w) { w.task.files.value["/etc/x"] = "x"; }), "not a path below"},
                 {with([](auto& w) { w.task.files.value["a"] = std::string(3 << 20, 'x'); }), "at most 2 MiB"},
                 {with([](auto& w) { w.task.env.value["A B"] = "x"; }), "not a usable environment variable"},
                 {with([](auto& w) { w.task.timeout_ms = int64_t{1}; }), "timeout_ms"},
                 {with([](auto& w) { w.task.ref = std::string("main"); }), "ref needs a repo"},
                 {with([](auto& w) { w.task.url = std::string("http://a/"); }), "give a command or a url"},
                 {with([](auto& w) { w.concurrency = int64_t{17}; }), "concurrency"},
                 {with([](auto& w) { w.budget_seconds = 0; }), "budget_seconds"},
                 {with([](auto& w) { w.evaluators = std::vector<std::string>{"exact@x"}; }), "no version number"},
                 {with([](auto& w) {
                      w.task = {};
                      w.task.kind = TaskKind::http;
                      w.task.url = std::string("ftp://a/");
                  }),
                  "URL"},
                 {with([](auto& w) {
                      w.task = {};
                      w.task.kind = TaskKind::http;
                      w.task.url = std::string("http://user:secret@a/");
                  }),
                  "must not have a user"},
                 {with([](auto& w) {
                      w.task = {};
                      w.task.kind = TaskKind::evaluate;
                  }),
                  "evaluators is empty"},
             }) {
            CAPTURE(reason);
            const std::string got = refusal(bench, wanted);
            CAPTURE(got);
            CHECK(lowercase_ascii(got).find(lowercase_ascii(reason)) != std::string::npos);
        }
        const auto stranger = world.join(world.add_space("other"), "eve@example.com", Role::member);
        const auto id = bench.started();
        CHECK(outcome(bench.evaluate.tasks.find(stranger, id)) == "not_found");
        CHECK(outcome(bench.evaluate.tasks.stop(stranger, id)) == "not_found");
    });
}

TEST_CASE("code is run in batches, and whatever it does is a verdict or a reason") {
    std::signal(SIGPIPE, SIG_IGN);
    const sandbox::Folder folder;
    const auto provider = sandbox::open_local_provider({folder.path, sandbox::hone_program()});
    REQUIRE(provider.ok());
    CodeLayers layers(*provider.value(), folder.path, "", folder.path + "/evaluators-layers");
    const CodeRunner runner(*provider.value(), layers, folder.path + "/evaluators");
    const auto run_code = [&](CodeLanguage language, std::string source, int count = 1, int64_t timeout_ms = 10'000) {
        EvaluatorVersion version;
        version.kind = EvaluatorKind::code;
        CodeDefinition& code = version.code.emplace();
        code.language = language;
        code.source = std::move(source);
        code.timeout_ms = timeout_ms;
        std::vector<json::Value> documents;
        for (int i = 0; i < count; ++i) documents.push_back(json::Object{{"n", i}, {"output", i % 2 == 0}});
        auto judged = runner.run_code(version, documents);
        REQUIRE_MESSAGE(judged.ok(), (judged.ok() ? "" : judged.error().message));
        std::vector<std::string> texts;
        for (const CodeResult& one : judged.value())
            texts.push_back(one.verdict ? one.verdict->label.value_or("-") : one.error);
        return texts;
    };
    const std::vector<std::string> alternating{"true", "false", "true"};
    SUBCASE("each language") {
        CHECK(run_code(CodeLanguage::python, "import os\ndef evaluate(d):\n    print('noise')\n    return d['output']",
                       3) == alternating);
        CHECK(run_code(CodeLanguage::node,
                       "export async function evaluate(d) { console.log('noise'); return d.output; }",
                       3) == alternating);
        CHECK(run_code(CodeLanguage::shell, "grep -q '\"output\":true' && echo true || echo false", 3) == alternating);
    }
    SUBCASE("an item that fails does not fail the others") {
        const auto texts = run_code(CodeLanguage::python,
                                    "import os, time\ndef evaluate(d):\n"
                                    "    if d['n'] == 1: raise ValueError('odd one')\n"
                                    "    if d['n'] == 2: os._exit(0)\n"
                                    "    if d['n'] == 3: time.sleep(60)\n"
                                    "    if d['n'] == 4: return float('nan')\n"
                                    "    if d['n'] == 5: return {'a': object()}\n"
                                    "    if d['n'] == 6: os.write(3, b'{\"seq\":6,\"result\":true}\\n')\n"
                                    "    return True",
                                    8, 1500);
        CHECK(texts[0] == "true");
        CHECK(texts[1] == "the code failed: ValueError: odd one");
        CHECK(texts[2].find("exited with status 0 without a result") != std::string::npos);
        CHECK(texts[3] == "the code took longer than 1500 ms");
        CHECK(texts[4].find("the code failed: ValueError") == 0);
        CHECK(texts[5].find("the code failed: TypeError") == 0);
        CHECK(texts[7] != ""); // either: the second reply of item 6 may be read as that of item 7, which then fails
    }
    SUBCASE("code that cannot be loaded fails every item once") {
        const auto texts = run_code(CodeLanguage::python, "def evaluate(d:", 3);
        for (const std::string& text : texts) CHECK(text.find("the code could not be loaded: SyntaxError") == 0);
        CHECK(run_code(CodeLanguage::node, "export const x = 1;").front().find("exports no function") !=
              std::string::npos);
    }
    SUBCASE("limits hold") {
        CHECK(run_code(CodeLanguage::shell,
                       "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", 1, 20'000)
                  .front()
                  .find("limit: output") != std::string::npos);
        CHECK(run_code(CodeLanguage::shell, "sleep 30", 1, 500).front().find("limit: timeout") != std::string::npos);
        CHECK(run_code(CodeLanguage::python,
                       "import socket\ndef evaluate(d):\n    socket.create_connection(('1.1.1.1', 53), 2)")
                  .front()
                  .find("the code failed: OSError") == 0);
        // Forks until it cannot, fills its disk, and looks for processes that are not its own.
        CHECK(run_code(CodeLanguage::python, "import os, time\ndef evaluate(d):\n"
                                             "    try:\n"
                                             "        for _ in range(1000):\n"
                                             "            if os.fork() == 0:\n"
                                             "                time.sleep(60)\n"
                                             "                os._exit(0)\n"
                                             "    except BlockingIOError:\n"
                                             "        return True\n"
                                             "    return False")
                  .front() == "true");
        CHECK(run_code(CodeLanguage::python, "def evaluate(d):\n"
                                             "    try:\n"
                                             "        with open('/workspace/large', 'wb') as file:\n"
                                             "            for _ in range(1000):\n"
                                             "                file.write(b'x' * (1 << 20))\n"
                                             "    except OSError:\n"
                                             "        return True\n"
                                             "    return False")
                  .front() == "true");
        CHECK(run_code(CodeLanguage::python,
                       "import os\ndef evaluate(d):\n"
                       "    return len([name for name in os.listdir('/proc') if name.isdigit()]) < 10")
                  .front() == "true");
        CHECK(run_code(CodeLanguage::python,
                       "def evaluate(d):\n    for _ in range(1000): print('x' * (1 << 20))\n    return True", 1, 30'000)
                  .front()
                  .find("limit: output") != std::string::npos);
        CHECK(run_code(CodeLanguage::shell, "echo pass").front().find("stdout is not JSON") == 0);
        CHECK(run_code(CodeLanguage::shell, "true").front().find("wrote nothing") != std::string::npos);
        CHECK(run_code(CodeLanguage::shell, "echo why >&2; exit 3").front() ==
              "the code exited with status 3 without a result; stderr: why");
    }
}

} // namespace hone::evaluate
