// Dependencies of code: which names are accepted, and what is installed, shared and removed, in real sandboxes.
#include "evaluate/evaluators/code_layers.h"

#include "access/testing.h"
#include "evaluate/evaluators/code_runner.h"
#include "evaluate/evaluators/evaluator_versions.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

using access::testing::must, access::testing::World;

EvaluatorVersion prepared_version(const World& world, std::string setup) {
    EvaluatorVersion version;
    version.evaluator_id = make_id<EvaluatorTag>(world.clock);
    version.space_id = world.space;
    version.kind = EvaluatorKind::code;
    version.name = version.evaluator_id.text();
    CodeDefinition& code = version.code.emplace();
    code.source = "import given\ndef evaluate(document):\n    return given.answer";
    CodeDependencies dependencies;
    dependencies.setup = std::move(setup);
    code.dependencies = dependencies;
    return version;
}

} // namespace

TEST_CASE("packages are names with versions, and nothing that a shell could read otherwise") {
    const auto accepts = [](std::vector<std::string> pip, std::vector<std::string> npm, CodeLanguage language) {
        CodeDependencies dependencies;
        dependencies.pip = std::move(pip);
        dependencies.npm = std::move(npm);
        return check(dependencies, language).ok();
    };
    using enum CodeLanguage;
    CHECK(accepts({"numpy==2.1.0", "pandas[excel]>=2,<3", "a~=1.0"}, {}, python));
    CHECK(accepts({}, {"ajv@8.17.1", "@scope/name@1.0.0-beta.1"}, node));
    for (const char* bad : {"", "-r file", "--index-url=x", "a b", "a;b", "a'b", "$(x)", "../x", "/etc", "a\nb", "./x"})
        CHECK_MESSAGE(!accepts({bad}, {}, python), bad);
    for (const char* bad : {"", "ajv", "-g", "a@1;b", "a@1 b", "../a@1", "@scope/name", "a@1'"})
        CHECK_MESSAGE(!accepts({}, {bad}, node), bad);
    CHECK(!accepts({"numpy"}, {}, node));
    CHECK(!accepts({}, {"ajv@8.17.1"}, python));
    CHECK(!accepts(std::vector<std::string>(51, "a"), {}, python));
    CodeDependencies large;
    large.setup = std::string((32 << 10) + 1, 'x');
    CHECK(!check(large, shell).ok());
    CodeDependencies wanted;
    wanted.npm = std::vector<std::string>{"@scope/name@1.0.0"};
    CHECK(install_script(wanted, true).find("'/packages/scope-name-1.0.0.tgz'") != std::string::npos);
}

TEST_CASE("dependencies are installed once, shared, and removed with the last version that names them") {
    std::signal(SIGPIPE, SIG_IGN);
    access::testing::for_each_world([](World& world) {
        const sandbox::Folder folder;
        const auto provider = sandbox::open_local_provider({folder.path, sandbox::hone_program()});
        REQUIRE(provider.ok());
        CodeLayers layers(*provider.value(), folder.path, "", folder.path + "/evaluators-layers");
        const CodeRunner runner(*provider.value(), layers, folder.path + "/evaluators");
        const auto result = [&](const EvaluatorVersion& version) {
            const auto judged = must(runner.run_code(version, {json::Object{}}));
            return judged.front().verdict ? judged.front().verdict->label.value_or("-") : judged.front().error;
        };
        const std::string setup = "date > /home/worker/made\necho 'answer = True' > /opt/evaluator/python/given.py";
        const EvaluatorVersion first = prepared_version(world, setup);
        EvaluatorVersion second = first;
        second.code->source += " # another version";
        CHECK(result(first) == "true");
        const std::string key = must(layers.prepare(first, {}));
        CHECK(must(layers.prepare(second, {})) == key);
        CHECK(result(second) == "true");
        EvaluatorVersion elsewhere = first;
        elsewhere.space_id = world.add_space("other");
        CHECK(must(layers.prepare(elsewhere, {})) != key);
        EvaluatorVersion plain = first;
        plain.code->dependencies = CodeDependencies{};
        CHECK(must(layers.prepare(plain, {})).empty());

        // A script that fails fails the evals with its log, and packages are not there without a folder.
        CHECK(result(prepared_version(world, "echo the reason; exit 3")).find("the reason") != std::string::npos);
        EvaluatorVersion packages = prepared_version(world, "");
        packages.code->dependencies.value.pip = std::vector<std::string>{"no-such-package==1.0"};
        CHECK(result(packages).find("evaluator_packages_dir") != std::string::npos);

        // The layer of a stored version stays.
        const sandbox::Store store = must(sandbox::Store::open(folder.path));
        must(world.database.execute(
            "INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, "
            "score, other_label, other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, "
            "judged, matched, problem, created_by, created_by_name, created_at, updated_at) VALUES (?, ?, NULL, "
            "'code', 'stored', '', '', '', '', NULL, '', NULL, 100, 1, NULL, 1, 0, 0, 0, 0, '', '', '', 0, 0)",
            second.evaluator_id, second.space_id));
        must(world.database.write(
            [&](sql::Transaction& transaction) { return EvaluatorVersions::add(transaction, second); }));
        must(layers.collect(world.database));
        CHECK(file_exists(store.layers() + "/" + key + "/upper"));
        must(world.database.execute("DELETE FROM evaluators WHERE id = ?", second.evaluator_id));
        CHECK(must(layers.collect(world.database)) == 1);
        CHECK(!file_exists(store.layers() + "/" + key + "/upper"));
        CHECK(must(layers.collect(world.database)) == 0);
        // And is made again when it is needed again.
        CHECK(result(first) == "true");
    });
}

} // namespace hone::evaluate
