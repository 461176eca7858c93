// Texts from outside: addresses, lists of refs, the head of a push.
#include "forge/push/bundle.h"
#include "forge/push/push_commands.h"
#include "forge/push/ref_list.h"
#include "forge/repos.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::forge;

namespace {

const std::string one(40, '1');
const std::string two(40, '2');
const std::string zero(40, '0');
const std::string pack = std::string("PACK\0\0\0\2\0\0\0\7", 12);
const std::string own = "refs/heads/hone/run_1/";

std::string url_of(std::string_view url) {
    const auto checked = checked_url(url, "/data/repos");
    return checked.ok() ? checked.value() : code_name(checked.error().code);
}

PushHead head_of(const std::string& text) {
    const auto read = read_push_head(text, true);
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    REQUIRE(read.value().state == PushReading::done);
    return read.value().head;
}

} // namespace

TEST_CASE("an address has one spelling, and those that could mislead are refused") {
    CHECK(url_of("https://GitHub.com/Team/shop.git/") == "https://github.com/Team/shop.git");
    CHECK(url_of("https://git.example.com:443/a/b") == "https://git.example.com/a/b");
    CHECK(url_of("https://git.example.com:8443/a/b") == "https://git.example.com:8443/a/b");
    CHECK(url_of("file:///data/repos/demo.git") == "file:///data/repos/demo.git");
    CHECK(url_of("file:///data/repos/me@home, \xc3\xbc/a.git/") == "file:///data/repos/me@home, \xc3\xbc/a.git");
    CHECK(url_of("file:///data/repos/a\nb") == "invalid");
    CHECK(url_of("file:///data/repos/\xff") == "invalid");
    for (const char* bad :
         {"", "https://", "https://example.com", "https://example.com/", "https://u:p@example.com/a",
          "https://example.com/a?x=1", "https://example.com/a#x", "https://example.com/%2e%2e/a", "https://exa mple/a",
          "https://example.com/a/../b", "https://example.com//a", "https://example.com:0/a", "ssh://git@example.com/a",
          "git@example.com:a/b", "git://example.com/a", "http://example.com/a", "ext::sh -c id", "-u./x", "/etc"}) {
        INFO(bad);
        CHECK(url_of(bad) == "invalid");
    }
    CHECK(url_of("file:///data/repos/../../etc") == "forbidden");
    CHECK(url_of("file:///etc") == "forbidden");
    CHECK(url_of("file:///data/repos") == "forbidden");
}

TEST_CASE("a name is made from an address and is always fit for a folder") {
    CHECK(name_from_url("https://github.com/team/shop.git") == "shop");
    CHECK(name_from_url("https://github.com/team/-x.y_z") == "x.y_z");
    CHECK(name_from_url("https://github.com/team/.git") == "repository");
}

TEST_CASE("names of refs are those that git has, and none that could be an option or a path") {
    for (const char* good : {"main", "refs/heads/main", "feature/a-b_c", "v1.2.3", "caf\xc3\xa9"})
        CHECK(is_ref_name(good));
    for (const char* bad : {"",   "-x", "/x",   "x/", "x.",    "a..b", "a b",  "a~1",    "a^",   "a:b",  "a?",
                            "a*", "a[", "a\\b", "@",  "a@{1}", ".a",   "a/.b", "a.lock", "a//b", "a\nb", "caf\xe9"}) {
        INFO(bad);
        CHECK_FALSE(is_ref_name(bad));
    }
}

TEST_CASE("a list of refs keeps branches and tags and leaves out what it does not know") {
    const std::string text = two + " " + one + " refs/tags/v1\n" + one + "  refs/heads/main\n" + one +
                             "  refs/pull/7/head\n" + "junk\n" + one + "  refs/heads/-bad\n" + "zz  refs/heads/x\n";
    const RefList list = parse_for_each_ref(text);
    REQUIRE(list.refs.size() == 2);
    CHECK(list.left_out == 4);
    CHECK(list.refs[0] == Ref{"refs/heads/main", one, one});
    CHECK(list.refs[1] == Ref{"refs/tags/v1", two, one});
    CHECK(parse_packed_refs(write_packed_refs(list.refs)).value() == list.refs);
    CHECK(find_ref(list.refs, "refs/tags/v1") == &list.refs[1]);
    CHECK(find_ref(list.refs, "refs/tags/v2") == nullptr);
    CHECK(parse_head("ref: refs/heads/main\tHEAD\n" + one + "\tHEAD\n") == "refs/heads/main");
    CHECK(parse_head(one + "\tHEAD\n").empty());
    CHECK(parse_head("ref: refs/heads/../x\tHEAD\n").empty());
}

TEST_CASE("the head of a push is read whatever pieces it comes in") {
    const std::string text = packet(zero + " " + one + " " + own + "fix" + std::string("\0", 1) +
                                    " report-status side-band-64k agent=git/2") +
                             packet(one + " " + two + " " + own + "other") + "0000" + pack + "rest";
    for (size_t length = 0; length < text.size() - 4; ++length) {
        const auto read = read_push_head(std::string_view(text).substr(0, length), false);
        REQUIRE(read.ok());
        CHECK(read.value().state == PushReading::more);
        CHECK_FALSE(read_push_head(std::string_view(text).substr(0, length), true).ok());
    }
    const PushHead head = head_of(text);
    REQUIRE(head.commands.size() == 2);
    CHECK(head.commands[1].ref == own + "other");
    CHECK(head.objects == 7);
    CHECK(head.has("side-band-64k"));
    CHECK(text.substr(head.used, 4) == "PACK");
    CHECK(check_push(head, own).empty());
}

TEST_CASE("only a run's own branches can be pushed, and none is deleted") {
    const auto verdict = [&](const std::string& new_object, const std::string& ref) {
        return check_push(head_of(packet(one + " " + new_object + " " + ref) + "0000" + pack), own);
    };
    CHECK(verdict(two, own + "a/b").empty());
    for (const std::string& ref : std::initializer_list<std::string>{
             "refs/heads/main", "refs/tags/v1", "refs/heads/hone/run_2/x", "refs/heads/hone/run_1",
             "refs/heads/hone/run_10/x", "HEAD", "refs/notes/x"})
        CHECK(verdict(two, ref).find("only branches below hone/run_1/") == 0);
    CHECK(verdict(zero, own + "fix") == "branches cannot be deleted here");
}

TEST_CASE("what is not a push is refused, and so is one that names too much") {
    for (const std::string& bad :
         {std::string("GET / HTTP/1.1"), std::string("0001"), std::string("0004"), packet("hello") + "0000",
          packet(one + " " + two + " refs/heads/a b") + "0000" + pack, packet("push-cert\n") + "0000",
          packet(one + " " + two + " refs/heads/x") + "0000" + "not a pack at all"}) {
        INFO(bad);
        CHECK(read_push_head(bad, true).error().code == Code::invalid);
    }
    std::string many;
    for (size_t i = 0; i <= most_push_commands; ++i)
        many += packet(one + " " + two + " refs/heads/x" + std::to_string(i));
    CHECK(read_push_head(many + "0000" + pack, true).error().code == Code::too_large);
}

TEST_CASE("a refusal is something that git's client understands") {
    const PushHead plain = head_of(packet(one + " " + two + " refs/heads/main") + "0000" + pack);
    CHECK(refuse_push(plain, "no") == "000eunpack no\n001ang refs/heads/main no\n0000");
    const PushHead banded =
        head_of(packet(one + " " + two + " refs/heads/main" + std::string("\0", 1) + "side-band-64k") + "0000" + pack);
    const std::string answer = refuse_push(banded, "no");
    CHECK(answer.substr(4, 1) == "\x01");
    CHECK(answer.ends_with("00000000"));
}

TEST_CASE("the head of a bundle is read, and what is not one is refused") {
    const std::string ref = one + " refs/heads/fix\n";
    const auto read = read_bundle_head("# v2 git bundle\n-" + two + " a subject\n" + ref + one + " HEAD\n\n" + pack);
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    CHECK(read.value().needed == std::vector<std::string>{two});
    CHECK(read.value().refs == std::vector<BundleRef>{{"refs/heads/fix", one}, {"HEAD", one}});
    CHECK(read_bundle_head("# v3 git bundle\n@object-format=sha1\n" + ref + "\n" + pack).ok());
    const auto refused = [](const std::string& text) {
        const auto head = read_bundle_head(text);
        return head.ok() ? std::string("taken") : head.error().message;
    };
    const std::string start = "# v2 git bundle\n";
    CHECK(refused("") == "this is not a git bundle");
    CHECK(refused("From " + one) == "this is not a git bundle");
    CHECK(refused(start + ref) == "the bundle ends in its head");
    CHECK(refused(start + ref + "\n") == "the bundle has no pack");
    CHECK(refused(start + ref + "\nPACE") == "the bundle has no pack");
    CHECK(refused(start + "\n" + pack) == "the bundle has no branch");
    CHECK(refused(start + "-" + two + "\n\n" + pack) == "the bundle has no branch");
    CHECK(refused(start + "short refs/heads/a\n\n" + pack) == "this is not a git bundle");
    CHECK(refused(start + "-short\n" + ref + "\n" + pack) == "this is not a git bundle");
    CHECK(refused(start + one + "refs/heads/a\n\n" + pack) == "this is not a git bundle");
    CHECK(refused(start + one + " refs/heads/../x\n\n" + pack) == "the bundle names an invalid ref");
    CHECK(refused(start + one + " refs/heads/a b\n\n" + pack) == "the bundle names an invalid ref");
    CHECK(refused(start + "@object-format=sha1\n" + ref + "\n" + pack) == "this is not a git bundle");
    CHECK(refused("# v3 git bundle\n@object-format=sha256\n" + ref + "\n" + pack).find("not supported") !=
          std::string::npos);
    CHECK(refused("# v3 git bundle\n@filter=blob:none\n" + ref + "\n" + pack).find("partial clone") !=
          std::string::npos);
    std::string many = start;
    for (size_t i = 0; i <= most_push_commands; ++i) many += one + " refs/heads/b" + std::to_string(i) + "\n";
    CHECK(refused(many + "\n" + pack) == "a bundle has at most 64 branches");
    std::string needs = start;
    for (int i = 0; i <= 500; ++i) needs += "-" + two + "\n";
    CHECK(refused(needs + ref + "\n" + pack) == "a bundle needs at most 500 commits");
    CHECK(refused(start + "-" + two + " " + std::string(longest_push_head, 's') + "\n" + ref + "\n" + pack) ==
          "the bundle names too much");
}

TEST_CASE("branches of a bundle get names of the run, and nothing else of it is taken") {
    const auto names = [](const std::vector<BundleRef>& refs) {
        BundleHead head;
        head.refs = refs;
        const auto branches = branches_of(head, own);
        if (!branches.ok()) return branches.error().message;
        std::string text;
        for (const BundleRef& branch : branches.value()) text += branch.name + " ";
        return text;
    };
    CHECK(names({{"refs/heads/fix", one}, {"HEAD", one}}) == own + "fix ");
    CHECK(names({{own + "fix", one}}) == own + "fix ");
    CHECK(names({{"HEAD", one}}) == own + "work ");
    CHECK(names({{"refs/heads/hone/run_2/fix", one}}) == own + "hone/run_2/fix ");
    CHECK(names({{"refs/heads/fix", one}, {own + "fix", two}}) == "the bundle names a branch twice");
    for (const char* name : {"refs/tags/v1", "refs/remotes/origin/main", "refs/notes/commits", "main"})
        CHECK(names({{name, one}}) == "a bundle has branches only, not " + std::string(name));
    CHECK(names({{"refs/heads/" + std::string(230, 'x'), one}}) == "the bundle names an invalid branch");
}

TEST_CASE("the report of a push is read whatever it contains") {
    const auto band = [](char number, const std::string& text) { return packet(std::string(1, number) + text); };
    const std::string report =
        packet("unpack ok\n") + packet("ok " + own + "a\n") + packet("ng " + own + "b why not\n");
    const PushReport read = read_push_report(band(2, "a message\n") + band(1, report.substr(0, 20)) +
                                             band(1, report.substr(20) + "0000") + "0000");
    CHECK(read.unpacked == "ok");
    CHECK(read.taken == std::vector<std::string>{own + "a"});
    REQUIRE(read.refused.size() == 1);
    CHECK(read.refused[0] == std::pair(own + "b", std::string("why not")));
    CHECK(read.messages == "a message");
    for (const std::string& junk :
         {std::string(), std::string("zzzz"), std::string("0"), std::string("ffff"), std::string("0001")})
        CHECK(read_push_report(junk).taken.empty());
}
