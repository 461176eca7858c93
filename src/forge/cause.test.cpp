#include "forge/cause.h"

#include <doctest/doctest.h>
#include <set>

using namespace hone;
using namespace hone::forge;

TEST_CASE("every cause has words, advice and a code; permanent ones are not codes that are retried") {
    std::set<Cause> seen;
    for (const CauseText& text : cause_texts()) {
        CHECK(seen.insert(text.cause).second);
        CHECK_FALSE(text.words.empty());
        CHECK_FALSE(text.advice.empty());
        CHECK(text.permanent == (text.code != Code::unavailable && text.code != Code::busy));
    }
    for (const auto& [cause, name] : enum_names(Cause{})) CHECK(seen.contains(cause) == (cause != Cause::none));
    const Error error = to_error("push the branch", {Cause::repository_moved, "Moved Permanently", "https://h/team/b"});
    CHECK(error.code == Code::not_found);
    CHECK(error.message ==
          "could not push the branch: the repository has another address on the forge: "
          "https://h/team/b. Change the address: hone repo update REPO --address URL. The forge: Moved "
          "Permanently");
}

TEST_CASE("what git prints about a forge has a cause") {
    const std::pair<std::string_view, Cause> printed[] = {
        {"remote: Forbidden; fatal: unable to access 'https://h/': The requested URL returned error: 403",
         Cause::not_allowed},
        {"error: unable to read askpass response from 'false'; fatal: could not read Username for 'https://h'",
         Cause::credential_refused},
        {"remote: This repo is archived. You can view files and clone it; fatal: unable to access … error: 403",
         Cause::archived},
        {"remote: error: Not allowed to push to protected branch hone/x; ! [remote rejected] a -> b (pre-receive hook "
         "declined)",
         Cause::protected_branch},
        {"remote: error: User permission denied for writing.; ! [remote rejected] a -> b (pre-receive hook declined)",
         Cause::not_allowed},
        {"! [remote rejected] a -> hone/r/w (cannot lock ref 'refs/heads/hone/r/w': 'refs/heads/hone' exists; cannot "
         "create 'refs/heads/hone/r/w')",
         Cause::name_collision},
        {"remote: Push to create is not enabled for organizations.; returned error: 403", Cause::repository_missing},
        {"remote: Repository not found\nfatal: repository 'https://h/a/b/' not found", Cause::repository_missing},
        {"The requested URL returned error: 502", Cause::unreachable},
        {"error: RPC failed; HTTP 500 curl 22 The requested URL returned error: 500", Cause::forge_failed},
        {"fatal: unable to access 'https://h/': CONNECT tunnel failed, response 403", Cause::private_address},
        {"fatal: something else", Cause::none},
    };
    for (const auto& [said, cause] : printed) {
        INFO(said);
        CHECK(cause_of_git(said, true) == cause);
    }
    CHECK(cause_of_git("fatal: could not read Username for 'https://h'", false) == Cause::credential_missing);
}
