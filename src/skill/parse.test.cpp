// The readers of outside text and archives: .env, SKILL.md, tar.
#include "base/text.h"
#include "crypto/crypto.h"
#include "net/http/compress.h"
#include "skill/dotenv.h"
#include "skill/folder.h"
#include "skill/instructions.h"

#include <cstdio>
#include <doctest/doctest.h>

using namespace hone;
using namespace hone::skill;

namespace {

std::string shown(const EnvText& text) {
    std::string all;
    for (const auto& entry : text.entries) all += entry.name + "=" + std::string(entry.value.reveal()) + ";";
    return all;
}

std::string env(std::string_view text) {
    crypto::start();
    auto parsed = parse_dotenv(text);
    REQUIRE(parsed.ok());
    return shown(parsed.value());
}

std::string tar_entry(const std::string& path, const std::string& content, char kind = '0', int mode = 0644) {
    std::string header(512, '\0');
    header.replace(0, path.size(), path);
    const auto octal = [&](size_t at, int width, size_t value) {
        char text[16];
        std::snprintf(text, sizeof text, "%0*zo", width, value);
        header.replace(at, static_cast<size_t>(width), text);
    };
    octal(100, 7, static_cast<size_t>(mode));
    octal(124, 11, content.size());
    header[156] = kind;
    header.replace(257, 5, "ustar");
    header.replace(148, 8, "        ");
    size_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    octal(148, 6, sum);
    header[154] = '\0';
    std::string padded = content;
    padded.resize((content.size() + 511) / 512 * 512, '\0');
    return header + padded;
}

std::string archive(std::initializer_list<std::string> entries) {
    std::string tar;
    for (const auto& entry : entries) tar += entry;
    return tar + std::string(1024, '\0');
}

const std::string front = "---\nname: tidy-up\ndescription: Tidies.\n---\n# Text\n";

std::string refusal(std::string_view skill_md) {
    const auto parsed = parse_front_matter(skill_md);
    return parsed.ok() ? "ok" : parsed.error().message;
}

} // namespace

TEST_CASE("a .env text is read as shells and tools write it") {
    CHECK(env("A=1\nB=two words\n") == "A=1;B=two words;");
    CHECK(env("export A=1 # why\n# B=2\n\n  C = 3 \r\n") == "A=1;C=3;");
    CHECK(env("A='x # y'\nB=\"a\\nb\\\"c\"\n") == "A=x # y;B=a\nb\"c;");
    CHECK(env("A=\"line 1\nline 2\"\nB=2") == "A=line 1\nline 2;B=2;");
    CHECK(env("A=1\nA=2\n") == "A=2;");
    CHECK(env("A=x#y\nB=$HOME\n\xEF\xBB\xBF") == "A=x#y;B=$HOME;");
    CHECK(env("A=\nB=\"\"\n") == "A=;B=;");
    // Lines of Windows, also within quotes.
    CHECK(env("A=1\r\nB=\"x\r\ny\"\r\nC='p\r\nq'\r\n") == "A=1;B=x\ny;C=p\nq;");
    CHECK(env("export A\nexport\tB # why\nexport C=1") == "C=1;");
    // A backslash that escapes nothing stays; in single quotes every one does.
    CHECK(env("A=\"C:\\dir\"\nB='a\\nb'\nC=\"\\$HOME \\`x\\` \\\\\"") == "A=C:\\dir;B=a\\nb;C=$HOME `x` \\;");
    CHECK(env("A=\"x\" # why\nB='y'# why\nC=\"#\"\nD=#\n") == "A=x;B=y;C=#;D=;");
    CHECK(env("KEY=\"-----BEGIN KEY-----\nabc=\n-----END KEY-----\"\nA=a=b==\n") ==
          "KEY=-----BEGIN KEY-----\nabc=\n-----END KEY-----;A=a=b==;");
}

TEST_CASE("problems of a .env text name the line and not its content") {
    crypto::start();
    const auto parsed = parse_dotenv("ok=1\nsecret without equals\n1X=2\nA=\"open\nB=3\n");
    REQUIRE(parsed.ok());
    CHECK(shown(parsed.value()) == "ok=1;B=3;");
    REQUIRE(parsed.value().problems.size() == 3);
    CHECK(parsed.value().problems[0] == "line 2: there is no = in it");
    for (const auto& problem : parsed.value().problems) CHECK(problem.find("secret") == std::string::npos);
    CHECK(!parse_dotenv(std::string(300 << 10, 'x')).ok());
    CHECK(!parse_dotenv("A=\xff").ok());
}

TEST_CASE("front matter is strict") {
    CHECK(refusal(front) == "ok");
    CHECK(refusal("---\r\nname: a\r\ndescription: 'it''s'\r\n---\r\n") == "ok");
    CHECK(refusal("---\nname: a\ndescription: >\n  two\n  lines\nmetadata:\n  x: 1\n---\n") == "ok");
    CHECK(parse_front_matter("---\nname: a\ndescription: >\n  two\n  lines\n---\n").value().description == "two lines");
    CHECK(refusal("# no front").find("line 1") != std::string::npos);
    CHECK(refusal("---\nname: a\n---\n").find("description") != std::string::npos);
    CHECK(refusal("---\nname: Bad Name\ndescription: x\n---\n").find("lower-case") != std::string::npos);
    CHECK(refusal("---\nname: a\nname: b\ndescription: x\n---\n").find("twice") != std::string::npos);
    CHECK(refusal("---\nname: a\nhooks: x\ndescription: x\n---\n").find("unknown key hooks") != std::string::npos);
    CHECK(refusal("---\nname: a\ndescription: &x y\n---\n").find("quotes") != std::string::npos);
    CHECK(refusal("---\nname: a\ndescription: x\n").find("not closed") != std::string::npos);
    CHECK(refusal("---\nname: a\ndescription: \"x\n---\n").find("quote") != std::string::npos);
}

TEST_CASE("an archive with a folder around it becomes a skill") {
    crypto::start();
    const std::string tar = archive({tar_entry("my/", "", '5'), tar_entry("my/SKILL.md", front),
                                     tar_entry("my/bin/run", "echo", '0', 0755), tar_entry("my/.DS_Store", "x")});
    auto files = read_tar_gz(net::gzip(tar));
    REQUIRE_MESSAGE(files.ok(), files.error().message);
    const auto info = check_folder(files.value());
    REQUIRE_MESSAGE(info.ok(), info.error().message);
    CHECK(info.value().name == "tidy-up");
    CHECK(info.value().files == 2);
    CHECK(files.value()[0].path == "SKILL.md");
    CHECK(files.value()[1].path == "bin/run");
    CHECK(files.value()[1].executable);
}

TEST_CASE("archives that reach out of their folder, or are no archives, are refused") {
    crypto::start();
    const auto outcome = [](const std::string& tar) {
        auto files = read_tar(tar);
        if (!files.ok()) return std::string(code_name(files.error().code));
        const auto info = check_folder(files.value());
        return std::string(info.ok() ? "ok" : code_name(info.error().code));
    };
    CHECK(outcome(archive({tar_entry("SKILL.md", front)})) == "ok");
    for (const char* path : {"../x", "/etc/passwd", "a/../../x", "a//b", "a\\b", ".git/config", "a:b"})
        CHECK(outcome(archive({tar_entry("SKILL.md", front), tar_entry(path, "x")})) ==
              (std::string(path) == ".git/config" ? "ok" : "invalid"));
    CHECK(outcome(archive({tar_entry("SKILL.md", front), tar_entry("link", "", '2')})) == "invalid");
    CHECK(outcome(archive({tar_entry("SKILL.md", front), tar_entry("SKILL.md", front)})) == "invalid");
    CHECK(outcome(archive({tar_entry("SKILL.md", front), tar_entry("a", "1"), tar_entry("a/b", "2")})) == "invalid");
    CHECK(outcome(archive({tar_entry("other.md", front)})) == "invalid");
    CHECK(outcome(archive({tar_entry("SKILL.md", front), tar_entry("big", std::string((1 << 20) + 1, 'x'))})) ==
          "too_large");
    CHECK(outcome("short") == "invalid");
    std::string broken = archive({tar_entry("SKILL.md", front)});
    broken[0] = 'X';
    CHECK(outcome(broken) == "invalid");
    CHECK(outcome(tar_entry("SKILL.md", front)) == "invalid"); // cut
    CHECK(!read_tar_gz("no gzip").ok());
    // A small file that unpacks to much is stopped on the way.
    CHECK(read_tar_gz(net::gzip(std::string(64 << 20, '\0'))).error().code == Code::too_large);
}

TEST_CASE("the instructions of built-in skills are folders that a team could upload") {
    std::vector<Instructions> all{trace_instructions()};
    for (const auto& row : type_table())
        if (const auto taught = built_in_instructions(row.type)) all.push_back(*taught);
    CHECK(all.size() == 5);
    for (const Instructions& taught : all) {
        std::vector<FolderFile> files{{"SKILL.md", std::string(taught.text), false}};
        const auto checked = check_folder(files);
        REQUIRE(checked.ok());
        CHECK(checked.value().name == taught.name);
        CHECK(taught.text.size() > 500);
    }
    // Each variable that a type gives to workers is explained.
    for (const auto& row : type_table()) {
        const auto taught = built_in_instructions(row.type);
        if (!taught) continue;
        for (const auto& variable : row.variables)
            if (variable.secret && variable.audience == Audience::worker)
                CHECK(taught->text.find(variable.name) != std::string_view::npos);
    }
}
