// Signatures of webhooks: the examples that the senders document, and attacks on each.
#include "automation/hook_signature.h"

#include "base/text.h"
#include "crypto/hmac.h"

#include <doctest/doctest.h>
#include <map>

using namespace hone;
using namespace hone::automation;

namespace {

using Headers = std::map<std::string, std::string>;

Time at_second(int64_t second) {
    return from_ns(second * 1'000'000'000);
}

Result<SignedDelivery> verify(HookSource source, const std::string& secret, const Headers& headers,
                              const std::string& body, int64_t now = 1'700'000'000) {
    Trigger trigger;
    trigger.type = TriggerType::webhook;
    trigger.source = source;
    Delivery delivery;
    delivery.header = [&](std::string_view name) {
        const auto found = headers.find(std::string(name));
        return found == headers.end() ? std::string() : found->second;
    };
    delivery.body = body;
    return verify_delivery(trigger, secret, delivery, at_second(now));
}

std::string why(const Result<SignedDelivery>& result) {
    return result.ok() ? "ok" : std::string(code_name(result.error().code));
}

std::string hex_hmac(const std::string& secret, const std::string& text) {
    return to_hex(crypto::hmac_sha256(secret, text));
}

constexpr const char* wrong_hex = "0000000000000000000000000000000000000000000000000000000000000000";

} // namespace

TEST_CASE("GitHub's own example is accepted, and its delivery id does not make a replay new") {
    const std::string secret = "It's a Secret to Everybody", body = "Hello, World!";
    Headers headers{{"X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
                    {"X-GitHub-Event", "issues"},
                    {"X-GitHub-Delivery", "1"}};
    const auto first = verify(HookSource::github, secret, headers, body);
    REQUIRE(first.ok());
    CHECK(first.value().event == "issues");
    CHECK_FALSE(first.value().is_ping);
    headers["X-GitHub-Delivery"] = "2";
    CHECK(verify(HookSource::github, secret, headers, body).value().key == first.value().key);
    CHECK(why(verify(HookSource::github, secret, headers, body + " ")) == "unauthorized");
    CHECK(why(verify(HookSource::github, "another secret", headers, body)) == "unauthorized");
    headers["X-GitHub-Event"] = "ping";
    CHECK(verify(HookSource::github, secret, headers, body).value().is_ping);
    // The old signature of GitHub, and none.
    CHECK(why(verify(HookSource::github, secret, {{"X-Hub-Signature", "sha1=00"}}, body)) == "unauthorized");
    CHECK(why(verify(HookSource::github, secret, {}, body)) == "unauthorized");
    CHECK(why(verify(HookSource::github, secret, {{"X-Hub-Signature-256", std::string("sha256=") + wrong_hex}},
                     body)) == "unauthorized");
}

TEST_CASE("Slack's own example is accepted within five minutes, a retry is the same event, a challenge is returned") {
    const std::string secret = "8f742231b10e8888abcd99yyyzzz85a5";
    const std::string body =
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name="
        "foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%"
        "2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015."
        "47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const Headers headers{{"X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"},
                          {"X-Slack-Request-Timestamp", "1531420618"}};
    CHECK(why(verify(HookSource::slack, secret, headers, body, 1531420618)) == "ok");
    CHECK(why(verify(HookSource::slack, secret, headers, body, 1531420618 + 301)) == "unauthorized");
    CHECK(why(verify(HookSource::slack, secret, headers, body, 1531420618 - 301)) == "unauthorized");
    // A captured signature with a new time.
    Headers moved = headers;
    moved["X-Slack-Request-Timestamp"] = "1531430000";
    CHECK(why(verify(HookSource::slack, secret, moved, body, 1531430000)) == "unauthorized");

    const auto signed_at = [&](int64_t second, const std::string& text) {
        const std::string stamp = std::to_string(second);
        return Headers{{"X-Slack-Signature", "v0=" + hex_hmac(secret, "v0:" + stamp + ":" + text)},
                       {"X-Slack-Request-Timestamp", stamp}};
    };
    const std::string event = R"({"type":"event_callback","event_id":"Ev123","event":{"type":"app_mention"}})";
    const auto once = verify(HookSource::slack, secret, signed_at(1000, event), event, 1000);
    const auto again = verify(HookSource::slack, secret, signed_at(1060, event), event, 1060);
    REQUIRE(once.ok());
    REQUIRE(again.ok());
    CHECK(once.value().key == again.value().key);
    CHECK(once.value().event == "app_mention");
    const std::string hello = R"({"type":"url_verification","challenge":"3eZbrw1aB"})";
    const auto challenged = verify(HookSource::slack, secret, signed_at(1000, hello), hello, 1000);
    REQUIRE(challenged.ok());
    CHECK(challenged.value().challenge == "3eZbrw1aB");
    CHECK(why(verify(HookSource::slack, secret, {}, hello, 1000)) == "unauthorized"); // no challenge for strangers
}

TEST_CASE("the example of standardwebhooks.com is accepted, also beside another signature") {
    const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body = R"({"test": 2432232314})";
    const std::string right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    Headers headers{{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"},
                    {"webhook-timestamp", "1614265330"},
                    {"webhook-signature", "v1,bm9wZQ== " + right}};
    for (const HookSource source : {HookSource::standard, HookSource::gitlab}) {
        const auto made = verify(source, secret, headers, body, 1614265330);
        REQUIRE(made.ok());
        CHECK(made.value().key == "id:msg_p5jXN8AQM9LWM0D4loKWxJek");
        CHECK(why(verify(source, secret, headers, body, 1614265330 + 301)) == "unauthorized");
        Headers renamed = headers;
        renamed["webhook-id"] = "msg_other";
        CHECK(why(verify(source, secret, renamed, body, 1614265330)) == "unauthorized");
    }
    CHECK(why(verify(HookSource::standard, "whsec_", headers, body, 1614265330)) == "unauthorized");
    CHECK(why(verify(HookSource::standard, "hook_plain", headers, body, 1614265330)) == "unauthorized");
    // A secret for signatures is not accepted as a token.
    CHECK(why(verify(HookSource::gitlab, secret, {{"X-Gitlab-Token", secret}}, body, 1614265330)) == "unauthorized");
}

TEST_CASE("GitLab's token must be the whole secret") {
    const std::string secret = "hook_0123456789", body = R"({"object_kind":"pipeline"})";
    const auto made = verify(
        HookSource::gitlab, secret,
        {{"X-Gitlab-Token", secret}, {"X-Gitlab-Event", "Pipeline Hook"}, {"Idempotency-Key", "f5e57af8-be1f"}}, body);
    REQUIRE(made.ok());
    CHECK(made.value().key == "id:f5e57af8-be1f");
    CHECK(made.value().event == "Pipeline Hook");
    CHECK(why(verify(HookSource::gitlab, secret, {{"X-Gitlab-Token", ""}}, body)) == "unauthorized");
    CHECK(why(verify(HookSource::gitlab, secret, {{"X-Gitlab-Token", "hook_012345678"}}, body)) == "unauthorized");
    CHECK(why(verify(HookSource::gitlab, secret, {{"X-Gitlab-Token", secret + "0"}}, body)) == "unauthorized");
}

TEST_CASE("Grafana signs the body, or time and body; dropping the time breaks the signature") {
    const std::string secret = "hook_grafana", body = R"({"status":"firing","alerts":[]})";
    const auto plain =
        verify(HookSource::grafana, secret, {{"X-Grafana-Alerting-Signature", hex_hmac(secret, body)}}, body);
    REQUIRE(plain.ok());
    CHECK(plain.value().event == "firing");
    Headers timed{{"X-Grafana-Alerting-Signature", hex_hmac(secret, "1700000000:" + body)},
                  {"X-Grafana-Alerting-Timestamp", "1700000000"}};
    CHECK(why(verify(HookSource::grafana, secret, timed, body)) == "ok");
    CHECK(why(verify(HookSource::grafana, secret, timed, body, 1'700'000'301)) == "unauthorized");
    timed.erase("X-Grafana-Alerting-Timestamp");
    CHECK(why(verify(HookSource::grafana, secret, timed, body, 1'700'000'301)) == "unauthorized");
}

TEST_CASE("PagerDuty may send several signatures while its secret changes; the event's id counts once") {
    const std::string secret = "pd-secret", body = R"({"event":{"id":"01BYP5HQ","event_type":"incident.triggered"}})";
    const std::string right = "v1=" + hex_hmac(secret, body);
    const auto made = verify(HookSource::pagerduty, secret,
                             {{"X-PagerDuty-Signature", std::string("v1=") + wrong_hex + "," + right}}, body);
    REQUIRE(made.ok());
    CHECK(made.value().key == "event:01BYP5HQ");
    CHECK(made.value().event == "incident.triggered");
    CHECK(why(verify(HookSource::pagerduty, secret, {{"X-PagerDuty-Signature", std::string("v1=") + wrong_hex}},
                     body)) == "unauthorized");
    CHECK(why(verify(HookSource::pagerduty, secret, {{"X-PagerDuty-Signature", ",,,"}}, body)) == "unauthorized");
    const std::string ping = R"({"event":{"id":"01","event_type":"pagey.ping"}})";
    CHECK(verify(HookSource::pagerduty, secret, {{"X-PagerDuty-Signature", "v1=" + hex_hmac(secret, ping)}}, ping)
              .value()
              .is_ping);
}

TEST_CASE("plain HMAC comes in a header of choice, hexadecimal or base64, with or without a signed time") {
    const std::string secret = "hook_plain", body = "deploy 17";
    Trigger trigger;
    trigger.type = TriggerType::webhook;
    trigger.source = HookSource::hmac;
    trigger.signature_header = "X-Acme-Signature";
    Headers headers;
    const auto verified = [&](int64_t now) {
        Delivery delivery;
        delivery.header = [&](std::string_view name) { return headers[std::string(name)]; };
        delivery.body = body;
        return verify_delivery(trigger, secret, delivery, at_second(now));
    };
    CHECK(why(verified(1000)) == "unauthorized");
    headers["X-Acme-Signature"] = "sha256=" + hex_hmac(secret, body);
    const auto once = verified(1000);
    REQUIRE(once.ok());
    CHECK(verified(5000).value().key == once.value().key); // without a time the same body is the same delivery
    headers["X-Acme-Signature"] = to_base64(crypto::hmac_sha256(secret, body));
    CHECK(why(verified(1000)) == "ok");
    trigger.timestamp_header = "X-Acme-Time";
    CHECK(why(verified(1000)) == "unauthorized"); // the body alone is not enough any more
    headers["X-Acme-Time"] = "1000";
    headers["X-Acme-Signature"] = hex_hmac(secret, "1000." + body);
    CHECK(why(verified(1000)) == "ok");
    CHECK(why(verified(1301)) == "unauthorized");
    headers["X-Acme-Time"] = "1300";
    CHECK(why(verified(1301)) == "unauthorized");
    headers["X-Acme-Time"] = "soon";
    headers["X-Acme-Signature"] = hex_hmac(secret, "soon." + body);
    CHECK(why(verified(1000)) == "invalid");
}

TEST_CASE("headers belong to plain HMAC, and are names") {
    Trigger trigger;
    trigger.type = TriggerType::webhook;
    CHECK(checked_trigger(trigger).value().source == HookSource::hone);
    trigger.source = HookSource::github;
    trigger.signature_header = "X-Any";
    CHECK_FALSE(checked_trigger(trigger).ok());
    trigger.source = HookSource::hmac;
    CHECK(checked_trigger(trigger).ok());
    trigger.signature_header = "X-Any\r\nEvil: 1";
    CHECK_FALSE(checked_trigger(trigger).ok());
    trigger = {};
    trigger.schedule = "@daily";
    trigger.source = HookSource::github;
    CHECK_FALSE(checked_trigger(trigger).ok());
    CHECK(check_hook_secret("0123456789abcdef").ok());
    CHECK_FALSE(check_hook_secret("short").ok());
    CHECK_FALSE(check_hook_secret("with a space 0123456789").ok());
}
