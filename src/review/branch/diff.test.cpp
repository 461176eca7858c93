#include "review/branch/diff.h"
#include "review/branch/flags.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::review;

namespace {

Diff parsed(std::string_view text, DiffCaps caps = {}) {
    auto diff = parse_diff(text, caps);
    if (!diff.ok()) FAIL(diff.error().message);
    return std::move(diff).value();
}

bool has(const std::vector<Flag>& flags, FlagKind kind, std::string_view path, bool blocking) {
    for (const Flag& flag : flags)
        if (flag.kind == kind && flag.path == path && flag.blocking == blocking) return true;
    return false;
}

std::string new_file(const std::string& path, const std::string& line) {
    return "diff --git a/" + path + " b/" + path + "\nnew file mode 100644\nindex 0..2\n--- /dev/null\n+++ b/" + path +
           "\n@@ -0,0 +1 @@\n+" + line + "\n";
}

constexpr std::string_view ordinary = R"(diff --git a/src/a b.py b/src/a b.py
index 3b18e51..9daeafb 100644
--- a/src/a b.py	
+++ b/src/a b.py	
@@ -1,3 +1,4 @@ def refund(order):
 one
-two
+two and a half
+diff --git a/not b/not
 three
\ No newline at end of file
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/tool.sh b/tool.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
new file mode 100644
index 0000000..8d2c1e2
Binary files /dev/null and b/logo.png differ
diff --git "a/f\303.txt" "b/f\303.txt"
deleted file mode 100644
index e69de29..0000000
diff --git a/vendor b/vendor
new file mode 160000
index 0000000..1111111
--- /dev/null
+++ b/vendor
@@ -0,0 +1 @@
+Subproject commit 1111111111111111111111111111111111111111
)";

} // namespace

TEST_CASE("a diff is read file by file: lines, renames, modes, binaries, names that are not UTF-8, submodules") {
    const Diff diff = parsed(ordinary);
    REQUIRE(diff.files.size() == 6);
    CHECK_FALSE(diff.truncated);
    const FileDiff& first = diff.files[0];
    CHECK(first.file.path == "src/a b.py");
    CHECK(first.file.additions == 2);
    CHECK(first.file.deletions == 1);
    REQUIRE(first.hunks.size() == 1);
    CHECK(first.hunks[0].heading == "def refund(order):");
    REQUIRE(first.hunks[0].lines.size() == 5);
    // A line that looks like the head of the next file is a line.
    CHECK(first.hunks[0].lines[3].content == "diff --git a/not b/not");
    CHECK(first.hunks[0].lines[3].new_line == 3);
    CHECK_FALSE(first.hunks[0].lines[3].old_line.has_value());
    CHECK(first.hunks[0].lines[4].no_newline);
    CHECK(diff.files[1].file.change == ChangeKind::renamed);
    CHECK(diff.files[1].file.old_path == "old name.txt");
    CHECK(diff.files[1].file.path == "new name.txt");
    CHECK(diff.files[2].file.path == "tool.sh");
    CHECK(diff.files[2].file.new_mode == "100755");
    CHECK(diff.files[3].file.binary);
    CHECK(diff.files[3].file.change == ChangeKind::added);
    CHECK(diff.files[4].file.odd_name);
    CHECK(diff.files[4].file.path == "\"f\\303.txt\"");
    CHECK(diff.files[4].file.change == ChangeKind::deleted);
    CHECK(diff.files[5].file.submodule);
    CHECK(diff.additions == 3);
}

TEST_CASE("what an output cap leaves is a truncated diff; what git would not write is corrupt") {
    for (const size_t length : {5u, 20u, 60u, 130u, 200u}) {
        INFO("cut at ", length);
        const auto diff = parse_diff(ordinary.substr(0, length));
        // Inside the first word there is nothing to recognise yet.
        if (length > 40) {
            REQUIRE(diff.ok());
            CHECK(diff.value().truncated);
        }
    }
    CHECK_FALSE(parse_diff("hello\n").ok());
    CHECK_FALSE(parse_diff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n*what\n").ok());
    CHECK_FALSE(parse_diff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -99999999999 +1 @@\n").ok());
    CHECK(parsed("").files.empty());
}

TEST_CASE("caps of files, lines and line lengths hold, and the counts continue") {
    std::string big =
        "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,100 @@\n";
    for (int i = 0; i < 100; ++i) big += "+" + std::string(50, 'x') + "\n";
    const Diff diff = parsed(big, {.files = 1, .lines = 1000, .file_lines = 10, .line_bytes = 20});
    CHECK(diff.files[0].file.additions == 100);
    CHECK(diff.files[0].file.too_large);
    CHECK(diff.files[0].hunks[0].lines.size() == 10);
    CHECK(diff.files[0].hunks[0].lines[0].cut);
    CHECK(diff.files[0].hunks[0].lines[0].content.size() == 20);
    CHECK(parsed(big + big, {.files = 1}).truncated);
}

TEST_CASE("flags name what a reviewer must not overlook") {
    const std::string text =
        "diff --git a/.github/workflows/ci.yml b/.github/workflows/ci.yml\nindex 1..2 100644\n"
        "--- a/.github/workflows/ci.yml\n+++ b/.github/workflows/ci.yml\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/package-lock.json b/package-lock.json\nindex 1..2 100644\n"
        "--- a/package-lock.json\n+++ b/package-lock.json\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n"
        "-# SPDX-License-Identifier: MIT\n-old\n+token = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'\n"
        "+if admin: \xE2\x80\xAE // \n"
        "diff --git a/A.py b/A.py\nnew file mode 120000\nindex 0..2\n--- /dev/null\n+++ b/A.py\n@@ -0,0 +1 @@\n"
        "+/etc/passwd\n\\ No newline at end of file\n"
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n";
    const auto flags = find_flags(
        {.commits = {{"1234567890ab", "Ann <a@b>", "fix\n\nsk-ant-" + std::string(40, 'a')}}, .diff = parsed(text)},
        {});
    CHECK(has(flags, FlagKind::protected_path, ".github/workflows/ci.yml", true));
    CHECK(has(flags, FlagKind::lock_file, "package-lock.json", false));
    CHECK(has(flags, FlagKind::secret, "a.py", true));
    CHECK(has(flags, FlagKind::secret, "", true));
    CHECK(has(flags, FlagKind::invisible_text, "a.py", true));
    CHECK(has(flags, FlagKind::license, "a.py", true));
    CHECK(has(flags, FlagKind::symlink, "A.py", true));
    CHECK(has(flags, FlagKind::name_collision, "A.py", true));
    CHECK(has(flags, FlagKind::mode_change, "run.sh", false));
    // Also beside a file that the branch does not touch.
    const auto beside =
        find_flags({.diff = parsed(new_file("readme.md", "x")), .alike = {"README.md", "readme.md"}}, {});
    CHECK(has(beside, FlagKind::name_collision, "readme.md", true));
    for (const Flag& flag : flags) CHECK(flag.message.find("ghp_") == std::string::npos);
    CHECK_FALSE(flags.back().blocking);
    ReviewPolicy strict;
    strict.protect_lock_files = true;
    strict.protected_paths = std::vector<std::string>{"*.py"};
    const auto more = find_flags({.diff = parsed(text)}, strict);
    CHECK(has(more, FlagKind::lock_file, "package-lock.json", true));
    CHECK(has(more, FlagKind::protected_path, "a.py", true));
}

TEST_CASE("changed licenses, pointers of Git LFS and lines that cannot be shown are flagged") {
    const auto changed = [](const std::string& path, const std::string& lines) {
        return find_flags({.diff = parsed("diff --git a/" + path + " b/" + path + "\nindex 1..2 100644\n--- a/" + path +
                                          "\n+++ b/" + path + "\n@@ -1,3 +1,3 @@\n" + lines)},
                          {});
    };
    // One of two lines stays: the other is gone all the same.
    CHECK(has(changed("a.c", "-// Copyright Ann\n-// SPDX-License-Identifier: MIT\n-old\n+// SPDX-License-Identifier: "
                             "MIT\n+new\n+newer\n"),
              FlagKind::license, "a.c", true));
    CHECK(changed("a.c", "-// Copyright Ann\n-old\n-older\n+new\n+\n+// Copyright Ann\n").empty());
    CHECK(has(changed("docs/LICENSE.txt", " a\n-b\n c\n+d\n"), FlagKind::license, "docs/LICENSE.txt", true));
    CHECK(has(changed("model.bin", " version https://git-lfs.github.com/spec/v1\n-oid sha256:00\n+oid sha256:11\n size "
                                   "1\n"),
              FlagKind::lfs_pointer, "model.bin", true));
    CHECK(has(find_flags({.diff = parsed(new_file("a.min.js", std::string(9000, 'x')))}, {}), FlagKind::size,
              "a.min.js", true));
}

TEST_CASE("what a commit adds and a later one removes is found, and so is what is not shown") {
    const std::string token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    const Commit one{"1111111111aa", "w", "add"}, two{"2222222222aa", "w", "take away"};
    const std::string diff = new_file("a.py", "fine");
    const std::string history =
        "From 1111111111aa Mon Sep 17 00:00:00 2001\n" + new_file("a.py", "t = '" + token + "'") +
        "From 2222222222aa Mon Sep 17 00:00:00 2001\n@@ -1 +1 @@\n-t = '" + token + "'\n+fine\n";
    auto flags = find_flags({.commits = {one, two}, .diff = parsed(diff), .patch = history}, {});
    REQUIRE(flags.size() == 1);
    CHECK(flags[0].kind == FlagKind::secret);
    CHECK(flags[0].blocking);
    CHECK(flags[0].message.find("Commit 1111111111 ") == 0);
    CHECK(flags[0].message.find(token) == std::string::npos);
    // Where the diff shows it, once is enough.
    flags =
        find_flags({.commits = {one}, .diff = parsed(new_file("a.py", "t = '" + token + "'")), .patch = history}, {});
    REQUIRE(flags.size() == 1);
    CHECK(flags[0].path == "a.py");
    // Behind the part of a line that is shown.
    const std::string far = new_file("a.py", std::string(9000, ' ') + token);
    flags = find_flags({.commits = {one}, .diff = parsed(far), .patch = "From 1111111111aa\n" + far}, {});
    CHECK(has(flags, FlagKind::secret, "", true));
    CHECK(find_flags({.commits = {one}, .diff = parsed(diff)}, {}).empty());
    CHECK(has(find_flags({.commits = {one, two}, .diff = parsed(diff)}, {}), FlagKind::size, "", true));
    CHECK(has(find_flags({.commits = {one}, .commits_left_out = true, .diff = parsed(diff)}, {}), FlagKind::size, "",
              true));
}

TEST_CASE("patterns of protected paths") {
    CHECK(matches_path("*.tf", "infra/main.tf"));
    CHECK(matches_path("deploy/**", "deploy/a/b.yml"));
    CHECK(matches_path("deploy/", "deploy/a/b.yml"));
    CHECK(matches_path("/deploy/*.yml", "deploy/b.yml"));
    CHECK_FALSE(matches_path("deploy/*.yml", "deploy/a/b.yml"));
    CHECK(matches_path("**/secret/*.txt", "a/b/secret/x.txt"));
    CHECK(matches_path("**/secret/*.txt", "secret/x.txt"));
    CHECK_FALSE(matches_path("deploy/", "deployment/x"));
    CHECK_FALSE(matches_path("*.tf", "main.tfvars"));
}

TEST_CASE("a policy that cannot hold is rejected with the name of the field") {
    ReviewPolicy policy;
    CHECK(validate(policy).ok());
    policy.approvals = int64_t{0};
    CHECK(validate(policy).error().message == "review.approvals must be between 1 and 10");
    policy = {};
    policy.role = access::Role::viewer;
    CHECK_FALSE(validate(policy).ok());
    policy = {};
    policy.author = std::string("nobody");
    CHECK_FALSE(validate(policy).ok());
    policy.author = std::string("Hone <hone@example.com>");
    CHECK(validate(policy).ok());
    policy.trailers = std::vector<std::string>{"Reviewed by"};
    CHECK_FALSE(validate(policy).ok());
    policy = {};
    policy.require_verified = true;
    CHECK_FALSE(validate(policy).ok());
}
