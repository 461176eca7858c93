// For tests only: git in real sandboxes, and repositories made by the machine's git.
#pragma once

#include "forge/git.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <unistd.h>

namespace hone::forge::testing {

inline std::unique_ptr<sandbox::Provider> open_provider(const std::string& directory) {
    std::signal(SIGPIPE, SIG_IGN);
    auto opened = sandbox::open_local_provider({directory, sandbox::hone_program()});
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
    return std::move(opened).value();
}

// A script of the test itself, outside any sandbox.
inline void shell(const std::string& directory, const std::string& script) {
    const std::string file = directory + "/script.sh";
    REQUIRE(write_file(file, "set -e\ncd '" + directory + "'\n" + script + "\n", 0700).ok());
    const std::string command = "HOME=" + directory +
                                " GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com "
                                "GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com /bin/sh " +
                                file + " >" + directory + "/script.log 2>&1";
    const int status = std::system(command.c_str());
    REQUIRE_MESSAGE(status == 0, read_file(directory + "/script.log").value());
}

struct Workbench {
    sandbox::Folder folder;
    std::unique_ptr<sandbox::Provider> provider = open_provider(folder.path);
    sandbox::Store store = sandbox::Store::open(folder.path).value();
    Git git{*provider, store, nullptr, {folder.path + "/git", ::geteuid() == 0}};
};

} // namespace hone::forge::testing
