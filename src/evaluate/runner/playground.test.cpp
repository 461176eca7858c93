// Estimates of the playground: one call, and one for each example of a dataset. Calls themselves: tests/e2e.
#include "access/testing.h"
#include "evaluate/evaluate.h"
#include "evaluate/judges/testing.h"

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

class PlaygroundSources final : public TaskSources {
public:
    Result<std::string> find_repo(const access::Caller&, const access::SpaceId&, const std::string&) override {
        return not_found("repository");
    }
    Result<std::string> write_archive(const access::SpaceId&, const std::string&, const std::string&,
                                      const std::string&) override {
        return not_found("repository");
    }
    bool allows_private(const std::string&, int64_t) override { return false; }
    ModelCalls* models() override { return &scripted; }
    testing::ScriptedModels scripted;
};

EstimateCalls estimate_of(const std::string& text, const std::string& model = "small") {
    EstimateCalls wanted;
    const json::Array messages{json::Object{{"role", "user"}, {"content", text}}};
    wanted.call.prompt_version = json::Value(
        json::Object{{"model_provider", "OPENAI"},
                     {"model_name", model},
                     {"template_type", "CHAT"},
                     {"template_format", "MUSTACHE"},
                     {"template", json::Object{{"type", "chat"}, {"messages", messages}}},
                     {"invocation_parameters", json::Object{{"type", "openai"}, {"openai", json::Object{}}}}});
    return wanted;
}

} // namespace

TEST_CASE("four bytes of a request are a token, and an attachment is an image however long it is") {
    CHECK(estimated_input_tokens("") == 0);
    CHECK(estimated_input_tokens("Say hi!") == 2);
    CHECK(estimated_input_tokens(std::string(1999, 'a')) == 500);
    CHECK(estimated_input_tokens("\"" + std::string(5'000'000, 'A') + "\"") == 1501);
    CHECK(estimated_input_tokens(std::string(4000, ' ')) == 1000);
}

TEST_CASE("an estimate counts the examples, the repetitions and the length of the inputs, and calls no model") {
    access::testing::for_each_world([](World& world) {
        PlaygroundSources sources;
        must(world.database.execute("DELETE FROM datasets"));
        Evaluate evaluate(world.database, world.clock, world.access, EvaluateParts{.sources = &sources});
        const auto estimate = [&](const EstimateCalls& wanted) {
            return evaluate.playground.estimate(world.admin, world.space, wanted);
        };
        const auto one = must(estimate(estimate_of("Hello")));
        CHECK(one.model == "small");
        CHECK(one.calls == 1);
        CHECK(one.input_tokens > 5);
        CHECK(one.output_tokens == 10);
        CHECK(one.measured_calls == 3);
        CHECK(one.cost_micro_usd == one.input_tokens + 10);
        CHECK(!must(estimate(estimate_of("Hello", "unpriced"))).cost_micro_usd);
        CHECK(outcome(estimate(estimate_of("Hello {{name}}"))) == "invalid");

        Upload upload;
        upload.name = "shop";
        upload.replaces_splits = true;
        for (int i = 0; i < 3; ++i) {
            NewExample example;
            example.input = json::Object{{"text", std::string(4000, ' ')}};
            if (i == 0) example.splits = {"test"};
            upload.examples.push_back(std::move(example));
        }
        must(evaluate.datasets.upload(world.admin, world.space, std::move(upload)));
        EstimateCalls wanted = estimate_of("Read {{text}}");
        wanted.dataset = std::string("shop");
        const auto all = must(estimate(wanted));
        CHECK(all.calls == 3);
        CHECK(all.input_tokens > 3000);
        CHECK(all.output_tokens == 30);
        CHECK(all.cost_micro_usd == all.input_tokens + 30);
        wanted.split = std::string("test");
        wanted.repetitions = 5;
        CHECK(must(estimate(wanted)).calls == 5);
        wanted.split = std::string("none");
        CHECK(outcome(estimate(wanted)) == "not_found");
        wanted.split = std::string();
        wanted.repetitions = 0;
        CHECK(outcome(estimate(wanted)) == "invalid");
        wanted = estimate_of("Read {{another}}");
        wanted.dataset = std::string("shop");
        CHECK(outcome(estimate(wanted)) == "invalid");
        wanted.dataset = std::string("nothing");
        CHECK(outcome(estimate(wanted)) == "not_found");
        CHECK(sources.scripted.requests.empty());
        const auto viewer = world.join(world.space, "eve@example.com", Role::viewer);
        CHECK(outcome(evaluate.playground.estimate(viewer, world.space, estimate_of("Hello"))) == "forbidden");
    });
}

} // namespace hone::evaluate
