#include "sandbox/image/recipe.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr std::string_view default_suite = "bookworm";
constexpr size_t most_lines = 1000;

constexpr std::string_view default_packages[] = {
    "python3",
    "python3-pip",
    "python3-venv",
    "python3-numpy",
    "python3-pandas",
    "python3-matplotlib",
    "nodejs",
    "npm",
    "git",
    "ripgrep",
    "jq",
    "curl",
    "build-essential",
    "ca-certificates",
    "xz-utils",
    "unzip",
    "procps",
    "file",
    "cmake",
    "debian-archive-keyring",
};

constexpr WorkerTool worker_tools[] = {
    {"python3", "/usr/bin/python3"},
    {"pip", "/usr/lib/python3/dist-packages/pip"},
    {"venv", "/usr/lib/python3*/ensurepip"},
    {"numpy", "/usr/lib/python3/dist-packages/numpy"},
    {"pandas", "/usr/lib/python3/dist-packages/pandas"},
    {"matplotlib", "/usr/lib/python3/dist-packages/matplotlib"},
    {"node", "/usr/bin/node"},
    {"npm", "/usr/bin/npm"},
    {"git", "/usr/bin/git"},
    {"ripgrep", "/usr/bin/rg"},
    {"jq", "/usr/bin/jq"},
    {"curl", "/usr/bin/curl"},
    {"gcc", "/usr/bin/gcc"},
    {"make", "/usr/bin/make"},
};

bool has_only_letters(std::string_view text, std::string_view punctuation) {
    return !text.empty() && std::ranges::all_of(text, [&](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || punctuation.find(letter) != std::string_view::npos;
    });
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const std::string_view word : split(text, ' '))
        if (!trim(word).empty()) words.emplace_back(trim(word));
    return words;
}

Result<> read_from(std::string_view rest, ImageRecipe& recipe) {
    if (rest == "default") {
        recipe = default_recipe();
        return {};
    }
    recipe.suite = default_suite;
    if (rest == "debian") return {};
    if (!rest.starts_with("debian:") || !has_only_letters(rest.substr(7), "-"))
        return invalid("FROM takes debian, debian:SUITE or default");
    recipe.suite = rest.substr(7);
    return {};
}

Result<> read_copy(std::string_view rest, const std::string& folder, ImageRecipe& recipe) {
    const auto words = words_of(rest);
    if (words.size() != 2) return invalid("COPY takes a source and a target");
    std::error_code failed;
    const auto top = std::filesystem::canonical(folder, failed);
    const auto source = std::filesystem::canonical(top / words[0], failed);
    if (failed) return invalid("COPY: there is no " + words[0]);
    const auto [end, rest_of_source] = std::mismatch(top.begin(), top.end(), source.begin(), source.end());
    if (end != top.end()) return invalid("COPY: " + words[0] + " is outside the folder of the list");
    // They become words of mmdebstrap's hooks.
    if (!has_only_letters(source.string(), "._/-+@") || !is_clean_absolute_path(words[1]) ||
        !has_only_letters(words[1], "._/-+@"))
        return invalid("COPY: paths have letters, digits and ._/-+@, and the target begins with /");
    recipe.steps.push_back({"", source.string(), words[1]});
    return {};
}

Result<> read_line(std::string_view line, const std::string& folder, ImageRecipe& recipe) {
    const size_t space = line.find(' ');
    const std::string_view word = line.substr(0, space);
    const std::string_view rest = space == line.npos ? "" : trim(line.substr(space));
    if (word == "FROM") return read_from(rest, recipe);
    if (recipe.suite.empty()) return invalid("the first line is FROM");
    if (word == "PACKAGES") {
        for (const std::string& package : words_of(rest)) {
            if (!has_only_letters(package, ".+-:") || package.front() == '-')
                return invalid("PACKAGES: " + package + " is not the name of a package");
            recipe.packages.push_back(package);
        }
        return {};
    }
    if (word == "ENV") {
        const size_t equals = rest.find('=');
        if (equals == rest.npos || !is_environment_name(rest.substr(0, equals))) return invalid("ENV takes NAME=value");
        recipe.environment[std::string(rest.substr(0, equals))] = rest.substr(equals + 1);
        return {};
    }
    if (word == "COPY") return read_copy(rest, folder, recipe);
    if (word == "RUN" && !rest.empty()) {
        recipe.steps.push_back({std::string(rest), "", ""});
        return {};
    }
    return invalid("a line begins with FROM, PACKAGES, ENV, COPY or RUN");
}

std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return quoted + "'";
}

// mmdebstrap's own copies make no folders, and of a single file it keeps no mode.
void add_copy(const ImageRecipe::Step& step, std::vector<std::string>& argv) {
    const std::string hook = "--customize-hook=", inside = "\"$1\"" + step.target;
    struct stat status {};
    if (::stat(step.source.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        argv.push_back(hook + "mkdir -p " + inside);
        argv.push_back(hook + "sync-in " + step.source + " " + step.target);
        return;
    }
    argv.push_back(hook + "mkdir -p \"$1\"" + step.target.substr(0, step.target.rfind('/') + 1));
    argv.push_back(hook + "upload " + step.source + " " + step.target);
    argv.push_back(hook + "chmod " + ((status.st_mode & 0111) != 0 ? "755 " : "644 ") + inside);
}

// With our environment; its messages are ours.
Result<> run_to_file(const std::vector<std::string>& argv, const std::string& path) {
    const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!out.is_open()) return system_error("create " + path, errno);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) return unavailable(argv[0] + " is missing: apt install " + argv[0]);
    if (failed != 0) return system_error("start " + argv[0], failed);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    std::string advice;
    if (::geteuid() != 0)
        advice = ". An ordinary user needs a range of user ids for it: the package uidmap, and usermod --add-subuids "
                 "100000-165535 --add-subgids 100000-165535 NAME";
    return conflict(argv[0] + " failed; its messages are above" + advice);
}

bool exists_below(const std::string& root, std::string_view path) {
    const size_t star = path.find('*');
    if (star == path.npos) return file_exists(root + std::string(path));
    const std::string_view before = path.substr(0, star), after = path.substr(star + 1);
    const std::string folder = root + std::string(before.substr(0, before.rfind('/')));
    const std::string_view begin = before.substr(before.rfind('/') + 1);
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
        if (entry.path().filename().string().starts_with(begin) &&
            file_exists(entry.path().string() + std::string(after)))
            return true;
    return false;
}

} // namespace

ImageRecipe default_recipe() {
    ImageRecipe recipe;
    recipe.suite = default_suite;
    recipe.packages.assign(std::begin(default_packages), std::end(default_packages));
    return recipe;
}

Result<ImageRecipe> parse_recipe(std::string_view text, const std::string& folder) {
    ImageRecipe recipe;
    std::string line;
    size_t number = 0;
    for (const std::string_view raw : split(text, '\n')) {
        if (++number > most_lines) return too_large("a list has at most 1000 lines");
        if (raw.find('\0') != raw.npos) return invalid("line " + std::to_string(number) + " holds a NUL");
        if (line.empty() && trim(raw).starts_with('#')) continue;
        const bool continues = raw.ends_with('\\');
        line += continues ? raw.substr(0, raw.size() - 1) : raw;
        if (continues) continue;
        if (!trim(line).empty())
            if (auto read = read_line(trim(line), folder, recipe); !read.ok())
                return invalid("line " + std::to_string(number) + ": " + read.error().message);
        line.clear();
    }
    if (!line.empty()) return invalid("the last line continues");
    if (recipe.suite.empty()) return invalid("the list is empty: begin with FROM debian");
    return recipe;
}

std::vector<std::string> mmdebstrap_arguments(const ImageRecipe& recipe, const std::string& mirror) {
    // An image that is not complete is thrown away, so dpkg need not wait for the disk after each package.
    std::vector<std::string> argv{"mmdebstrap",        "--quiet",      "--variant=apt",
                                  "--components=main", "--format=tar", "--dpkgopt=force-unsafe-io"};
    for (const std::string& package : recipe.packages) argv.push_back("--include=" + package);
    std::string variables;
    for (const auto& [name, value] : recipe.environment) variables += name + "=" + shell_quoted(value) + " ";
    for (const ImageRecipe::Step& step : recipe.steps) {
        if (step.command.empty()) {
            add_copy(step, argv);
            continue;
        }
        argv.push_back("--customize-hook=chroot \"$1\" env " + variables + "/bin/sh -ec " + shell_quoted(step.command));
    }
    argv.insert(argv.end(), {recipe.suite, "-", mirror});
    return argv;
}

Result<ImageView> build_image(Provider& provider, const Store& store, const std::string& name,
                              const ImageRecipe& recipe, const std::string& mirror, ImageOptions options) {
    if (!is_plain_name(name) || name == "host") return invalid("not a name for an image");
    const std::string archive = store.images() + "/.build-" + name + ".tar";
    const auto build = [&]() -> Result<ImageView> {
        TRY(run_to_file(mmdebstrap_arguments(recipe, mirror), archive));
        options.replace = true;
        options.environment = recipe.environment;
        options.source = "debian " + recipe.suite + " " + mirror;
        return add_image(provider, store, name, archive, options);
    };
    auto built = build();
    ::unlink(archive.c_str());
    return built;
}

std::vector<std::string> missing_tools(const std::string& root) {
    std::vector<std::string> missing;
    for (const WorkerTool& tool : worker_tools)
        if (!exists_below(root, tool.path)) missing.emplace_back(tool.name);
    return missing;
}

} // namespace hone::sandbox
