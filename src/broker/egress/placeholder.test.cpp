#include "broker/egress/placeholder.h"
#include "base/testing.h"
#include "broker/testing.h"
#include "broker/wire/trust_store.h"
#include "crypto/seal.h"

#include <cstdlib>
#include <unistd.h>

using namespace hone;
using namespace hone::broker;
using namespace hone::broker::testing;

namespace {

std::string redacted(const Redactor& redactor, std::string_view text, size_t piece) {
    RedactedStream stream(redactor);
    std::string out;
    for (size_t at = 0; at < text.size(); at += piece) {
        std::string part(text.substr(at, piece));
        stream.feed(part);
        out += part;
    }
    stream.finish(out);
    return out;
}

struct Credentials {
    SystemClock clock;
    TestSecrets secrets{std::map<std::string, std::string>{{"sec_api", std::string(canary)},
                                                           {"sec_two", "0123456789abcdef0123456789abcdef"}}};
    Placeholders placeholders{std::make_shared<const crypto::SecretBytes>((crypto::start(), crypto::random_secret(32))),
                              [this](const std::string& id) { return secrets.open(id); }, clock};
    skill::Grant grant;
    std::shared_ptr<const Policy> policy;

    explicit Credentials(std::vector<skill::Credential> credentials) {
        grant.credentials = std::move(credentials);
        policy = Policy::compile(EgressMode::allowlist, grant, {}).value();
    }
    // The headers of a request to api.test after the broker has dealt with them.
    Result<std::vector<Header>> apply(std::vector<Header> headers, const std::string& path = "/") {
        RequestHead head;
        head.method = "GET";
        head.path = path;
        head.target = HostPort{"api.test", 443, false};
        head.headers = std::move(headers);
        const Verdict verdict =
            policy->decide({"GET", *head.target, true, std::string(head.path_without_query()), false});
        TRY(placeholders.apply(*policy, verdict, head));
        return head.headers;
    }
};

const skill::HostRule api{"api.test", 443, true, {}, "/", false};

} // namespace

TEST_CASE("a secret is blanked in every spelling, wherever the stream is cut") {
    const std::string_view secret = "sk-ant/Top+Secret=1234567";
    const std::string_view secrets[] = {secret};
    const Redactor redactor(secrets);
    for (const std::string& form : {std::string(secret), to_base64(secret), to_base64("x" + std::string(secret)),
                                    to_base64("x-access-token:" + std::string(secret)), to_base64url(secret),
                                    to_hex(secret), percent_encode(secret), std::string("sk-ant\\/Top+Secret=1234567"),
                                    std::string("sk-ant%2fTop%2bSecret%3d1234567")}) {
        INFO(form);
        const std::string text = "before " + form + " after";
        for (const size_t piece : {1, 2, 3, 5, 7, 100}) {
            const std::string clean = redacted(redactor, text, static_cast<size_t>(piece));
            CHECK(clean.size() == text.size());
            CHECK(clean.starts_with("before "));
            CHECK(clean.ends_with(" after"));
            CHECK(clean.find("Secret") == std::string::npos);
            CHECK(clean.find(form.substr(4, form.size() - 8)) == std::string::npos);
        }
    }
}

TEST_CASE("secrets are found among many, next to each other, in large and in tiny pieces") {
    std::vector<std::string> secrets;
    for (int i = 0; i < 100; ++i) secrets.push_back("ghp_" + to_hex("secret number " + std::to_string(i)));
    secrets.push_back(std::string(3000, 'k') + "-a-private-key");
    const std::vector<std::string_view> views(secrets.begin(), secrets.end());
    const Redactor redactor(views);
    std::string text, clean;
    for (size_t i = 0; i < secrets.size(); ++i) {
        const std::vector<std::string> spellings = spellings_of(secrets[i]);
        REQUIRE(spellings.size() >= 6);
        const std::string& spelling = spellings[i % spellings.size()];
        const std::string between = i % 3 == 0 ? "" : std::string(i * 7 % 90, ' ') + "ghp_6";
        text += spelling + between;
        clean += std::string(spelling.size(), '*') + between;
    }
    text += ".";
    clean += ".";
    for (const size_t piece : {1, 17, 64 << 10}) CHECK(redacted(redactor, text, static_cast<size_t>(piece)) == clean);
}

TEST_CASE("what only begins like a secret passes, unless the stream ends in it") {
    const std::string_view secrets[] = {"abcabcabcabd", "bcabcx"};
    const Redactor redactor(secrets);
    CHECK(redacted(redactor, "abcabcabcabcabd!", 1) == "abc************!");
    CHECK(redacted(redactor, "abcabcabcab?", 4) == "abcabcabcab?");
    CHECK(redacted(redactor, "abcabcx", 2) == "a******");
    CHECK(redacted(redactor, "xx abcabc", 3) == "xx abcabc");
    CHECK(redacted(redactor, "xx abcabcabc", 3) == "xx *********");
    RedactedStream stream(redactor);
    std::string piece = "hello abcab";
    stream.feed(piece);
    CHECK(piece == "hello ");
    piece = "-";
    stream.feed(piece);
    CHECK(piece == "abcab-");
}

TEST_CASE("placeholders look like the secret, are random, and stay the same within a run") {
    Credentials run({token_for({api})});
    Credentials other({token_for({api})});
    const std::string mine = run.placeholders.of(run.grant.credentials[0]).value();
    CHECK(mine.starts_with("ghp_hone"));
    CHECK(mine.size() == canary.size());
    CHECK(mine == run.placeholders.of(run.grant.credentials[0]).value());
    CHECK(mine != other.placeholders.of(other.grant.credentials[0]).value());
    skill::Credential hex = token_for({api});
    hex.secret_id = "sec_two";
    const std::string digits = run.placeholders.of(hex).value();
    CHECK(digits.size() == 32);
    CHECK(digits.find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("a placeholder becomes the secret in its header, plain or inside Basic") {
    Credentials run({token_for({api})});
    const std::string placeholder = run.placeholders.of(run.grant.credentials[0]).value();
    const auto bearer = run.apply({{"Authorization", "token " + placeholder}}).value();
    CHECK(header_value(bearer, "authorization") == "token " + std::string(canary));
    const auto basic = run.apply({{"Authorization", "Basic " + to_base64("user:" + placeholder)}}).value();
    CHECK(header_value(basic, "authorization") == "Basic " + to_base64("user:" + std::string(canary)));
}

TEST_CASE("a missing credential is put in, a foreign one is replaced") {
    Credentials run({token_for({api})});
    const std::string right = "Bearer " + std::string(canary);
    CHECK(header_value(run.apply({}).value(), "authorization") == right);
    const auto replaced = run.apply({{"Authorization", "Bearer attacker"},
                                     {"X-Api-Key", "attacker"},
                                     {"Cookie", "session=attacker"},
                                     {"Accept", "*/*"}})
                              .value();
    CHECK(replaced.size() == 2);
    CHECK(header_value(replaced, "authorization") == right);
    CHECK(header_value(replaced, "accept") == "*/*");
}

TEST_CASE("two credentials for one header are a riddle, and nothing is sent") {
    skill::Credential second = token_for({api});
    second.variable = "SECOND";
    second.secret_id = "sec_two";
    Credentials run({token_for({api}), second});
    CHECK(header_value(run.apply({{"Authorization", "Bearer attacker"}}).value(), "authorization").empty());
    const std::string chosen = run.placeholders.of(second).value();
    CHECK(header_value(run.apply({{"Authorization", "Bearer " + chosen}}).value(), "authorization") ==
          "Bearer 0123456789abcdef0123456789abcdef");
}

TEST_CASE("a placeholder outside its binding is refused, not sent") {
    skill::Credential narrow = token_for({{"api.test", 443, true, {}, "/v1", false}});
    skill::Credential wide = token_for({api});
    wide.variable = "WIDE";
    wide.secret_id = "sec_two";
    wide.header = "x-wide";
    Credentials run({narrow, wide});
    const std::string placeholder = run.placeholders.of(narrow).value();
    const std::vector<Header> headers{{"Authorization", "Bearer " + placeholder}};
    CHECK(run.apply(headers, "/v1/x").ok());
    CHECK(run.apply(headers, "/v2").error().code == Code::forbidden);
    CHECK(run.apply({{"X-Other", placeholder}}, "/v1/x").error().code == Code::forbidden);
    CHECK(run.apply({}, "/v1/x?token=" + placeholder).error().code == Code::forbidden);
    CHECK(run.apply({}, "/v1/x?access_token=attacker").error().code == Code::forbidden);
    CHECK(run.apply({}, "/v1/x?ACCESS%5ftoken=attacker").error().code == Code::forbidden);
    CHECK(run.apply({}, "/v1/x?a=b&token=attacker").error().code == Code::forbidden);
    CHECK(run.apply({}, "/v1/x?page_token=next").ok());
    RequestHead stray;
    stray.headers = {{"Authorization", "Basic " + to_base64("x:" + placeholder)}};
    CHECK_FALSE(run.placeholders.refuse_strays(stray).ok());
}

TEST_CASE("a replaced secret is used after its time in memory") {
    FakeClock clock(from_ns(0));
    TestSecrets secrets(std::map<std::string, std::string>{{"sec_api", "first-value-1"}});
    crypto::start();
    Placeholders placeholders(
        std::make_shared<const crypto::SecretBytes>(crypto::random_secret(32)),
        [&](const std::string& id) { return secrets.open(id); }, clock);
    skill::Grant grant;
    grant.credentials = {token_for({api})};
    const auto policy = Policy::compile(EgressMode::allowlist, grant, {}).value();
    const auto sent = [&] {
        RequestHead head;
        head.path = "/";
        head.target = HostPort{"api.test", 443, false};
        const auto applied = placeholders.apply(*policy, policy->decide({"GET", *head.target, true, "/", false}), head);
        return applied.ok() ? std::string(header_value(head.headers, "authorization")) : applied.error().message;
    };
    CHECK(sent() == "Bearer first-value-1");
    secrets.set("sec_api", "second-value-2");
    clock.advance(Placeholders::secret_lifetime);
    CHECK(sent() == "Bearer second-value-2");
    secrets.set("sec_api", "bad\r\nX-Evil: 1");
    clock.advance(Placeholders::secret_lifetime);
    CHECK(sent() == "the secret has characters that a header cannot contain");
}

TEST_CASE("Java reads the run's authorities") {
    if (!file_exists("/usr/bin/keytool")) return skip_test("needs keytool (Debian: openjdk-17-jre-headless)");
    crypto::start();
    const auto authority = Authority::create("run_java", crypto::random_secret(32), SystemClock().now()).value();
    const std::string file = "/var/tmp/hone-test-" + crypto::random_token(8) + ".jks";
    REQUIRE(write_file(file, make_java_trust_store(authority->certificate(), "changeit").value()).ok());
    const std::string list = "/usr/bin/keytool -list -keystore " + file + " -storepass changeit";
    CHECK(std::system((list + " 2>&1 | grep -q 'authority-0.*trustedCertEntry'").c_str()) == 0);
    CHECK(std::system((list + "x >/dev/null 2>&1").c_str()) != 0); // the seal is looked at
    ::unlink(file.c_str());
}
