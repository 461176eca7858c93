#include "cli/table/parse.h"

#include "cli/testing/scripted_server.h"
#include "cli/toolkit/help.h"

#include <set>

using namespace hone;
using namespace hone::cli;
using namespace hone::cli::testing;

namespace {

Parsed parse_words(const std::vector<std::string>& words) {
    // The parsed value points into the tree.
    static const Tree tree = make_tree({});
    return parse(tree, words);
}

std::string problem_of(const std::vector<std::string>& words) {
    return parse_words(words).problem.value_or("");
}

} // namespace

TEST_CASE("arguments and options find their places in any order") {
    const Parsed parsed = parse_words(
        {"--json", "project", "--url=http://a:1", "update", "shop", "--description", "a=b", "--restricted=true"});
    CHECK_FALSE(parsed.problem);
    REQUIRE(parsed.command != nullptr);
    CHECK(parsed.command->path == "project update");
    CHECK(parsed.json);
    CHECK(parsed.value("PROJECT") == "shop");
    CHECK(parsed.value("--url") == "http://a:1");
    CHECK(parsed.value("--description") == "a=b");
    CHECK(parsed.value("--restricted") == "true");
    CHECK_FALSE(parsed.value("--name"));
}

TEST_CASE("options that may be repeated keep all values, others are refused") {
    CHECK(parse_words({"key", "create", "k", "--scope", "a", "--scope", "b"}).all("--scope") ==
          std::vector<std::string>{"a", "b"});
    CHECK(problem_of({"project", "list", "--limit", "1", "--limit", "2"}) == "--limit is given twice");
}

TEST_CASE("two dashes end the options") {
    const Parsed parsed = parse_words({"project", "show", "--", "--json"});
    CHECK_FALSE(parsed.problem);
    CHECK(parsed.value("PROJECT") == "--json");
}

TEST_CASE("what is wrong is named, with a suggestion when one is near") {
    CHECK(problem_of({"projct"}) == "unknown command \"projct\"; did you mean project?");
    CHECK(problem_of({"projects", "lst"}) == "unknown command \"project lst\"; did you mean list?");
    CHECK(problem_of({"proj"}) == "unknown command \"proj\"; did you mean project?");
    CHECK(problem_of({"project", "lst"}) == "unknown command \"project lst\"; did you mean list?");
    CHECK(problem_of({"zzzzzz"}) == "unknown command \"zzzzzz\"");
    CHECK(problem_of({"project", "list", "--limt", "3"}) == "unknown option \"--limt\"; did you mean --limit?");
    CHECK(problem_of({"project", "list", "--limit"}) == "--limit needs a value: --limit NUMBER");
    CHECK(problem_of({"project", "list", "--all=yes"}) == "--all takes no value");
    CHECK(problem_of({"project", "show"}) == "hone project show needs PROJECT: Id or name of the project.");
    CHECK(problem_of({"project", "show", ""}) == "PROJECT must not be empty");
    CHECK(problem_of({"project", "show", "a", "b"}) == "unexpected argument \"b\": \"project show\" takes at most 1");
    CHECK(problem_of({"whoami", "me"}) == "unexpected argument \"me\": \"whoami\" takes none");
    CHECK(problem_of({"member", "role", "u", "admn"}) ==
          "ROLE must be one of owner, admin, member, annotator, viewer, not \"admn\"; did you mean admin?");
    CHECK(problem_of({"project"}).starts_with("hone project needs one of: list, create, show"));
    CHECK(problem_of({"\x1b[2J"}) == "unknown command \"\\x1b[2J\"");
}

TEST_CASE("usage errors exit with 2 and say where to read on") {
    Client client;
    const Outcome outcome = client.run({"project", "lst"});
    CHECK(outcome.exit == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "error: unknown command \"project lst\"; did you mean list?\nhint: hone help project\n");

    const Outcome as_json = client.run({"project", "lst", "--json"});
    CHECK(as_json.exit == 2);
    CHECK(json::parse(as_json.err).value().at("error").at("exit") == 2);
    CHECK(json::parse(as_json.err).value().at("error").at("code") == "invalid");
}

TEST_CASE("help lists the commands of this machine, the groups, and nothing hidden") {
    Client client;
    const std::string page = client.run({}).out;
    CHECK(page.find("  serve ") != std::string::npos);
    CHECK(page.find("engine") == std::string::npos);
    CHECK(page.find("  project ") != std::string::npos);
    CHECK(page.find("  backup ") != std::string::npos);
    CHECK(client.run({"--help"}).out == page);
    CHECK(client.run({"help"}).out == page);
    CHECK(client.run({"help", "project", "create"}).out == client.run({"project", "create", "--help"}).out);
    CHECK(client.run({"project", "-h"}).out.find("project bindings") != std::string::npos);
    CHECK(client.run({"help", "exit-codes"}).out.find("  7   The server cannot be reached") != std::string::npos);
    const Outcome unknown = client.run({"help", "projct"});
    CHECK(unknown.exit == 2);
    CHECK(unknown.err.find("did you mean project?") != std::string::npos);
}

TEST_CASE("every command is declared well and documented") {
    const Tree tree = make_tree({});
    const std::string markdown = print_markdown(tree);
    Client client;
    std::set<std::string_view> paths;
    for (const auto& command : tree.commands) {
        CAPTURE(command.path);
        CHECK(paths.insert(command.path).second);
        CHECK((command.run != nullptr));
        CHECK(command.summary.ends_with('.'));
        CHECK(markdown.find("### hone " + std::string(command.path) + "\n") != std::string::npos);
        const size_t space = command.path.find(' ');
        if (space != std::string_view::npos) CHECK(tree.find_group(command.path.substr(0, space)) != nullptr);
        std::set<std::string_view> names;
        for (const auto& option : tree.options_of(&command)) {
            CAPTURE(option.name);
            CHECK(names.insert(option.name).second);
            CHECK(option.name.starts_with("--"));
            CHECK_FALSE(option.doc.empty());
        }
        bool optional_before = false;
        for (const auto& argument : command.arguments) {
            CHECK_FALSE((optional_before && !argument.optional));
            optional_before = argument.optional;
        }
        std::vector<std::string> words;
        for (const auto word : split(command.path, ' ')) words.emplace_back(word);
        words.emplace_back("--help");
        CHECK(client.run(words).exit == 0);
    }
    CHECK(client.run({"help", "--markdown"}).out.find("| `serve` | Run the server. |") != std::string::npos);
}
