// Lists of images: what is read, what is refused, and which words mmdebstrap gets.
#include "sandbox/image/recipe.h"

#include "base/file.h"
#include "sandbox/local/test_folder.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

std::string problem_of(const std::string& text, const std::string& folder = "/") {
    const auto recipe = parse_recipe(text, folder);
    return recipe.ok() ? "" : recipe.error().message;
}

bool contains_text(const std::vector<std::string>& list, std::string_view wanted) {
    return std::ranges::find(list, wanted) != list.end();
}

} // namespace

TEST_CASE("a list of an image becomes the arguments of mmdebstrap") {
    const Folder folder;
    REQUIRE(write_file(folder.path + "/tool", "x").ok());
    const auto recipe = parse_recipe("# an image\nFROM debian\nPACKAGES jq \\\n  libc6:amd64\n\nENV MODE=a 'b'\n"
                                     "COPY tool /usr/local/bin/tool\nRUN echo \"it's\" > /etc/mark\n",
                                     folder.path);
    REQUIRE_MESSAGE(recipe.ok(), recipe.error().message);
    CHECK(recipe.value().packages == std::vector<std::string>{"jq", "libc6:amd64"});
    CHECK(recipe.value().environment.at("MODE") == "a 'b'");
    const auto argv = mmdebstrap_arguments(recipe.value(), "https://mirror.example/debian/");
    CHECK(contains_text(argv, "--dpkgopt=force-unsafe-io"));
    CHECK(contains_text(argv, "--include=jq"));
    CHECK(contains_text(argv, "--customize-hook=mkdir -p \"$1\"/usr/local/bin/"));
    CHECK(contains_text(argv, "--customize-hook=upload " + folder.path + "/tool /usr/local/bin/tool"));
    CHECK(contains_text(argv, "--customize-hook=chmod 644 \"$1\"/usr/local/bin/tool"));
    CHECK(contains_text(argv,
                        "--customize-hook=chroot \"$1\" env MODE='a '\\''b'\\''' /bin/sh -ec 'echo \"it'\\''s\" > "
                        "/etc/mark'"));
    CHECK(argv[argv.size() - 3] == "bookworm");
    CHECK(argv.back() == "https://mirror.example/debian/");
    const auto more = parse_recipe("FROM default\nPACKAGES htop", "/").value();
    CHECK(contains_text(more.packages, "python3-pandas"));
    CHECK(contains_text(more.packages, "htop"));
}

TEST_CASE("a list that could mean something else is refused by its line") {
    const Folder folder;
    REQUIRE(::symlink("/etc/passwd", (folder.path + "/link").c_str()) == 0);
    CHECK(problem_of("") == "the list is empty: begin with FROM debian");
    CHECK(problem_of("RUN true") == "line 1: the first line is FROM");
    CHECK(problem_of("FROM ubuntu").starts_with("line 1: FROM takes"));
    CHECK(problem_of("FROM debian:x;y").starts_with("line 1: FROM takes"));
    for (const char* line :
         {"PACKAGES -o", "PACKAGES a;b", "PACKAGES $(x)", "ENV x", "ENV 1=2", "COPY one", "RUN", "run x",
          "COPY ../x /y", "COPY /etc/passwd /y", "COPY link /y", "COPY nothing /y", "ADD a b"})
        CHECK_MESSAGE(problem_of(std::string("FROM debian\n") + line, folder.path).starts_with("line 2: "), line);
    CHECK(problem_of("FROM debian\nRUN a \\") == "the last line continues");
    CHECK_FALSE(problem_of(std::string("FROM debian\n\0", 13)).empty());
}

TEST_CASE("the tools that a root lacks are named") {
    const Folder folder;
    const auto all = missing_tools(folder.path);
    CHECK(all.size() == 14);
    REQUIRE(make_directories(folder.path + "/usr/bin", 0755).ok());
    REQUIRE(make_directories(folder.path + "/usr/lib/python3.11/ensurepip", 0755).ok());
    REQUIRE(write_file(folder.path + "/usr/bin/jq", "").ok());
    const auto some = missing_tools(folder.path);
    CHECK(some.size() == 12);
    CHECK_FALSE(contains_text(some, "jq"));
    CHECK_FALSE(contains_text(some, "venv"));
}

} // namespace hone::sandbox
