// Notices as the requests of chats and on-call services: their documented fields and limits, and nothing hostile in
// them.
#include "notice/services.h"
#include "notice/testing.h"

using namespace hone;
using namespace hone::notice;
using namespace hone::notice::testing;
using namespace std::chrono_literals;

namespace {

Message a_message(Kind kind = Kind::monitor_triggered) {
    Message message;
    message.delivery_id = "delivery_1";
    message.notice_id = "notice_1";
    message.kind = name_of(kind);
    message.title = "Triggered: errors";
    message.body = "error_rate is 0.4, above 0.1";
    message.link = "/projects/shop/monitors/mon_1";
    message.url = "https://hone.example.com/s/default/projects/shop/monitors/mon_1";
    message.space_id = "space_1";
    message.space = "default";
    message.project = "shop";
    return message;
}

json::Value tree(const std::string& text) {
    return must(json::parse(text));
}

Destination add_with_key(Office& office, DestinationType type, const std::string& url, const std::string& name) {
    NewDestination wanted;
    wanted.name = name;
    wanted.type = type;
    wanted.url = url;
    wanted.key = "canary-key-77";
    return must(office.destinations.create(office.world.admin, office.world.space, wanted));
}

} // namespace

TEST_CASE("PagerDuty opens and resolves one incident of a monitor") {
    const json::Value opened = tree(pagerduty_body(a_message(), "key-1"));
    CHECK(opened.at("routing_key") == "key-1");
    CHECK(opened.at("event_action") == "trigger");
    CHECK(opened.at("payload").at("summary") == "Triggered: errors");
    CHECK(opened.at("payload").at("severity") == "error");
    CHECK(opened.at("payload").at("source") == "default/shop");
    CHECK(opened.at("links").at(0).at("href").as_string() == std::string_view(a_message().url));
    Message recovered = a_message(Kind::monitor_recovered);
    recovered.notice_id = "notice_2";
    const json::Value closed = tree(pagerduty_body(recovered, "key-1"));
    CHECK(closed.at("event_action") == "resolve");
    CHECK(closed.at("dedup_key") == opened.at("dedup_key"));
    Message another = a_message();
    another.link = "/projects/shop/monitors/mon_2";
    CHECK(tree(pagerduty_body(another, "key-1")).at("dedup_key") != opened.at("dedup_key"));
    // Other notices are incidents of their own.
    Message run = a_message(Kind::run_finished);
    CHECK(tree(pagerduty_body(run, "key-1")).at("dedup_key") == "hone/space_1/notice_1");
    Message wordy = a_message();
    wordy.message_template = std::string(3000, 'x');
    CHECK(tree(pagerduty_body(wordy, "k")).at("payload").at("summary").as_string().size() == 1023 + 3); // and …
}

TEST_CASE("Opsgenie gets an alert with an alias, and its close request at the alias") {
    Target target;
    target.type = DestinationType::opsgenie;
    target.url = "https://api.eu.opsgenie.com/v2/alerts";
    target.key = "genie";
    Message message = a_message();
    message.title = std::string(200, 'a');
    const auto opened = request_for(target, message, {});
    CHECK(opened.url == target.url);
    const auto key = std::find_if(opened.headers.begin(), opened.headers.end(),
                                  [](const net::Header& header) { return header.name == "Authorization"; });
    REQUIRE(key != opened.headers.end());
    CHECK(key->value == "GenieKey genie");
    const json::Value body = tree(opened.body);
    CHECK(body.at("message").as_string().size() == 129 + 3);
    CHECK(body.at("priority") == "P2");
    const auto closed = request_for(target, a_message(Kind::monitor_recovered), {});
    CHECK(closed.url == target.url + "/hone%2Fspace_1%2Fmon_1/close?identifierType=alias");
    CHECK(body.at("alias") == "hone/space_1/mon_1");
}

TEST_CASE("Discord gets at most 2,000 characters, no mentions, and no mark-up of traces") {
    Message message = a_message();
    message.body = "@everyone **loud** [click](https://evil.example) " + std::string(5000, '*') + "😀";
    const json::Value body = tree(discord_body(message));
    const std::string content(body.at("content").as_string());
    CHECK(content.find("[click](https://evil") == std::string::npos);
    CHECK(content.find("\\@everyone \\*\\*loud\\*\\* \\[click\\]\\(https\\://evil.example\\)") != std::string::npos);
    CHECK(content.ends_with("<" + message.url + ">"));
    CHECK(content.size() <= 2000 + 2); // … is three bytes and one character
    CHECK(body.at("allowed_mentions").at("parse").as_array().empty());
    // Characters outside of the basic plane count twice.
    message.body.clear();
    for (int i = 0; i < 2000; ++i) message.body += "😀";
    const std::string smiles(tree(discord_body(message)).at("content").as_string());
    CHECK(is_valid_utf8(smiles));
    CHECK(smiles.size() / 4 < 1000);
    message.message_template = "{{body}}";
    CHECK(is_valid_utf8(tree(discord_body(message)).at("content").as_string()));
    CHECK(cut_units("abc", 3) == "abc");
    CHECK(cut_units("abcd", 3) == "ab…");
    CHECK(cut_units("a😀b", 3) == "a…");
}

TEST_CASE("Teams gets an adaptive card whose texts have no mark-up") {
    Message message = a_message();
    message.body = "[click](https://evil.example)\n";
    for (int i = 0; i < 100; ++i) message.body += "line\n";
    const json::Value body = tree(teams_body(message));
    CHECK(body.at("type") == "message");
    const json::Value& attachment = body.at("attachments").at(0);
    CHECK(attachment.at("contentType") == "application/vnd.microsoft.card.adaptive");
    const json::Value& card = attachment.at("content");
    CHECK(card.at("type") == "AdaptiveCard");
    CHECK(card.at("body").at(0).at("inlines").at(0).at("text").as_string() == std::string_view(message.title));
    CHECK(card.at("body").as_array().size() == 41);
    for (const json::Value& line : card.at("body").as_array()) CHECK(line.at("type") == "RichTextBlock");
    CHECK(card.at("actions").at(0).at("url").as_string() == std::string_view(message.url));
    message.url.clear();
    CHECK_FALSE(tree(teams_body(message)).at("attachments").at(0).at("content").get_object().contains("actions"));
}

TEST_CASE("a key is kept sealed, goes to its host only, and must come again with a new address") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        const Destination pager =
            add_with_key(office, DestinationType::pagerduty, receiver.url("/v2/enqueue"), "pager");
        const auto rows = must(world.database.query("SELECT name, type, shown_target FROM destinations"));
        CHECK(rows.front().text(1) == "pagerduty");
        CHECK(world.count("audit_entries WHERE details LIKE '%canary%'") == 0);
        for (const auto& row : must(world.database.query("SELECT sealed FROM kept_secrets")))
            CHECK(row.blob(0).find("canary") == std::string::npos);
        Sender sender(world.database, world.clock, office.destinations, office.options());
        must(office.notices.notify(office.notice("a", Kind::budget_spent)));
        CHECK(must(sender.step()) == 1);
        CHECK(tree(receiver.got().at(0).body).at("routing_key") == "canary-key-77");

        DestinationChange change;
        change.url = "https://collector.evil.example/v2/enqueue";
        CHECK(outcome(office.destinations.update(world.admin, pager.id, change)) == "invalid");
        change.key = "new-key";
        CHECK(outcome(office.destinations.update(world.admin, pager.id, change)) == "ok");
        change.url = "http://plain.example.com/v2/enqueue";
        CHECK(outcome(office.destinations.update(world.admin, pager.id, change)) == "invalid");
        NewDestination wanted;
        wanted.name = "without";
        wanted.type = DestinationType::opsgenie;
        CHECK(outcome(office.destinations.create(world.admin, world.space, wanted)) == "invalid"); // no key
        wanted.key = "k";
        const Destination usual = must(office.destinations.create(world.admin, world.space, wanted));
        CHECK(usual.target == "https://api.opsgenie.com:443");
        wanted.name = "slack";
        wanted.type = DestinationType::slack;
        wanted.url = "https://hooks.slack.com/x";
        CHECK(outcome(office.destinations.create(world.admin, world.space, wanted)) == "invalid"); // no key there
    });
}

TEST_CASE("a service with too many requests gets the next one when it allows it") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        office.add(DestinationType::discord, receiver.url("/api/webhooks/1/token"));
        Sender sender(world.database, world.clock, office.destinations, office.options());
        receiver.answer(429, "90.5");
        must(office.notices.notify(office.notice("a")));
        CHECK(must(sender.step()) == 1);
        world.clock.advance(90s);
        CHECK(must(sender.step()) == 0);
        receiver.answer(204);
        world.clock.advance(2s);
        CHECK(must(sender.step()) == 1);
        CHECK(receiver.got().size() == 2);
        CHECK(world.count("deliveries WHERE state = 'sent'") == 1);
    });
}
