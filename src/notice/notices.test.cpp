// The outbox and its delivery to real receivers on loopback: signed, once, retried, given up, and nothing hostile in
// it.
#include "crypto/hmac.h"
#include "notice/testing.h"

using namespace hone;
using namespace hone::notice;
using namespace hone::notice::testing;
using namespace std::chrono_literals;

TEST_CASE("a notice reaches a webhook once, signed, with its delivery id") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        const Destination hook = office.add(DestinationType::webhook, receiver.url("/secret-path"));
        REQUIRE(hook.signing_secret);
        CHECK(hook.target.find("secret-path") == std::string::npos);
        CHECK(!must(office.destinations.find(world.admin, hook.id)).signing_secret);
        Sender sender(world.database, world.clock, office.destinations, office.options());

        CHECK(must(office.notices.notify(office.notice("run_1"))));
        CHECK(!must(office.notices.notify(office.notice("run_1")))); // told before
        CHECK(must(sender.step()) == 1);
        CHECK(must(sender.step()) == 0);
        const auto got = receiver.got();
        REQUIRE(got.size() == 1);
        CHECK(got[0].head.path == "/secret-path");
        const std::string stamp(got[0].head.header("X-Hone-Timestamp"));
        CHECK(got[0].head.header("X-Hone-Signature") ==
              "sha256=" + to_hex(crypto::hmac_sha256(*hook.signing_secret, stamp + "." + got[0].body)));
        const json::Value body = must(json::parse(got[0].body));
        CHECK(body.at("kind") == "run_finished");
        CHECK(body.at("url") == "https://hone.example.com/s/default/runs/run_1");
        CHECK(body.at("space").at("name") == "default");
        const auto deliveries = must(office.destinations.deliveries(world.admin, hook.id, {})).data;
        REQUIRE(deliveries.size() == 1);
        CHECK(deliveries[0].state == DeliveryState::sent);
        CHECK(got[0].head.header("X-Hone-Delivery") == deliveries[0].id.text());
        CHECK(body.at("delivery_id").as_string() == std::string_view(deliveries[0].id.text()));
    });
}

TEST_CASE("the address and the signing secret are nowhere in the tables in clear") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        const Destination hook = office.add(DestinationType::webhook, "https://hooks.example.com/canary-8861");
        const auto rows = must(world.database.query(
            "SELECT name, type, shown_target, kinds, projects, last_problem, template FROM destinations"));
        for (size_t column = 0; column < 7; ++column)
            CHECK(rows.front().text(column).find("canary") == std::string::npos);
        CHECK(world.count("audit_entries WHERE details LIKE '%canary%'") == 0);
        const auto sealed = must(world.database.query("SELECT sealed FROM kept_secrets"));
        CHECK(sealed.size() == 2);
        for (const auto& row : sealed) {
            CHECK(row.blob(0).find("canary") == std::string::npos);
            CHECK(row.blob(0).find(*hook.signing_secret) == std::string::npos);
        }
        must(office.destinations.remove(world.admin, hook.id));
        CHECK(world.count("kept_secrets") == 0);
    });
}

TEST_CASE("a receiver that fails is retried with growing pauses and marked as failed after a day") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        const Destination hook = office.add(DestinationType::webhook, receiver.url());
        Sender sender(world.database, world.clock, office.destinations, office.options());
        receiver.answer(500);
        must(office.notices.notify(office.notice("a")));
        CHECK(must(sender.step()) == 1);
        CHECK(must(sender.step()) == 0); // its pause is not over
        world.clock.advance(11s);
        CHECK(must(sender.step()) == 1);
        world.clock.advance(11s);
        CHECK(must(sender.step()) == 0); // the second pause is longer
        world.clock.advance(10s);
        receiver.answer(200);
        CHECK(must(sender.step()) == 1);
        CHECK(receiver.got().size() == 3);
        CHECK(must(office.destinations.find(world.admin, hook.id)).last_problem.empty());
        // The same delivery id each time: the receiver can tell repeats.
        CHECK(receiver.got()[0].head.header("X-Hone-Delivery") == receiver.got()[2].head.header("X-Hone-Delivery"));

        receiver.answer(503, "600");
        must(office.notices.notify(office.notice("b")));
        CHECK(must(sender.step()) == 1);
        world.clock.advance(599s);
        CHECK(must(sender.step()) == 0); // it asked for ten minutes
        world.clock.advance(2s);
        int64_t tries = 1;
        for (int hour = 0; hour < 60; ++hour, world.clock.advance(30min)) tries += must(sender.step());
        CHECK(tries > 20);
        CHECK(tries < 60);
        const auto deliveries = must(office.destinations.deliveries(world.admin, hook.id, {})).data;
        CHECK(deliveries[0].state == DeliveryState::given_up);
        CHECK(deliveries[0].attempts == tries);
        CHECK(deliveries[0].problem == "the receiver responded 503 Service Unavailable"); // and none of its words
        CHECK(sender.count().given_up == 1);
        world.clock.advance(24h);
        CHECK(must(sender.step()) == 0);
    });
}

TEST_CASE("a receiver that never responds times out and is retried") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        const auto silent = must(net::listen_on("127.0.0.1:0")); // accepts by the kernel's grace, says nothing
        const Destination hook = office.add(DestinationType::slack, "http://" + silent.address + "/x");
        SenderOptions options = office.options();
        options.timeout = 200ms;
        Sender sender(world.database, world.clock, office.destinations, options);
        must(office.notices.notify(office.notice("a")));
        CHECK(must(sender.step()) == 1);
        const Destination now = must(office.destinations.find(world.admin, hook.id));
        CHECK(now.pending == 1);
        CHECK(now.last_problem.find("timed out") != std::string::npos);
    });
}

TEST_CASE("private addresses are refused unless the installation allows them; metadata always") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        const Destination hook = office.add(DestinationType::webhook, receiver.url());
        const Destination metadata = office.add(DestinationType::webhook, "http://169.254.169.254/latest", "metadata");
        SenderOptions options = office.options();
        options.allow_private = false;
        Sender strict(world.database, world.clock, office.destinations, options);
        const Attempt refused = must(strict.test(world.admin, hook.id));
        CHECK(!refused.ok);
        CHECK(refused.problem.find("loopback") != std::string::npos);
        CHECK(receiver.got().empty());
        Sender open(world.database, world.clock, office.destinations, office.options());
        CHECK(must(open.test(world.admin, hook.id)).ok);
        CHECK(must(json::parse(receiver.got().at(0).body)).at("kind") == "test");
        CHECK(must(open.test(world.admin, metadata.id)).problem.find("metadata") != std::string::npos);
        const auto reader = world.join(world.space, "vera@example.com", access::Role::viewer);
        CHECK(outcome(open.test(reader, hook.id)) == "forbidden");
        CHECK(outcome(office.destinations.create(reader, world.space, {})) == "forbidden");
    });
}

TEST_CASE("a destination receives only its kinds and projects") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        const auto shop = world.add_project(world.admin, world.space, "shop");
        const auto bank = world.add_project(world.admin, world.space, "bank");
        NewDestination wanted;
        wanted.name = "some";
        wanted.url = receiver.url();
        wanted.kinds = std::vector{Kind::issue_new, Kind::budget_spent};
        wanted.projects = std::vector<std::string>{"shop"};
        must(office.destinations.create(world.admin, world.space, wanted));
        CHECK(outcome(office.destinations.create(world.admin, world.space, wanted)) == "conflict");
        wanted.name = "none";
        wanted.enabled = false;
        must(office.destinations.create(world.admin, world.space, wanted));
        const auto say = [&](Kind kind, std::optional<access::ProjectId> project) {
            must(office.notices.notify({world.space, std::move(project), kind, "t", "", "", ""}));
            return world.count("deliveries");
        };
        CHECK(say(Kind::issue_new, shop.id) == 1);
        CHECK(say(Kind::issue_new, bank.id) == 1);
        CHECK(say(Kind::run_finished, shop.id) == 1);
        CHECK(say(Kind::budget_spent, std::nullopt) == 2); // of the whole space
    });
}

TEST_CASE("texts from traces cannot become headers, mentions, foreign links or control characters") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        office.add(DestinationType::slack, receiver.url());
        Sender sender(world.database, world.clock, office.destinations, office.options());
        must(office.notices.notify({world.space,
                                    {},
                                    Kind::issue_new,
                                    "Error\r\nBcc: x@evil.example <!channel> \x1b[31m <https://evil.example|click>",
                                    "{{url}} & more\n.\nbye",
                                    "//evil.example/x",
                                    "k"}));
        CHECK(must(sender.step()) == 1);
        const std::string text(must(json::parse(receiver.got().at(0).body)).at("text").as_string());
        CHECK(text.find("<!channel>") == std::string::npos);
        CHECK(text.find("<https://evil") == std::string::npos);
        CHECK(text.find('\x1b') == std::string::npos);
        CHECK(text.find("evil.example/x") == std::string::npos);
        const auto listed = must(office.notices.list(world.admin, world.space, {}, {})).data;
        CHECK(listed.at(0).link.empty());
        CHECK(listed.at(0).title.find('\n') == std::string::npos);
    });
}

TEST_CASE("a template sets the text of the message; unknown variables are rejected by name") {
    Message message;
    message.title = "Late {{body}}";
    message.body = "secret";
    message.project = "shop";
    message.message_template = "[{{ project }}] {{title}}!";
    CHECK(plain_text(message) == "[shop] Late {{body}}!"); // values are not templates
    CHECK(outcome(check_template("{{title}} {{time}}")) == "ok");
    const auto unknown = check_template("{{password}}");
    REQUIRE(!unknown.ok());
    CHECK(unknown.error().message.find("{{password}}") != std::string::npos);
    CHECK(outcome(check_template("{{title")) == "invalid");
}

TEST_CASE("notices are listed newest first, unread until marked, and hide what the reader may not see") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        const auto hidden = world.add_project(world.admin, world.space, "hidden", true);
        for (int i = 0; i < 3; ++i) {
            must(office.notices.notify(office.notice("n" + std::to_string(i))));
            world.clock.advance(1s);
        }
        must(office.notices.notify({world.space, hidden.id, Kind::issue_new, "hidden things", "", "", "h"}));
        const auto vera = world.join(world.space, "vera@example.com", access::Role::viewer);
        const auto mine = must(office.notices.list(vera, world.space, {}, {})).data;
        REQUIRE(mine.size() == 3);
        CHECK(mine[0].created_at > mine[2].created_at);
        CHECK(must(office.notices.count_unread(vera, world.space)) == 3);
        CHECK(must(office.notices.mark_read(vera, world.space, mine[1].id)) == 1);
        CHECK(must(office.notices.mark_read(vera, world.space, mine[2].id)) == 1); // never back
        access::Caller worker = vera;
        worker.run = "run_1";
        CHECK(outcome(office.notices.mark_read(worker, world.space, {})) == "forbidden");
        CHECK(must(office.notices.count_unread(vera, world.space)) == 1);
        NoticeFilter unread;
        unread.unread_only = true;
        CHECK(must(office.notices.list(vera, world.space, unread, {})).data.size() == 1);
        CHECK(must(office.notices.mark_read(vera, world.space, {})) == 0);
        access::PageRequest two;
        two.limit = 2;
        const auto page = must(office.notices.list(vera, world.space, {}, two));
        CHECK(page.next_cursor);
        two.cursor = page.next_cursor;
        CHECK(must(office.notices.list(vera, world.space, {}, two)).data.size() == 1);
        CHECK(outcome(office.notices.list(vera, world.add_space("other"), {}, {})) == "not_found");
        world.clock.advance(24h * 91);
        CHECK(must(office.notices.sweep()) == 4);
    });
}

TEST_CASE("several senders on one database deliver each notice once") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        Receiver receiver;
        office.add(DestinationType::webhook, receiver.url());
        for (int i = 0; i < 30; ++i) must(office.notices.notify(office.notice("n" + std::to_string(i))));
        Sender one(world.database, world.clock, office.destinations, office.options());
        Sender two(world.database, world.clock, office.destinations, office.options());
        one.start();
        two.start();
        CHECK(net::testing::eventually([&] { return world.count("deliveries WHERE state = 'sent'") == 30; }));
        CHECK(receiver.got().size() == 30);
        // A sender that is woken need not wait for its time.
        office.notices.set_wake([&] { one.wake(); });
        must(office.notices.notify(office.notice("late")));
        CHECK(net::testing::eventually([&] { return receiver.got().size() == 31; }));
    });
}

TEST_CASE("kinds that need a person are counted as new; each person chooses") {
    access::testing::for_each_world([](World& world) {
        Office office(world);
        const auto ada = world.join(world.space, "ada@example.com", access::Role::member);
        CHECK(!must(office.notices.unread(ada, world.space)).marked_at);
        must(office.notices.notify(office.notice("run_1"))); // finished: needs nobody
        Notice waiting = office.notice("review_1");
        waiting.kind = Kind::review_waiting;
        must(office.notices.notify(waiting));
        UnreadNotices counted = must(office.notices.unread(ada, world.space));
        CHECK(counted.unread == 2);
        CHECK(counted.counted == 1);
        CHECK(must(office.notices.settings(ada, world.space)).is_default);

        const auto chosen = must(office.notices.choose(ada, world.space, {Kind::run_finished, Kind::run_finished}));
        CHECK(!chosen.is_default);
        CHECK(chosen.kinds == std::vector{Kind::run_finished});
        CHECK(must(office.notices.unread(ada, world.space)).counted == 1);
        must(office.notices.choose(ada, world.space, {}));
        CHECK(must(office.notices.unread(ada, world.space)).counted == 0);
        CHECK(must(office.notices.unread(world.admin, world.space)).counted == 1); // unchanged

        must(office.notices.mark_read(world.admin, world.space, {}));
        counted = must(office.notices.unread(world.admin, world.space));
        CHECK(counted.counted == 0);
        CHECK(counted.marked_at);
        const auto stranger = world.join(world.add_space("other"), "eve@example.com", access::Role::member);
        CHECK(outcome(office.notices.choose(stranger, world.space, {})) == "not_found");
        CHECK(outcome(office.notices.settings(stranger, world.space)) == "not_found");
    });
}
