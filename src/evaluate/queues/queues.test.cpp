// Queues on both engines: reservations, several people, labels, undo, agreement.
#include "access/testing.h"
#include "evaluate/evaluate.h"

#include <cmath>

namespace hone::evaluate {

namespace {

using access::Caller, access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

struct QueueDesk {
    explicit QueueDesk(World& given)
        : world(given),
          evaluate(given.database, given.clock, given.access),
          queues(evaluate.queues) {
        project = world.add_project(world.admin, world.space, "shop-" + std::to_string(++made));
        AnnotationConfigContent correct;
        correct.name = "correct-" + std::to_string(made);
        correct.type = AnnotationConfigType::categorical;
        correct.direction = ScoreDirection::maximize;
        correct.labels = {{"pass", 1.0}, {"fail", 0.0}};
        config = must(evaluate.annotation_configs.create(world.admin, world.space, correct)).content.name;
    }
    Queue make(int64_t reviewers) {
        NewQueue wanted;
        wanted.name = "tickets-" + std::to_string(++made);
        wanted.project = project.id.text();
        wanted.configs = {config};
        wanted.reviewers_per_item = reviewers;
        return must(queues.create(world.admin, world.space, wanted));
    }
    // As filling would, which needs a span store.
    void add_items(const Queue& queue, int count) {
        for (int i = 0; i < count; ++i)
            must(world.database.execute(
                "INSERT INTO queue_items (id, queue_id, target_id, trace_id, state, added_by_name, "
                "created_at) VALUES (?, ?, ?, ?, 'pending', 'test', 1)",
                make_id<QueueItemTag>(world.clock), queue.id, "trace" + std::to_string(i),
                "trace" + std::to_string(i)));
    }
    Caller annotator() {
        return world.join(world.space, "a" + std::to_string(++made) + "@example.com", Role::annotator);
    }
    LabelQueueItem with(const std::string& label) const {
        LabelQueueItem wanted;
        wanted.evals = {{config, label, std::nullopt, std::nullopt}};
        wanted.ms_spent = int64_t{1500};
        return wanted;
    }

    World& world;
    Evaluate evaluate;
    Queues& queues;
    access::Project project;
    std::string config;
    static inline int made = 0;
};

} // namespace

TEST_CASE("two people get different items, and the reservation of one who left ends after 15 minutes") {
    access::testing::for_each_world([](World& world) {
        QueueDesk desk(world);
        const Queue queue = desk.make(1);
        desk.add_items(queue, 2);
        const Caller ada = desk.annotator(), bob = desk.annotator(), eve = desk.annotator();
        const auto first = must(desk.queues.next(ada, queue)).value();
        const auto second = must(desk.queues.next(bob, queue)).value();
        CHECK(first.id != second.id);
        CHECK(first.reserved_until == world.clock.now() + Queues::reservation);
        CHECK(must(desk.queues.next(ada, queue))->id == first.id); // the same one again
        CHECK_FALSE(must(desk.queues.next(eve, queue)));
        world.clock.advance(Queues::reservation + std::chrono::seconds(1));
        CHECK(must(desk.queues.next(eve, queue))->id == first.id);
        // Ada comes back late: another person may have it, but nobody has labelled it yet.
        must(desk.queues.label(ada, queue, first.id, desk.with("pass")));
        CHECK(outcome(desk.queues.label(eve, queue, first.id, desk.with("fail"))) == "conflict");
    });
}

TEST_CASE("an item is done when as many people as wanted have labelled it, each once") {
    access::testing::for_each_world([](World& world) {
        QueueDesk desk(world);
        const Queue queue = desk.make(2);
        desk.add_items(queue, 1);
        const Caller ada = desk.annotator(), bob = desk.annotator(), eve = desk.annotator();
        const auto item = must(desk.queues.next(ada, queue)).value();
        CHECK(item.verdicts_hidden);
        CHECK(must(desk.queues.next(bob, queue))->id == item.id);
        CHECK_FALSE(must(desk.queues.next(eve, queue)));
        CHECK(must(desk.queues.label(ada, queue, item.id, desk.with("pass"))).state == QueueItemState::pending);
        CHECK(must(desk.queues.label(ada, queue, item.id, desk.with("fail"))).labelled_by == 1); // replaced
        CHECK_FALSE(must(desk.queues.next(ada, queue)));
        const auto done = must(desk.queues.label(bob, queue, item.id, desk.with("pass")));
        CHECK(done.state == QueueItemState::done);
        CHECK_FALSE(done.verdicts_hidden);
        const auto agreement = must(desk.queues.agreement(ada, queue));
        REQUIRE(agreement.people.size() == 2);
        CHECK(agreement.people[0].done == 1);
        CHECK(agreement.people[0].ms_spent == 1500);
        REQUIRE(agreement.configs.size() == 1);
        CHECK(agreement.configs[0].items == 1);
        CHECK(agreement.configs[0].alpha == 0); // fail and pass, once each: chance
    });
}

TEST_CASE("undo takes the last item back, and others can label it then") {
    access::testing::for_each_world([](World& world) {
        QueueDesk desk(world);
        const Queue queue = desk.make(1);
        desk.add_items(queue, 2);
        const Caller ada = desk.annotator();
        CHECK(outcome(desk.queues.undo(ada, queue)) == "not_found");
        const auto first = must(desk.queues.next(ada, queue)).value();
        must(desk.queues.label(ada, queue, first.id, desk.with("pass")));
        world.clock.advance(std::chrono::seconds(1));
        const auto second = must(desk.queues.next(ada, queue)).value();
        must(desk.queues.skip(ada, queue, second.id, "not readable"));
        CHECK(must(desk.queues.find(ada, world.space, queue.id.text())).skipped == 1);
        CHECK(must(desk.queues.undo(ada, queue)).id == second.id);
        world.clock.advance(std::chrono::seconds(1));
        must(desk.queues.label(ada, queue, second.id, desk.with("fail")));
        world.clock.advance(std::chrono::seconds(1));
        const auto taken = must(desk.queues.undo(ada, queue));
        CHECK(taken.id == second.id);
        CHECK(taken.state == QueueItemState::pending);
        CHECK(taken.my_evals.empty());
        const auto counts = must(desk.queues.find(ada, world.space, queue.id.text()));
        CHECK(counts.done == 1);
        CHECK(counts.pending == 1);
    });
}

TEST_CASE("labels that do not fit the config are refused, and nothing is stored") {
    access::testing::for_each_world([](World& world) {
        QueueDesk desk(world);
        const Queue queue = desk.make(1);
        desk.add_items(queue, 1);
        const Caller ada = desk.annotator();
        const auto item = must(desk.queues.next(ada, queue)).value();
        LabelQueueItem none;
        CHECK(outcome(desk.queues.label(ada, queue, item.id, none)) == "invalid");
        CHECK(outcome(desk.queues.label(ada, queue, item.id, desk.with("PASS"))) == "invalid");
        LabelQueueItem twice = desk.with("pass");
        twice.evals.push_back(twice.evals.front());
        CHECK(outcome(desk.queues.label(ada, queue, item.id, twice)) == "invalid");
        LabelQueueItem foreign = desk.with("pass");
        foreign.evals[0].config = "another";
        CHECK(outcome(desk.queues.label(ada, queue, item.id, foreign)) == "invalid");
        LabelQueueItem number = desk.with("pass");
        number.evals[0] = {desk.config, std::nullopt, 1.0, std::nullopt};
        CHECK(outcome(desk.queues.label(ada, queue, item.id, number)) == "invalid");
        LabelQueueItem long_text = desk.with("pass");
        long_text.evals[0].explanation = std::string(20'001, 'x');
        CHECK(outcome(desk.queues.label(ada, queue, item.id, long_text)) == "invalid");
        LabelQueueItem negative = desk.with("pass");
        negative.ms_spent = int64_t{-1};
        CHECK(outcome(desk.queues.label(ada, queue, item.id, negative)) == "invalid");
        LabelQueueItem reference = desk.with("pass");
        reference.reference = json::Value("right");
        CHECK(outcome(desk.queues.label(ada, queue, item.id, reference)) == "invalid"); // no dataset
        CHECK(outcome(desk.queues.label(ada, queue, make_id<QueueItemTag>(world.clock), desk.with("pass"))) ==
              "not_found");
        CHECK(must(desk.queues.item(ada, queue, item.id)).my_evals.empty());
    });
}

TEST_CASE("queues are made by members, worked through by annotators, and never seen by other spaces") {
    access::testing::for_each_world([](World& world) {
        QueueDesk desk(world);
        const Queue queue = desk.make(1);
        const Caller ada = desk.annotator();
        NewQueue wanted;
        wanted.name = "mine";
        wanted.project = desk.project.id.text();
        wanted.configs = {desk.config};
        CHECK(outcome(desk.queues.create(ada, world.space, wanted)) == "forbidden");
        CHECK(outcome(desk.queues.remove(ada, queue)) == "forbidden");
        const Caller viewer =
            world.join(world.space, "v" + std::to_string(++QueueDesk::made) + "@example.com", Role::viewer);
        CHECK(outcome(desk.queues.next(viewer, queue)) == "forbidden");
        const auto other =
            must(world.access.spaces.create(world.admin, "other-" + std::to_string(++QueueDesk::made), ""));
        const Caller outsider =
            world.join(other.id, "o" + std::to_string(++QueueDesk::made) + "@example.com", Role::owner);
        CHECK(outcome(desk.queues.find(outsider, world.space, queue.id.text())) == "not_found");
        wanted.name = queue.name;
        CHECK(outcome(desk.queues.create(world.admin, world.space, wanted)) == "conflict");
        wanted.name = std::string("a\0b", 3);
        CHECK(outcome(desk.queues.create(world.admin, world.space, wanted)) == "invalid");
        wanted.name = "many";
        wanted.reviewers_per_item = int64_t{11};
        CHECK(outcome(desk.queues.create(world.admin, world.space, wanted)) == "invalid");
        wanted.reviewers_per_item = int64_t{1};
        wanted.configs = {desk.config, desk.config};
        CHECK(outcome(desk.queues.create(world.admin, world.space, wanted)) == "invalid");
        wanted.configs = {};
        CHECK(outcome(desk.queues.create(world.admin, world.space, wanted)) == "invalid");
        CHECK(outcome(desk.queues.next(Caller::system(), queue)) == "forbidden"); // people only
    });
}

TEST_CASE("more people per item open what was done, fewer close it") {
    access::testing::for_each_world([](World& world) {
        QueueDesk desk(world);
        const Queue queue = desk.make(1);
        desk.add_items(queue, 1);
        const Caller ada = desk.annotator();
        must(desk.queues.label(ada, queue, must(desk.queues.next(ada, queue))->id, desk.with("pass")));
        QueueChange more;
        more.reviewers_per_item = 2;
        CHECK(must(desk.queues.update(world.admin, queue, more)).pending == 1);
        const auto wider = must(desk.queues.find(world.admin, world.space, queue.id.text()));
        QueueChange fewer;
        fewer.reviewers_per_item = 1;
        CHECK(must(desk.queues.update(world.admin, wider, fewer)).done == 1);
    });
}

TEST_CASE("a larger share of a sample has the same targets and more") {
    int64_t small = 0, large = 0;
    for (int i = 0; i < 10'000; ++i) {
        const std::string id = "trace-" + std::to_string(i);
        const bool in_small = is_sampled(id, 50'000), in_large = is_sampled(id, 200'000);
        CHECK((!in_small || in_large));
        small += in_small;
        large += in_large;
    }
    CHECK(std::abs(static_cast<double>(small) - 500) < 100);
    CHECK(std::abs(static_cast<double>(large) - 2000) < 200);
    CHECK(is_sampled("anything", 1'000'000));
}

} // namespace hone::evaluate
