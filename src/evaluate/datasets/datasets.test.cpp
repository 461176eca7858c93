// Datasets on both engines: uploads become versions, versions stay as they are.
#include "access/testing.h"
#include "evaluate/datasets/example_import.h"

#include <thread>

namespace hone::evaluate {

namespace {

using access::Permission, access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

NewExample example(const std::string& text, std::optional<std::string> id = {}, std::vector<std::string> splits = {}) {
    NewExample made;
    made.input = json::Object{{"text", text}};
    made.output = json::Object{{"length", static_cast<int64_t>(text.size())}};
    made.example_id = std::move(id);
    made.splits = std::move(splits);
    return made;
}

struct Bench {
    explicit Bench(World& given) : world(given), datasets(given.database, given.clock, given.access) {}

    Result<Uploaded> send(UploadAction action, std::vector<NewExample> examples, bool with_splits = false) {
        Upload upload;
        upload.action = action;
        upload.name = "shop";
        upload.examples = std::move(examples);
        upload.replaces_splits = with_splits;
        return datasets.upload(world.admin, world.space, std::move(upload));
    }
    // The texts of a version, in order.
    std::string texts(const DatasetId& id, int64_t version = newest_version, const std::vector<SplitId>& splits = {}) {
        std::string all;
        for (const Example& one : must(datasets.examples(world.admin, id, version, splits, -1, 1000))) {
            const auto input = must(json::parse(one.input));
            all += (all.empty() ? "" : " ") + std::string(input.at("text").as_string());
        }
        return all;
    }

    World& world;
    Datasets datasets;
};

template <class Test>
void for_each_bench(Test&& test) {
    access::testing::for_each_world([&](World& world) {
        must(world.database.execute("DELETE FROM datasets"));
        must(world.database.execute("DELETE FROM dataset_labels"));
        Bench bench(world);
        test(bench);
    });
}

} // namespace

TEST_CASE("each change of examples makes a version, and old versions stay as they are") {
    for_each_bench([](Bench& bench) {
        const auto first = must(bench.send(UploadAction::create, {example("a"), example("b"), example("b")}));
        CHECK(first.created == 3);
        const auto second = must(bench.send(UploadAction::append, {example("c"), example("a")}));
        CHECK(second.created == 1); // `a` is there already
        CHECK(second.updated == 0);
        CHECK(second.version != first.version);
        const auto third = must(bench.send(UploadAction::update, {example("b"), example("d")}));
        CHECK(third.created == 1);
        CHECK(third.deleted == 3); // a, one of b, c
        CHECK(bench.texts(first.dataset) == "b d");
        CHECK(bench.texts(first.dataset, 1) == "a b b");
        CHECK(bench.texts(first.dataset, 2) == "a b b c");
        const auto same = must(bench.send(UploadAction::update, {example("d"), example("b")}));
        CHECK(same.version == third.version);
        const auto versions = must(bench.datasets.versions(bench.world.admin, first.dataset, {}));
        REQUIRE(versions.data.size() == 3);
        CHECK(versions.data[0].number == 3);
        CHECK(versions.data[0].example_count == 2);
        const auto dataset = must(bench.datasets.find(bench.world.admin, bench.world.space, "shop"));
        CHECK(dataset.example_count == 2);
        CHECK(outcome(bench.send(UploadAction::create, {example("e")})) == "conflict");
    });
}

TEST_CASE("examples with ids are changed in place, deleted and brought back") {
    for_each_bench([](Bench& bench) {
        const auto first = must(bench.send(UploadAction::update, {example("a", "one"), example("b", "two")}));
        const auto ids = must(bench.datasets.examples(bench.world.admin, first.dataset, newest_version, {}, -1, 10));
        const auto second = must(bench.send(UploadAction::update, {example("A", "one")}));
        CHECK(second.updated == 1);
        CHECK(second.deleted == 1);
        const auto third = must(bench.send(UploadAction::append, {example("B", "two")}));
        CHECK(third.created == 1);
        const auto back = must(bench.datasets.examples(bench.world.admin, first.dataset, newest_version, {}, -1, 10));
        REQUIRE(back.size() == 2);
        CHECK(back[1].id == ids[1].id);
        CHECK(back[1].external_id == "two");
        CHECK(bench.texts(first.dataset, 1) == "a b");
        // By the id of the example itself.
        const auto fourth = must(bench.send(UploadAction::append, {example("AA", back[0].id.text())}));
        CHECK(fourth.updated == 1);
        CHECK(bench.texts(first.dataset) == "AA B");
        CHECK(outcome(bench.send(UploadAction::append, {example("x", "same"), example("y", "same")})) == "invalid");
        CHECK(outcome(bench.send(UploadAction::append, {example("x", "example_01HZZZZZZZZZZZZZZZZZZZZZZZ")})) ==
              "invalid");
    });
}

TEST_CASE("two versions are compared, and an old one is restored as a new one") {
    for_each_bench([](Bench& bench) {
        const auto first = must(bench.send(UploadAction::update, {example("a", "one"), example("b", "two")}));
        must(bench.send(UploadAction::update, {example("A", "one"), example("c", "three")}));
        const auto page = must(bench.datasets.difference(bench.world.admin, first.dataset, 1, 2, {}));
        REQUIRE(page.data.size() == 3);
        CHECK(page.data[0].change == "changed");
        CHECK(page.data[1].change == "removed");
        CHECK(page.data[2].change == "added");
        CHECK(page.data[0].after->at("input").at("text").as_string() == "A");
        const auto restored = must(bench.datasets.restore(bench.world.admin, first.dataset, 1));
        CHECK(restored.number == 3);
        CHECK(restored.created == 1);
        CHECK(restored.patched == 1);
        CHECK(restored.deleted == 1);
        CHECK(restored.example_count == 2);
        CHECK(bench.texts(first.dataset) == "a b");
        CHECK(bench.texts(first.dataset, 2) == "A c");
        CHECK(must(bench.datasets.difference(bench.world.admin, first.dataset, 1, 3, {})).data.empty());
        CHECK(must(bench.datasets.restore(bench.world.admin, first.dataset, 1)).number == 3);
        CHECK(outcome(bench.datasets.restore(bench.world.admin, first.dataset, 9)) == "not_found");
        CHECK(outcome(bench.datasets.difference(bench.world.admin, first.dataset, 0, 2, {})) == "not_found");
    });
}

TEST_CASE("splits are sets of examples that uploads replace and people change") {
    for_each_bench([](Bench& bench) {
        const auto first = must(bench.send(UploadAction::update,
                                           {example("a", "1", {"train"}), example("b", "2", {"test", "hard"})}, true));
        const auto test = must(bench.datasets.find_splits(bench.world.admin, first.dataset, {"test"})).front();
        CHECK(test.example_count == 1);
        CHECK(bench.texts(first.dataset, newest_version, {test.id}) == "b");
        SplitChange change;
        change.add = {"1", "2"};
        change.remove = {"2"};
        CHECK(must(bench.datasets.update_split(bench.world.admin, first.dataset, "test", change)).example_count == 1);
        CHECK(bench.texts(first.dataset, newest_version, {test.id}) == "a");
        // An upload without splits keeps them, one with splits replaces them.
        must(bench.send(UploadAction::append, {example("c", "3")}));
        CHECK(bench.texts(first.dataset, newest_version, {test.id}) == "a");
        must(bench.send(UploadAction::append, {example("c", "3", {"test"})}, true));
        CHECK(bench.texts(first.dataset, newest_version, {test.id}) == "a c");
        CHECK(outcome(bench.datasets.find_splits(bench.world.admin, first.dataset, {"no"})) == "not_found");
        CHECK(outcome(bench.send(UploadAction::append, {example("d", {}, {""})}, true)) == "invalid");
        SplitChange unnamed;
        CHECK(outcome(bench.datasets.create_split(bench.world.admin, first.dataset, unnamed)) == "invalid");
        unnamed.name = "test";
        CHECK(outcome(bench.datasets.create_split(bench.world.admin, first.dataset, unnamed)) == "conflict");
        unnamed.name = "new";
        unnamed.color = "#ABCDEF";
        CHECK(outcome(bench.datasets.create_split(bench.world.admin, first.dataset, unnamed)) == "invalid");
        must(bench.datasets.remove_split(bench.world.admin, first.dataset, test.id.text()));
        CHECK(must(bench.datasets.splits(bench.world.admin, first.dataset)).size() == 2);
    });
}

TEST_CASE("credentials are removed from imported examples") {
    for_each_bench([](Bench& bench) {
        NewExample leak = example("a");
        leak.input = json::Object{{"text", "use sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA now"},
                                  {"headers", json::Object{{"authorization", "Bearer abc"}}}};
        const auto sent = must(bench.send(UploadAction::create, {leak}));
        CHECK(sent.redacted == 2);
        CHECK(bench.texts(sent.dataset) == "use [redacted] now");
    });
}

TEST_CASE("uploads with wrong content are refused with the number of the example") {
    for_each_bench([](Bench& bench) {
        NewExample list = example("a");
        list.input = json::Array{1, 2};
        const auto refused = bench.send(UploadAction::create, {example("fine"), list});
        REQUIRE(outcome(refused) == "invalid");
        CHECK(refused.error().message == "example 2: input must be an object");
        NewExample large = example(std::string(largest_example, 'x'));
        CHECK(outcome(bench.send(UploadAction::create, {large})) == "invalid");
        CHECK(bench.world.count("datasets") == 0);
        CHECK(must(bench.send(UploadAction::create, {})).created == 0);
        CHECK(must(bench.send(UploadAction::append, {example("a")})).created == 1);
        CHECK(must(bench.send(UploadAction::update, {})).deleted == 1);
        for (const std::string name : {"", "  ", "a\nb"})
            CHECK(outcome(bench.datasets.upload(bench.world.admin, bench.world.space, {.name = name})) == "invalid");
        CHECK(outcome(bench.datasets.upload(bench.world.admin, bench.world.space,
                                            {.name = std::string(10'000, 'n')})) == "invalid");
        CHECK(outcome(bench.datasets.upload(bench.world.admin, bench.world.space,
                                            {.name = "a/b %2F \xf0\x9f\x98\x80"})) == "ok");
    });
}

TEST_CASE("only members of the space see a dataset, and only writers change it") {
    for_each_bench([](Bench& bench) {
        const auto sent = must(bench.send(UploadAction::create, {example("a")}));
        const auto viewer = bench.world.join(bench.world.space, "viewer@example.com", Role::viewer);
        const auto other = bench.world.join(bench.world.add_space("other"), "other@example.com", Role::owner);
        CHECK(outcome(bench.datasets.find(viewer, bench.world.space, sent.dataset.text())) == "ok");
        CHECK(outcome(bench.datasets.remove(viewer, sent.dataset)) == "forbidden");
        CHECK(outcome(bench.datasets.restore(viewer, sent.dataset, 1)) == "forbidden");
        CHECK(outcome(bench.datasets.find(other, bench.world.space, sent.dataset.text())) == "not_found");
        CHECK(outcome(bench.datasets.examples(other, sent.dataset, 1, {}, -1, 10)) == "not_found");
        CHECK(outcome(bench.datasets.remove(other, sent.dataset)) == "not_found");
        CHECK(outcome(bench.datasets.upload(viewer, bench.world.space, {.name = "mine"})) == "forbidden");
        must(bench.datasets.remove(bench.world.admin, sent.dataset));
        CHECK(bench.world.count("dataset_revisions") == 0);
        CHECK(bench.world.count("audit_entries WHERE action = 'dataset_delete'") == 1);
    });
}

TEST_CASE("two uploads of one name at the same time make one dataset") {
    for_each_bench([](Bench& bench) {
        std::vector<std::thread> threads;
        std::vector<std::string> outcomes(4);
        for (size_t i = 0; i < outcomes.size(); ++i)
            threads.emplace_back([&bench, &outcomes, i] {
                outcomes[i] = outcome(bench.send(UploadAction::append, {example("text " + std::to_string(i))}));
            });
        for (auto& thread : threads) thread.join();
        for (const auto& each : outcomes) CHECK(each == "ok");
        const auto dataset = must(bench.datasets.find(bench.world.admin, bench.world.space, "shop"));
        CHECK(dataset.example_count == 4);
        CHECK(dataset.version == 4);
        CHECK(must(bench.datasets.examples(bench.world.admin, dataset.id, newest_version, {}, -1, 10)).size() == 4);
    });
}

TEST_CASE("an import of any length is invisible until it is finished, and then one version") {
    for_each_bench([](Bench& bench) {
        const auto first =
            must(bench.send(UploadAction::create, {example("a"), example("b", "two"), example("old", "x")}));
        auto begin = [&](UploadAction action) {
            return must(bench.datasets.begin_import(bench.world.admin, bench.world.space, "shop", action));
        };
        {
            auto import = begin(UploadAction::append);
            for (int i = 0; i < 2500; ++i) must(import->add(example("row " + std::to_string(i))));
            CHECK(bench.texts(first.dataset) == "a b old");
            // Not finished: nothing stays.
        }
        CHECK(bench.world.count("dataset_examples") == 3);
        CHECK(bench.world.count("dataset_revisions") == 3);
        auto import = begin(UploadAction::update);
        must(import->add(example("a")));
        must(import->add(example("B", "two", {"test"})));
        for (int i = 0; i < 2500; ++i)
            must(import->add(example("row " + std::to_string(i), "id " + std::to_string(i))));
        CHECK(outcome(import->add(example("again", "two"))) == "invalid");
        CHECK(bench.texts(first.dataset) == "a b old");
        const auto done = must(import->finish());
        CHECK(done.created == 2500);
        CHECK(done.updated == 1);
        CHECK(done.deleted == 1);
        const auto dataset = must(bench.datasets.find(bench.world.admin, bench.world.space, "shop"));
        CHECK(dataset.version == 2);
        CHECK(dataset.example_count == 2502);
        CHECK(bench.texts(first.dataset, 1) == "a b old");
        CHECK(bench.texts(first.dataset).starts_with("a B row 0 row 1 "));
        CHECK(must(bench.datasets.find_splits(bench.world.admin, first.dataset, {"test"})).front().example_count == 1);
        auto same = begin(UploadAction::append);
        must(same->add(example("a")));
        CHECK(must(same->finish()).version == done.version);
        // An id that comes twice in one file, in different groups.
        auto doubled = begin(UploadAction::append);
        must(doubled->add(example("one", "twice")));
        for (int i = 0; i < 999; ++i) must(doubled->add(example("more " + std::to_string(i))));
        must(doubled->add(example("two", "twice")));
        CHECK(outcome(doubled->finish()) == "invalid");
    });
}

TEST_CASE("what an import left is no obstacle: not for an upload, not for the next import") {
    for_each_bench([](Bench& bench) {
        const auto first = must(bench.send(UploadAction::create, {example("a", "one")}));
        const auto begin = [&] {
            return must(
                bench.datasets.begin_import(bench.world.admin, bench.world.space, "shop", UploadAction::append));
        };
        // As a killed server leaves it: nobody removes it.
        const auto left = [&](const std::string& text) {
            auto import = begin();
            must(import->add(example(text, "two")));
            for (int i = 0; i < 999; ++i) must(import->add(example(text + std::to_string(i))));
            return import;
        };
        auto killed = left("left");
        CHECK(bench.world.count("dataset_examples") == 1001);
        const auto uploaded = must(bench.send(UploadAction::append, {example("b", "two")}));
        CHECK(uploaded.created == 1);
        CHECK(bench.texts(first.dataset) == "a b");
        CHECK(outcome(killed->finish()) == "conflict");
        auto older = left("older");
        auto newer = begin();
        must(newer->add(example("c", "three")));
        CHECK(must(newer->finish()).created == 1);
        CHECK(outcome(older->finish()) == "conflict");
        older.reset();
        CHECK(bench.texts(first.dataset) == "a b c");
        // Rows that vanish under an import are noticed, also when the dataset has no new version.
        auto robbed = left("robbed");
        begin();
        CHECK(outcome(robbed->finish()) == "conflict");
    });
}

TEST_CASE("a dataset that was made for an import goes with it, and ids that another server assigned are none") {
    for_each_bench([](Bench& bench) {
        const auto begin = [&](const std::string& name) {
            return must(bench.datasets.begin_import(bench.world.admin, bench.world.space, name, UploadAction::create));
        };
        {
            auto import = begin("shop");
            must(import->add(example("a", "one")));
            CHECK(outcome(import->add(example("b", std::string()))) == "invalid");
        }
        CHECK(outcome(bench.datasets.find(bench.world.admin, bench.world.space, "shop")) == "not_found");
        const auto first = must(bench.send(UploadAction::create, {example("a")}));
        const auto exported =
            must(bench.datasets.examples(bench.world.admin, first.dataset, newest_version, {}, -1, 10));
        NewExample row = example("a");
        row.example_id = exported.front().id.text();
        auto copy = begin("copy");
        CHECK(outcome(copy->add(row)) == "invalid"); // the id belongs to an example of another dataset
        row.has_assigned_id = true;
        must(copy->add(row));
        CHECK(must(copy->finish()).created == 1);
        row.input = json::Object{{"text", "changed"}};
        auto back =
            must(bench.datasets.begin_import(bench.world.admin, bench.world.space, "shop", UploadAction::append));
        must(back->add(row));
        CHECK(must(back->finish()).updated == 1);
        CHECK(bench.texts(first.dataset) == "changed");
    });
}

TEST_CASE("an import fails when the dataset changes meanwhile, and what a killed server left is removed later") {
    for_each_bench([](Bench& bench) {
        const auto first = must(bench.send(UploadAction::create, {example("a")}));
        {
            auto import =
                must(bench.datasets.begin_import(bench.world.admin, bench.world.space, "shop", UploadAction::append));
            must(import->add(example("b")));
            must(bench.send(UploadAction::append, {example("c")}));
            CHECK(outcome(import->finish()) == "conflict");
        }
        CHECK(bench.texts(first.dataset) == "a c");
        must(bench.world.database.execute(
            "INSERT INTO dataset_examples (id, dataset_id, position, created_at) VALUES ('example_left', ?, 900, ?)",
            first.dataset, bench.world.clock.now()));
        must(bench.world.database.execute(
            "INSERT INTO dataset_revisions (example_id, version, dataset_id, position, kind, replaced, content_hash, "
            "input, output, metadata, created_at) VALUES ('example_left', 9223372036854775807, ?, 900, 'create', -7, "
            "'', "
            "'{}', '{}', '{}', ?)",
            first.dataset, bench.world.clock.now()));
        CHECK(bench.texts(first.dataset) == "a c");
        must(bench.datasets.begin_import(bench.world.admin, bench.world.space, "shop", UploadAction::append));
        CHECK(bench.world.count("dataset_revisions") == 2);
        const auto viewer = bench.world.join(bench.world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(bench.datasets.begin_import(viewer, bench.world.space, "shop", UploadAction::append)) ==
              "forbidden");
    });
}

TEST_CASE("the traces that examples came from are listed by project, also of deleted examples") {
    for_each_bench([](Bench& bench) {
        NewExample first = example("a"), second = example("b"), third = example("c");
        first.source = ExampleSource{"project_1", "trace_1", "span_1"};
        second.source = ExampleSource{"project_1", "trace_1", "span_2"};
        third.source = ExampleSource{"project_2", "trace_3", ""};
        const auto sent = must(bench.send(UploadAction::create, {first, second, third, example("d")}));
        using Traces = std::map<std::string, std::vector<std::string>>;
        const Traces all{{"project_1", {"trace_1"}}, {"project_2", {"trace_3"}}};
        CHECK(must(bench.datasets.source_traces()) == all);
        must(bench.send(UploadAction::update, {example("d")})); // old versions still have them
        CHECK(must(bench.datasets.source_traces()) == all);
        must(bench.datasets.remove(bench.world.admin, sent.dataset));
        CHECK(must(bench.datasets.source_traces()).empty());
    });
}

TEST_CASE("labels are of a space and used by datasets") {
    for_each_bench([](Bench& bench) {
        const auto sent = must(bench.send(UploadAction::create, {example("a")}));
        const auto label = must(
            bench.datasets.create_label(bench.world.admin, bench.world.space, {.name = "golden", .color = "#00ff00"}));
        CHECK(outcome(bench.datasets.create_label(bench.world.admin, bench.world.space,
                                                  {.name = "golden", .color = "#00ff00"})) == "conflict");
        must(bench.datasets.add_label(bench.world.admin, sent.dataset, label.id));
        CHECK(must(bench.datasets.labels_of(bench.world.admin, sent.dataset)).size() == 1);
        CHECK(must(bench.datasets.set_labels(bench.world.admin, sent.dataset, {})).empty());
        CHECK(outcome(bench.datasets.drop_label(bench.world.admin, sent.dataset, label.id)) == "not_found");
        must(bench.datasets.remove_label(bench.world.admin, label.id));
        CHECK(outcome(bench.datasets.label(bench.world.admin, label.id)) == "not_found");
    });
}

} // namespace hone::evaluate
