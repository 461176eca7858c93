// Who moved which tag of a prompt, on both engines.
#include "access/testing.h"
#include "evaluate/evaluate.h"

namespace hone::evaluate {

namespace {

using access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

PromptVersion add_prompt_version(Prompts& prompts, World& world) {
    json::Value content = must(json::parse(
        R"({"model_provider":"OPENAI","model_name":"gpt-x","template_type":"CHAT","template_format":"NONE",)"
        R"("template":{"type":"chat","messages":[{"role":"user","content":"hello"}]},)"
        R"("invocation_parameters":{"type":"openai","openai":{}}})"));
    NewPrompt wanted;
    wanted.name = "greet";
    return must(prompts.add_version(world.admin, world.space, wanted, std::move(content)));
}

std::string line_of(const PromptTagMove& move) {
    const auto text = [](std::optional<int64_t> number) { return number ? std::to_string(*number) : "none"; };
    return move.tag + " " + text(move.from_version) + " to " + text(move.to_version) + " by " + move.moved_by;
}

} // namespace

TEST_CASE("every move of a tag is listed with the person, newest first") {
    access::testing::for_each_world([](World& world) {
        must(world.database.execute("DELETE FROM prompts"));
        Evaluate evaluate(world.database, world.clock, world.access);
        Prompts& prompts = evaluate.prompts;
        const PromptVersion first = add_prompt_version(prompts, world), second = add_prompt_version(prompts, world);
        const auto ada = world.join(world.space, "ada@example.com", Role::member);
        const auto later = [&] { world.clock.advance(std::chrono::seconds(1)); };
        must(prompts.set_tag(world.admin, first.id, "production", ""));
        later();
        must(prompts.set_tag(ada, second.id, "production", ""));
        later();
        must(prompts.set_tag(ada, second.id, "production", "the same again")); // nothing moves
        must(prompts.set_tag(ada, first.id, "staging", ""));
        later();
        must(prompts.remove_tag(ada, second.id, "production"));
        const auto lines = [&](const std::string& tag, const access::PageRequest& page) {
            std::vector<std::string> all;
            for (const auto& move : must(prompts.tag_moves(world.admin, first.prompt_id, tag, page)).data)
                all.push_back(line_of(move));
            return all;
        };
        const std::string admin = world.admin.name;
        CHECK(lines("", {}) == std::vector<std::string>{
                                   "production 2 to none by ada@example.com", "staging none to 1 by ada@example.com",
                                   "production 1 to 2 by ada@example.com", "production none to 1 by " + admin});
        CHECK(lines("staging", {}) == std::vector<std::string>{"staging none to 1 by ada@example.com"});
        // Page by page.
        std::vector<std::string> paged;
        access::PageRequest page{1, {}};
        for (int i = 0; i < 4; ++i) {
            const auto part = must(prompts.tag_moves(world.admin, first.prompt_id, "", page));
            REQUIRE(part.data.size() == 1);
            paged.push_back(line_of(part.data.front()));
            CHECK(part.next_cursor.has_value() == (i < 3));
            page.cursor = part.next_cursor;
        }
        CHECK(paged == lines("", {}));
        CHECK(outcome(prompts.tag_moves(world.admin, first.prompt_id, "", {1, "bm8"})) == "invalid");
        CHECK(outcome(prompts.tag_moves(World::guest(), first.prompt_id, "", {})) != "ok");
        must(prompts.remove(world.admin, first.prompt_id));
        CHECK(world.count("prompt_tag_moves") == 0);
    });
}

} // namespace hone::evaluate
