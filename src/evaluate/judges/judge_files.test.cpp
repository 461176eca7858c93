// Files that a document names: which ids are names, what a model gets of them, and who cannot evaluate them.
#include "access/testing.h"
#include "evaluate/judges/judge_images.h"
#include "evaluate/judges/testing.h"

namespace hone::evaluate {

namespace {

using access::testing::must, access::testing::World;
using testing::ScriptedModels, testing::polite;

const std::string picture_id = "artifact_01J0000000000000000000000P";

GivenFile picture(std::string media_type = "image/png", int64_t bytes = 3) {
    return {{picture_id, "picture.png", std::move(media_type), bytes}, "abc"};
}

json::Value named_picture() {
    return json::Object{{std::string(file_key), picture_id}};
}

std::string files_text(std::string_view text) {
    const auto found = files_in(must(json::parse(text)));
    if (!found.ok()) return found.error().message;
    std::string ids;
    for (const std::string& id : found.value()) ids += (ids.empty() ? "" : " ") + id.substr(id.size() - 1);
    return ids;
}

struct FileBench {
    explicit FileBench(World& world)
        : version(polite(world.space)),
          judges({world.database, world.clock, world.access, [this] { return &models; }}) {
        models.reply = [](const json::Object& request, int) -> Result<ModelReply> {
            return ScriptedModels::verdict(request, R"({"explanation":"a cat","label":"pass"})");
        };
    }
    JudgeOutcome judge(GivenFile file) {
        files = {{file.about.id, std::move(file)}};
        JudgeRequest request{version, document};
        request.use_cache = false;
        request.files = &files;
        return judges.judge(request);
    }

    ScriptedModels models;
    EvaluatorVersion version;
    DocumentFiles files;
    json::Value document = json::Object{{"input", json::Object{{"picture", named_picture()}}}, {"output", "a cat"}};
    Judges judges;
};

void with_files(const std::function<void(World&, FileBench&)>& work) {
    access::testing::for_each_world([&](World& world) {
        FileBench bench(world);
        work(world, bench);
    });
}

} // namespace

TEST_CASE("an object whose only key is $file names an artifact") {
    CHECK(
        files_text(
            R"({"a":{"$file":"artifact_01J0000000000000000000000A"},"b":[{"$file":"artifact_01J0000000000000000000000B"},)"
            R"({"$file":"artifact_01J0000000000000000000000A"}]})") == "A B");
    CHECK(files_text(R"({"text":"$file","more":[1,null]})").empty());
    // With other keys it is data.
    CHECK(files_text(R"({"$file":"x","size":3})").empty());
    for (const char* wrong : {R"({"$file":7})", R"({"$file":""})", R"({"$file":"../../etc/passwd"})",
                              R"({"$file":"art_1"})", R"({"$file":"artifact_../../../../etc/passwd000"})",
                              R"([[{"$file":null}]])", R"({"$file":"artifact_01J0000000000000000000000a"})"})
        CHECK(files_text(wrong).find("must name an artifact") != std::string::npos);
}

TEST_CASE("code gets the path of a file beside its name") {
    json::Value value = json::Object{{"picture", named_picture()}, {"other", json::Object{{"$file", "artifact_x"}}}};
    add_file_paths(value, {{picture_id, picture()}}, "/evaluator/files");
    CHECK(std::string(value.at("picture").at("path").get_string()) == "/evaluator/files/" + picture_id);
    CHECK(value.at("picture").at("media_type").get_string() == "image/png");
    CHECK(value.at("other").get_object().size() == 1); // not one of the files
}

TEST_CASE("a model gets the images that its variables name") {
    with_files([](World&, FileBench& bench) {
        const JudgeOutcome outcome = bench.judge(picture());
        REQUIRE(outcome.verdict);
        CHECK(*outcome.verdict->label == "pass");
        const json::Array& messages = bench.models.requests.at(0).at("messages").get_array();
        const json::Array& parts = messages.back().at("content").get_array();
        REQUIRE(parts.size() == 2);
        CHECK(parts[0].at("type").get_string() == "text");
        CHECK(parts[1].at("image_url").at("url").get_string() == "data:image/png;base64,YWJj");
        // A variable that does not reach it leaves it out.
        bench.version.llm->messages = {{"user", "Output: {{output}}"}};
        REQUIRE(bench.judge(picture()).verdict);
        CHECK(bench.models.requests.at(1).at("messages").get_array().back().at("content").is_string());
    });
}

TEST_CASE("each provider gets images in its own words") {
    const GivenFile file = picture();
    const std::string anthropic = must(with_images(
        "anthropic", R"({"messages":[{"role":"user","content":[{"type":"text","text":"see"}]}]})", {&file}));
    CHECK(anthropic.find(R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"YWJj"}})") !=
          std::string::npos);
    const std::string gemini =
        must(with_images("gemini", R"({"contents":[{"role":"user","parts":[{"text":"see"}]}]})", {&file}));
    CHECK(gemini.find(R"({"inlineData":{"mimeType":"image/png","data":"YWJj"}})") != std::string::npos);
    CHECK(!with_images("openai", R"({"messages":[{"role":"system","content":"x"}]})", {&file}).ok());
}

TEST_CASE("what a model cannot take is cannot_judge with the reason, and nothing is sent") {
    with_files([](World&, FileBench& bench) {
        const auto refused = [&](GivenFile file, std::string_view why) {
            const JudgeOutcome outcome = bench.judge(std::move(file));
            REQUIRE(outcome.verdict);
            CHECK(*outcome.verdict->label == cannot_judge);
            CHECK(!outcome.verdict->score);
            CHECK(outcome.verdict->explanation->find(why) != std::string::npos);
        };
        refused(picture("application/pdf"), "application/pdf");
        refused(picture("image/svg+xml"), "images only");
        refused(picture("image/png", largest_judge_image + 1), "more than 5 MiB");
        CHECK(bench.models.requests.empty());
        bench.models.reply = [](const json::Object&, int) -> Result<ModelReply> {
            return ScriptedModels::refused(400, "image input is not supported by this model");
        };
        refused(picture(), "takes no images");
        CHECK(bench.models.requests.size() == 1);
    });
}

TEST_CASE("agents and remote services get no files: cannot_judge") {
    with_files([](World&, FileBench& bench) {
        bench.version.kind = EvaluatorKind::remote;
        bench.version.llm.reset();
        RemoteDefinition remote;
        remote.url = "https://judge.example.com";
        bench.version.remote = remote;
        const JudgeOutcome outcome = bench.judge(picture());
        REQUIRE(outcome.verdict);
        CHECK(*outcome.verdict->label == cannot_judge);
        CHECK(outcome.verdict->explanation->find("picture.png, which a remote service does not get") !=
              std::string::npos);
        // Without the file in what it gets, it is called; this server has no remote access.
        bench.version.remote->mapping = std::map<std::string, MappedArgument>{{"text", {"output", std::nullopt}}};
        CHECK(bench.judge(picture()).reason == JudgeReason::unavailable);
    });
}

} // namespace hone::evaluate
