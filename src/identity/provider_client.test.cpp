// How long keys of a provider are used: as the provider states, at most five minutes.
#include "identity/testing.h"

namespace hone::identity {

namespace {

using std::chrono::minutes, std::chrono::seconds;

struct KeyWatch {
    FakeClock clock{testing::must(parse_time("2026-03-01T12:00:00Z"))};
    testing::ScriptedProvider provider{clock};
    ProviderClient client{clock, testing::to_this_machine()};

    std::string verify(const std::string& token) {
        const Metadata metadata = testing::must(client.metadata(provider.issuer()));
        return testing::outcome(client.verify(metadata, testing::must(parse_token(token))));
    }
};

// The outcomes for a token of a key that the provider revoked just after it was verified, at these moments.
std::vector<std::string> after_revocation(KeyWatch& watch, const std::string& cache_control,
                                          const std::vector<Duration>& moments) {
    watch.provider.set_cache_control(cache_control);
    watch.client.forget(watch.provider.issuer());
    watch.provider.rotate("old");
    const std::string token = watch.provider.token();
    std::vector<std::string> outcomes{watch.verify(token)};
    watch.provider.rotate("new");
    Duration at(0);
    for (const Duration moment : moments) {
        watch.clock.advance(moment - at);
        at = moment;
        outcomes.push_back(watch.verify(token));
    }
    return outcomes;
}

} // namespace

TEST_CASE("a revoked key is refused once its time in the cache is over, after five minutes at the latest") {
    KeyWatch watch;
    using Outcomes = std::vector<std::string>;
    const Outcomes until_then{"ok", "ok", "unauthorized"};
    CHECK(after_revocation(watch, "max-age=300", {minutes(5) - seconds(1), minutes(5) + seconds(1)}) == until_then);
    CHECK(after_revocation(watch, "public, max-age=86400", {minutes(5) - seconds(1), minutes(5) + seconds(1)}) ==
          until_then);
    CHECK(after_revocation(watch, "", {minutes(1) - seconds(1), minutes(1) + seconds(1)}) == until_then);
    CHECK(after_revocation(watch, "max-age=10", {seconds(9), seconds(11)}) == until_then);
    for (const char* header : {"no-cache", "no-store", "max-age=0", "max-age=-5", "max-age=300, no-cache"})
        CHECK(after_revocation(watch, header, {Duration(0)}) == Outcomes{"ok", "unauthorized"});
}

TEST_CASE("a token of an unknown key fetches the keys again, at most every 30 seconds") {
    KeyWatch watch;
    watch.provider.set_cache_control("max-age=300");
    CHECK(watch.verify(watch.provider.token()) == "ok");
    CHECK(watch.provider.key_requests() == 1);
    watch.provider.rotate("key-2");
    CHECK(watch.verify(watch.provider.token()) == "ok");
    CHECK(watch.provider.key_requests() == 2);
    const testing::SigningKey invented("invented");
    for (int i = 0; i < 5; ++i) CHECK(watch.verify(invented.sign({{"sub", "1"}})) == "unauthorized");
    CHECK(watch.provider.key_requests() == 2);
    watch.clock.advance(seconds(31));
    for (int i = 0; i < 5; ++i) CHECK(watch.verify(invented.sign({{"sub", "1"}})) == "unauthorized");
    CHECK(watch.provider.key_requests() == 3);
}

} // namespace hone::identity
