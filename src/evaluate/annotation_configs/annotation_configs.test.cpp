// Annotation configs on both engines: names, checks, projects, spaces.
#include "access/testing.h"
#include "evaluate/evaluate.h"

#include <limits>

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

AnnotationConfigContent tone() {
    AnnotationConfigContent content;
    content.name = "tone";
    content.type = AnnotationConfigType::categorical;
    content.direction = ScoreDirection::maximize;
    content.labels = {{"kind", 1.0}, {"rude", std::nullopt}};
    return content;
}

template <class Test>
void for_each_config_world(Test&& test) {
    access::testing::for_each_world([&](World& world) {
        must(world.database.execute("DELETE FROM annotation_configs"));
        Evaluate evaluate(world.database, world.clock, world.access);
        test(world, evaluate.annotation_configs);
    });
}

} // namespace

TEST_CASE("annotation configs are read as they were written, by id and by name") {
    for_each_config_world([](World& world, AnnotationConfigs& configs) {
        const auto made = must(configs.create(world.admin, world.space, tone()));
        for (const std::string& text : {made.id.text(), std::string("tone")}) {
            const auto found = must(configs.find(world.admin, world.space, text));
            CHECK(found.id == made.id);
            REQUIRE(found.content.labels.size() == 2);
            CHECK(found.content.labels[0].label == "kind");
            CHECK(found.content.labels[0].score == 1.0);
            CHECK(!found.content.labels[1].score);
            CHECK(found.content.direction == ScoreDirection::maximize);
        }
        AnnotationConfigContent other = tone();
        other.name = "length";
        other.type = AnnotationConfigType::continuous;
        other.labels = {};
        other.lower_bound = -1.5;
        const auto changed = must(configs.update(world.admin, made.id, other));
        CHECK(must(configs.find(world.admin, world.space, "length")).content.lower_bound == -1.5);
        CHECK(changed.id == made.id);
        CHECK(outcome(configs.find(world.admin, world.space, "tone")) == "not_found");
        CHECK(outcome(configs.find(world.admin, world.space, std::string("a\0b", 3))) == "not_found");
        must(configs.remove(world.admin, made.id));
        CHECK(outcome(configs.remove(world.admin, made.id)) == "not_found");
    });
}

TEST_CASE("names of annotation configs are unique in a space, and wrong ones are refused") {
    for_each_config_world([](World& world, AnnotationConfigs& configs) {
        const auto made = must(configs.create(world.admin, world.space, tone()));
        CHECK(outcome(configs.create(world.admin, world.space, tone())) == "conflict");
        AnnotationConfigContent second = tone();
        second.name = "other";
        const auto other = must(configs.create(world.admin, world.space, second));
        CHECK(outcome(configs.update(world.admin, other.id, tone())) == "conflict");
        CHECK(outcome(configs.update(world.admin, made.id, tone())) == "ok");
        const auto refused = [&](auto change) {
            AnnotationConfigContent content = tone();
            content.name = "new";
            change(content);
            return outcome(configs.create(world.admin, world.space, content));
        };
        CHECK(refused([](auto& one) { one.name = "note"; }) == "conflict");
        CHECK(refused([](auto& one) { one.name = ""; }) == "invalid");
        CHECK(refused([](auto& one) { one.name = std::string(501, 'a'); }) == "invalid");
        CHECK(refused([](auto& one) { one.labels = {}; }) == "invalid");
        CHECK(refused([](auto& one) { one.labels = {{"a", {}}, {"a", {}}}; }) == "invalid");
        CHECK(refused([](auto& one) { one.labels = {{"", {}}}; }) == "invalid");
        CHECK(refused([](auto& one) { one.direction.reset(); }) == "invalid");
        CHECK(refused([](auto& one) { one.description = std::string(10'001, 'a'); }) == "invalid");
        CHECK(refused([](auto& one) { one.labels[0].score = std::numeric_limits<double>::infinity(); }) == "invalid");
        CHECK(refused([](auto& one) { one.lower_bound = 2, one.upper_bound = 2; }) == "invalid");
        const auto page = must(configs.list(world.admin, world.space, {1, {}}));
        REQUIRE(page.data.size() == 1);
        CHECK(page.data[0].id == other.id); // newest first
        const auto rest = must(configs.list(world.admin, world.space, {1, page.next_cursor}));
        REQUIRE(rest.data.size() == 1);
        CHECK(rest.data[0].id == made.id);
        CHECK(!rest.next_cursor);
    });
}

TEST_CASE("projects use annotation configs of their space; viewers change nothing") {
    for_each_config_world([](World& world, AnnotationConfigs& configs) {
        const auto made = must(configs.create(world.admin, world.space, tone()));
        const auto project = world.add_project(world.admin, world.space, "shop");
        must(configs.assign(world.admin, project, made));
        must(configs.assign(world.admin, project, made));
        CHECK(must(configs.of_project(project, {})).data.size() == 1);
        must(configs.set_for_project(world.admin, project, {}));
        CHECK(must(configs.of_project(project, {})).data.empty());
        must(configs.set_for_project(world.admin, project, {made.id, made.id}));
        must(configs.unassign(world.admin, project, made));
        must(configs.unassign(world.admin, project, made));
        CHECK(must(configs.of_project(project, {})).data.empty());
        const auto other = must(world.access.spaces.create(world.admin, "another", ""));
        const auto elsewhere = must(configs.create(world.admin, other.id, tone()));
        CHECK(outcome(configs.assign(world.admin, project, elsewhere)) == "not_found");
        CHECK(outcome(configs.set_for_project(world.admin, project, {elsewhere.id})) == "not_found");
        must(configs.assign(world.admin, project, made));
        must(configs.remove(world.admin, made.id));
        CHECK(must(configs.of_project(project, {})).data.empty());
        const auto viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(configs.create(viewer, world.space, tone())) == "forbidden");
        CHECK(outcome(configs.list(viewer, world.space, {})) == "ok");
        CHECK(outcome(configs.find(viewer, world.space, elsewhere.id.text())) == "not_found");
    });
}

} // namespace hone::evaluate
