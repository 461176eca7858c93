#include "cli/toolkit/completion.h"

#include "cli/testing/scripted_server.h"

#include <array>
#include <cstdio>

using namespace hone;
using namespace hone::cli;
using namespace hone::cli::testing;

namespace {

std::vector<std::string> words_for(const std::vector<std::string>& words) {
    const std::array local{LocalCommand{"serve", "Run.", "hone-server"},
                           LocalCommand{"engine", "", "hone-server", true}};
    const Tree tree = make_tree(local);
    std::vector<std::string> found;
    for (const auto& candidate : complete(tree, words).words) found.push_back(candidate.word);
    return found;
}

using Words = std::vector<std::string>;

std::string output_of(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string output;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) output += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    return output;
}

// What bash offers for a line, one word per line, after sourcing the real script of the real program.
std::string bash_offers(const TemporaryDirectory& directory, const std::string& words, int position) {
    const std::string script = directory.path() + "/try.bash";
    REQUIRE(write_file(script, "set -u\nPATH=" + directory.path() + ":$PATH\ncd " + directory.path() +
                                   "\nsource <(hone completion bash)\ncomplete -p hone >/dev/null || exit 1\n"
                                   "COMP_WORDS=(" +
                                   words + ")\nCOMP_CWORD=" + std::to_string(position) +
                                   "\n_hone\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
                .ok());
    return output_of("bash --norc --noprofile " + script);
}

} // namespace

TEST_CASE("completion follows the command table") {
    CHECK(words_for({"proj"}) == Words{"project"});
    CHECK(words_for({"seri"}) == Words{"series"});
    CHECK(words_for({"eng"}).empty());
    CHECK(words_for({"member", "re"}) == Words{"revoke-invite", "remove"});
    CHECK(words_for({"--json", "member", "r"}) == Words{"revoke-invite", "role", "remove"});
    CHECK(words_for({"--url", "http://a", "key", "rot"}) == Words{"rotate"});
    CHECK(words_for({"member", "invite", "a@b.c", "--role", "a"}) == Words{"admin", "annotator"});
    CHECK(words_for({"member", "invite", "--role=a"}) == Words{"--role=admin", "--role=annotator"});
    CHECK(words_for({"member", "invite", "--role", "=", "ad"}) == Words{"admin"}); // as bash splits it
    CHECK(words_for({"member", "role", "user_1", "v"}) == Words{"viewer"});
    CHECK(words_for({"project", "delete", "x", "--y"}) == Words{"--yes"});
    CHECK(words_for({"project", "list", "--y"}).empty());
    CHECK(words_for({"completion", "z"}) == Words{"zsh"});
    CHECK(words_for({"help", "proj"}) == Words{"project"});
    CHECK(words_for({"nonsense", ""}).empty());
    CHECK(words_for({"project", "nonsense", ""}).empty());
    CHECK(words_for({}).size() > 10);
    CHECK(complete(make_tree({}), {"backup", ""}).files);
    CHECK(complete(make_tree({}), {"whoami", "--ca-file", ""}).files);
    CHECK_FALSE(complete(make_tree({}), {"project", "show", ""}).files);
}

TEST_CASE("the bash script works in bash") {
    const TemporaryDirectory directory;
    std::filesystem::create_symlink(HONE_CLI_CLIENT, directory.path() + "/hone");
    REQUIRE(write_file(directory.path() + "/my backup.zst", "").ok());
    CHECK(bash_offers(directory, "hone proj", 1) == "project\n");
    CHECK(bash_offers(directory, "hone member role user_1 ''", 4) == "owner\nadmin\nmember\nannotator\nviewer\n");
    CHECK(bash_offers(directory, "hone --space default key rev", 4) == "revoke\n");
    CHECK(bash_offers(directory, "hone backup my", 2) == "my backup.zst\n");
    CHECK(bash_offers(directory, "hone key create x --kind = s", 6) == "service\n");
}

TEST_CASE("every shell has a script that calls back the same words") {
    Client client;
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const Outcome outcome = client.run({"completion", shell});
        CHECK(outcome.exit == 0);
        CHECK(outcome.out.find("completion words") != std::string::npos);
    }
    CHECK(client.run({"completion", "words", "proj"}).out.starts_with("project\tObserved applications"));
    CHECK(client.run({"completion", "tcsh"}).exit == 2);
}
