// Which setup a repository gets, and what its hostile files do to that: nothing but data.
#include "forge/setup/plan.h"

#include <doctest/doctest.h>

namespace hone::forge {

namespace {

std::vector<TreeEntry> tree_of(std::vector<std::string> paths) {
    std::vector<TreeEntry> files;
    for (std::string& path : paths) files.push_back({"100644", std::string(40, 'a'), std::move(path)});
    return files;
}

std::string source_of(std::vector<std::string> paths) {
    const auto plan = plan_setup("auto", tree_of(std::move(paths)), "{}");
    return plan.ok() ? plan.value().source : "error: " + plan.error().message;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the preset's script, the repository's, the devcontainer and lock files are used in this order") {
    const auto everything = tree_of({".hone/setup.sh", ".devcontainer/devcontainer.json", "package-lock.json"});
    CHECK(plan_setup("make deps", everything, "").value().source == "the preset");
    CHECK(plan_setup("auto", everything, "").value().source == ".hone/setup.sh");
    CHECK(plan_setup("auto", everything, "").value().script == "/bin/sh -e ./.hone/setup.sh");
    const auto container = tree_of({".devcontainer.json", "package-lock.json"});
    const auto plan = plan_setup("auto", container, R"({"postCreateCommand": "make deps"})").value();
    CHECK(plan.source == ".devcontainer.json");
    CHECK(plan.script == "make deps");
    CHECK(plan_setup("auto", container, "{}").value().source == "package-lock.json");
    CHECK(plan_setup("", everything, "").value() == SetupPlan{});
}

TEST_CASE("lock files name one installer for each tool, at the top or in the folders of a monorepo") {
    CHECK(source_of({"CMakeLists.txt"}).empty());
    CHECK(source_of({"package-lock.json", "yarn.lock"}) == "package-lock.json");
    CHECK(source_of({"requirements.txt", "pyproject.toml", "go.mod"}) == "requirements.txt, go.mod");
    CHECK(source_of({"web/package-lock.json", "services/api/uv.lock", "a/b/c/Cargo.lock"}) ==
          "services/api/uv.lock, web/package-lock.json");
    CHECK(source_of({"package-lock.json", "web/package-lock.json"}) == "package-lock.json");
    CHECK(source_of({".github/package-lock.json"}).empty());
    std::vector<std::string> many;
    for (int i = 10; i < 40; ++i) many.push_back("p" + std::to_string(i) + "/go.mod");
    const auto plan = plan_setup("auto", tree_of(many), "").value();
    CHECK(has(plan.script, "'./p19'"));
    CHECK_FALSE(has(plan.script, "'./p20'"));
}

TEST_CASE("each content is another plan, and names of files are only words") {
    auto files = tree_of({"package-lock.json"});
    const auto before = plan_setup("auto", files, "").value();
    CHECK(before == plan_setup("auto", files, "").value());
    files[0].object = std::string(40, 'b');
    CHECK_FALSE(before == plan_setup("auto", files, "").value());
    const auto odd = plan_setup("auto", tree_of({"a'; touch /x; '/go.mod"}), "").value();
    CHECK(has(odd.script, "cd './a'\\''; touch /x; '\\'''"));
}

TEST_CASE("a script or a devcontainer that is a link or another repository is refused by name") {
    for (const char* mode : {"120000", "160000"})
        for (const char* path : {".hone/setup.sh", ".devcontainer.json"}) {
            const std::vector<TreeEntry> files{{mode, std::string(40, 'a'), path}};
            const auto plan = plan_setup("auto", files, "{}");
            REQUIRE_FALSE(plan.ok());
            CHECK(has(plan.error().message, path));
        }
    // Of lock files regular ones count.
    const std::vector<TreeEntry> link{{"120000", std::string(40, 'a'), "package-lock.json"}};
    CHECK(plan_setup("auto", link, "").value().script.empty());
}

TEST_CASE("a devcontainer has comments, and bombs are errors") {
    CHECK(post_create_command(R"(// a comment
        { /* "postCreateCommand": "no" */ "image": "http://x//y", "postCreateCommand": ["npm", "it's"], })")
              .value() == "'npm' 'it'\\''s'");
    CHECK(post_create_command(R"({"postCreateCommand": {"a": "make a", "b": ["make", "b"]}})").value() ==
          "make a\n'make' 'b'\n");
    CHECK(post_create_command("{}").value().empty());
    CHECK(without_comments(R"({"a": "\"//", "b": [1, 2, ], })") == R"({"a": "\"//", "b": [1, 2  ]  })");
    const std::string deep = std::string(1000, '[') + std::string(1000, ']');
    for (const std::string& bad :
         {R"({"postCreateCommand": )" + deep + "}", deep, std::string("{"), std::string("/*"), std::string("\""),
          std::string("\"\\"), std::string("//"), std::string("{\"postCreateCommand\": 7}"),
          "{\"a\": \"" + std::string(largest_devcontainer, 'x') + "\"}", std::string("{\"a\": 1, \"a\": 2}")})
        CHECK_FALSE(post_create_command(bad).ok());
}

TEST_CASE("a listing of git is read within bounds") {
    const std::string line = "100644 blob " + std::string(40, 'a') + "\tsome folder/go.mod";
    const auto files = parse_tree(line + std::string(1, '\0')).value();
    REQUIRE(files.size() == 1);
    CHECK(files[0].path == "some folder/go.mod");
    CHECK(parse_tree("").value().empty());
    CHECK_FALSE(parse_tree("no tab").ok());
    std::string many;
    for (size_t i = 0; i <= most_setup_files; ++i) many += line + std::string(1, '\0');
    CHECK_FALSE(parse_tree(many).ok());
}

} // namespace hone::forge
