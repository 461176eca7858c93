// The commands that import and diagnose, against a scripted server: what they send, and what a person sees.
#include "cli/testing/scripted_server.h"

#include <filesystem>
#include <fstream>

using namespace hone;
using namespace hone::cli::testing;

namespace {

struct ImportWorld {
    ScriptedServer server;
    Client client;
    ImportWorld() {
        client.log_in_to(server);
        client.environment["HONE_PROJECT"] = "shop";
        server.on("POST /v1/projects/shop/import", 200,
                  R"({"data":{"accepted":2,"rejected":0,"problems":[],"has_more_problems":false}})");
    }
};

class ScratchFile {
public:
    explicit ScratchFile(const std::string& content) : m_path("/tmp/hone-import-" + std::to_string(::getpid())) {
        std::ofstream(m_path) << content;
    }
    ~ScratchFile() { std::filesystem::remove(m_path); }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

} // namespace

TEST_CASE("an import names the format of its product, and a dry run stores nothing") {
    ImportWorld world;
    const ScratchFile file("{}\n");
    CHECK(contains(world.client.run({"import", "langfuse", file.path()}).out, "Imported 2 spans."));
    const Outcome dry = world.client.run({"import", "langsmith", file.path(), "--dry-run"});
    CHECK(contains(dry.out, "Would import 2 spans. Nothing was stored."));
    world.client.run({"import", file.path()});
    world.client.run({"import", "phoenix", file.path()});
    const auto seen = world.server.seen();
    REQUIRE(seen.size() == 4);
    CHECK(seen[0].target == "/v1/projects/shop/import?format=langfuse");
    CHECK(seen[1].target == "/v1/projects/shop/import?format=langsmith&dry_run=true");
    CHECK(seen[2].target == "/v1/projects/shop/import?format=jsonl");
    CHECK(seen[3].target == "/v1/projects/shop/import?format=phoenix");
}

TEST_CASE("results of a batch are sent with the time of their file or the given one") {
    ImportWorld world;
    const ScratchFile file(R"({"custom_id":"a"})"
                           "\n");
    CHECK(world.client.run({"import", "anthropic-batch", file.path()}).exit == 0);
    CHECK(world.client.run({"import", "openai-batch", file.path(), "--time", "2026-11-01T00:00:00Z"}).exit == 0);
    const auto seen = world.server.seen();
    CHECK(contains(seen.at(0).target, "format=anthropic_batch&time=20"));
    CHECK(contains(seen.at(1).target, "time=2026-11-01T00%3A00%3A00"));
    CHECK(world.client.run({"import", "openai-batch", "/nonexistent"}).exit == 2);
    CHECK(world.client.run({"import", "openai-batch", file.path(), "--requests", "/nonexistent"}).exit == 2);
}

TEST_CASE("a word after import is a product or a file") {
    ImportWorld world;
    const Outcome missing = world.client.run({"import", "langfuse"});
    CHECK(missing.exit == 2);
    CHECK(contains(missing.err, "needs FILE"));
    CHECK(contains(world.client.run({"help", "import"}).out, "import langfuse"));
    CHECK(contains(world.client.run({"help", "import", "phoenix"}).out, "--source-project"));
    CHECK(contains(world.client.run({"completion", "words", "import", "lang"}).out, "langsmith"));
    CHECK(world.client.run({"import", "phoenix", "ftp://x"}).exit == 2);
    CHECK(contains(world.client.run({"import", "phoenix", "http://user:secret@127.0.0.1:9"}).err, "error"));
}

TEST_CASE("a diagnosis shows each finding with its line to change; hostile names stay on their line") {
    ImportWorld world;
    world.server.on("GET /v1/projects/shop/trace_diagnosis", 200,
                    R"({"data":{"after":"2026-11-14T12:00:00.000000000Z","before":"2026-11-15T12:00:00.000000000Z",
 "spans":1200,"calls":40,"sampled":1000,"findings":[{"name":"calls_without_tokens","severity":"problem",
 "title":"Model calls without token counts","explanation":"Cost is missing.","fix":"a = 1\nb = 2","filter":"tokens = 0",
 "count":10,"share":0.25,"services":["web\u001b[2J"],"scopes":["s"]}],"conventions":[{"name":"OpenInference","spans":9,
 "share":0.9,"read":5,"kept":1}],"unknown_attributes":[{"key":"acme.prompt","spans":3,"scopes":[]}]}})");
    const Outcome outcome = world.client.run({"doctor", "traces", "shop", "--after", "24h"});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.out, "1.2k spans, 40 model calls"));
    CHECK(contains(outcome.out, "OpenInference 90"));
    CHECK(contains(outcome.out, "Model calls without token counts: 10 (25"));
    CHECK(contains(outcome.out, "  Change: a = 1\n  Change: b = 2\n"));
    CHECK(contains(outcome.out, "hone spans -q 'tokens = 0'"));
    CHECK(contains(outcome.out, "web\\x1b[2J"));
    CHECK(contains(outcome.out, "acme.prompt  3 spans"));
    CHECK(world.client.run({"doctor", "traces", "shop", "--json"}).json().at("spans") == 1200);
    CHECK(world.client.run({"doctor", "traces"}).exit == 2);
}
