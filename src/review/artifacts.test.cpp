#include "review/artifacts.h"
#include "access/testing.h"
#include "review/label_outbox.h"
#include "review/testing.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace hone;
using namespace hone::review;
using namespace hone::access::testing;
using access::Caller;
using access::Permission;
using access::Project;
using access::Role;

namespace {

struct Desk {
    explicit Desk(World& given, Caps caps = {})
        : world(given),
          folder(std::filesystem::temp_directory_path() / ("hone-test-review-" + std::to_string(::getpid()))),
          artifacts(given.database, given.clock, given.access, folder, caps) {
        std::filesystem::create_directories(folder);
        project = world.add_project(world.admin, world.space, "shop");
        testing::add_run(world, project.id);
    }
    ~Desk() { std::filesystem::remove_all(folder); }
    NewArtifact file(const std::string& name, const std::string& content) const {
        return {world.space, project.id, "run_1", ArtifactKind::file, name, "", content, false};
    }

    NewArtifact labels(const std::string& content, bool approved = false) const {
        return {world.space, project.id, "run_1", ArtifactKind::labels, "labels", "", content, approved};
    }

    World& world;
    std::filesystem::path folder;
    Artifacts artifacts;
    Project project;
};

Artifacts::Verdict verdict(const Artifact& seen, ReviewState decision, const std::string& comment = "") {
    return {decision, comment, seen.digest, {}};
}

// A span store that can be away.
struct Store final : LabelSink {
    Result<> publish(const Artifact&, const std::string& content) override {
        if (is_away) return unavailable("the span store does not respond");
        published.push_back(content);
        return {};
    }
    bool is_away = false;
    std::vector<std::string> published;
};

} // namespace

TEST_CASE("an artifact is saved, seen, decided once, and replaced until a person approved it") {
    for_each_world([](World& world) {
        Desk desk(world);
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        const Caller viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        const Caller stranger = world.join(world.add_space("other"), "stranger@example.com", Role::owner);
        const Artifact first = must(desk.artifacts.save(desk.file("a.csv", "x,y\n1,2\n")));
        CHECK(first.review == ReviewState::pending);
        CHECK(first.media_type == "text/csv");
        CHECK(must(desk.artifacts.content(first)) == "x,y\n1,2\n");
        CHECK(outcome(desk.artifacts.find(viewer, first.id)) == "ok");
        CHECK(outcome(desk.artifacts.find(stranger, first.id)) == "not_found");
        CHECK(outcome(desk.artifacts.decide(viewer, first.id, verdict(first, ReviewState::approved))) == "forbidden");
        CHECK(outcome(desk.artifacts.decide(member, first.id, verdict(first, ReviewState::changes_requested, " "))) ==
              "invalid");
        CHECK(must(desk.artifacts.decide(member, first.id, verdict(first, ReviewState::changes_requested, "more rows")))
                  .comment == "more rows");
        // The worker saves it again: the same artifact waits for a new review.
        const Artifact second = must(desk.artifacts.save(desk.file("a.csv", "x,y\n1,2\n3,4\n")));
        CHECK(second.id == first.id);
        CHECK(second.review == ReviewState::pending);
        // What the reviewer saw is not what is there: refused, and the message shows what changed.
        const auto stale = desk.artifacts.decide(member, first.id, verdict(first, ReviewState::approved));
        CHECK(outcome(stale) == "conflict");
        CHECK(stale.error().message.find("1 lines added, 0 removed; added 3,4") != std::string::npos);
        CHECK(must(desk.artifacts.find(member, first.id)).review == ReviewState::pending);
        const Artifact approved =
            must(desk.artifacts.decide(member, first.id, verdict(second, ReviewState::approved, "good")));
        CHECK(approved.reviewer == "member@example.com");
        CHECK(outcome(desk.artifacts.decide(member, first.id, verdict(second, ReviewState::rejected))) == "conflict");
        CHECK(outcome(desk.artifacts.save(desk.file("a.csv", "other"))) == "conflict");
        CHECK(must(desk.artifacts.list(viewer, world.space, {.review = ReviewState::approved}, {})).data.size() == 1);
        CHECK(must(desk.artifacts.list(viewer, world.space, {.review = ReviewState::pending}, {})).data.empty());
        CHECK(must(desk.artifacts.list(viewer, world.space, {.run = "run_1"}, {})).data.size() == 1);
    });
}

TEST_CASE("caps of size, count and sum hold") {
    for_each_world([](World& world) {
        Desk desk(world, {.bytes = 10, .count = 3, .run_bytes = 25});
        CHECK(outcome(desk.artifacts.save(desk.file("big", std::string(11, 'x')))) == "too_large");
        must(desk.artifacts.save(desk.file("a", std::string(10, 'x'))));
        must(desk.artifacts.save(desk.file("a", std::string(10, 'y')))); // replaces
        must(desk.artifacts.save(desk.file("b", std::string(10, 'x'))));
        CHECK(outcome(desk.artifacts.save(desk.file("c", std::string(10, 'x')))) == "too_large");
        must(desk.artifacts.save(desk.file("c", "x")));
        CHECK(outcome(desk.artifacts.save(desk.file("d", "x"))) == "too_large");
    });
}

TEST_CASE("names of folders, tricks and nothing are refused") {
    for (const char* bad : {"", "  ", ".", "..", "a/b", "../x", "a\\b", "a\nb", "\xff"})
        CHECK_FALSE(checked_file_name(bad).ok());
    CHECK(checked_file_name(" report ü.md ").value() == "report ü.md");
}

TEST_CASE("the media type follows the content, not the name") {
    CHECK(sniff_media_type("x.png", "\x89PNG\r\n\x1a\n....") == "image/png");
    CHECK(sniff_media_type("x.png", "<script>alert(1)</script>") == "text/plain");
    CHECK(sniff_media_type("x.html", "<html>") == "text/plain");
    CHECK(sniff_media_type("x.svg", "<svg xmlns='x'/>") == "image/svg+xml");
    CHECK(sniff_media_type("x.svg", "hello") == "text/plain");
    CHECK(sniff_media_type("x.md", "# hi") == "text/markdown");
    CHECK(sniff_media_type("x.md", std::string("a\0b", 3)) == "application/octet-stream");
}

TEST_CASE("a damaged content is detected, a content without a row is deleted") {
    for_each_world([](World& world) {
        Desk desk(world);
        const Artifact made = must(desk.artifacts.save(desk.file("a", "hello")));
        const auto path = desk.folder / "artifacts" / made.digest.substr(0, 2) / made.digest;
        std::filesystem::resize_file(path, 3);
        CHECK(outcome(desk.artifacts.content(made)) == "corrupt");
        const Artifact other = must(desk.artifacts.save(desk.file("b", "other")));
        must(world.database.execute("DELETE FROM artifacts WHERE id = ?", made.id));
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
        CHECK(must(desk.artifacts.sweep()).removed == 1);
        CHECK(must(desk.artifacts.content(other)) == "other");
    });
}

TEST_CASE("a worker that replaces its artifact repeatedly cannot fill the disk") {
    for_each_world([](World& world) {
        Desk desk(world, {.bytes = 10'000, .count = 10, .run_bytes = 50'000, .all_bytes = 45'000});
        const auto content = [](int number) { return std::string(9'000, 'x') + std::to_string(number); };
        const auto files = [&] {
            int64_t count = 0;
            for (const auto& entry : std::filesystem::recursive_directory_iterator(desk.folder / "artifacts"))
                if (entry.is_regular_file()) {
                    ++count; // and it was written long ago, for the next removal
                    std::filesystem::last_write_time(entry, std::filesystem::file_time_type::clock::now() -
                                                                std::chrono::minutes(2));
                }
            return count;
        };
        // What is replaced counts as stored; what is not accepted is stored too, until then.
        for (int number = 0; number < 4; ++number) must(desk.artifacts.save(desk.file("a", content(number))));
        CHECK(outcome(desk.artifacts.save(desk.file("a", content(4)))) == "too_large");
        CHECK(outcome(desk.artifacts.save(desk.file("a", content(5)))) == "too_large");
        CHECK(outcome(desk.artifacts.save(desk.file("a", content(6)))) == "busy");
        CHECK(files() == 6);
        world.clock.advance(std::chrono::minutes(10));
        const Artifact last = must(desk.artifacts.save(desk.file("a", content(7))));
        CHECK(files() == 2); // the one before it was replaced just now
        world.clock.advance(std::chrono::minutes(10));
        desk.artifacts.remove_replaced();
        CHECK(files() == 1);
        CHECK(must(desk.artifacts.content(last)) == content(7));
        // The same content again replaces nothing.
        must(desk.artifacts.save(desk.file("a", content(7))));
        world.clock.advance(std::chrono::minutes(10));
        desk.artifacts.remove_replaced();
        CHECK(must(desk.artifacts.content(last)) == content(7));
    });
}

TEST_CASE("approved labels are published after a crash between approval and publication") {
    for_each_world([](World& world) {
        Desk desk(world);
        Store store;
        store.is_away = true;
        const Artifact saved = must(desk.artifacts.save(desk.labels("[1]")));
        {
            LabelOutbox outbox(world.database, world.clock, desk.artifacts, store);
            CHECK_FALSE(must(outbox.step())); // nothing is approved
            must(desk.artifacts.decide(world.admin, saved.id, verdict(saved, ReviewState::approved)));
            CHECK(outcome(outbox.publish(saved.id)) == "unavailable");
        } // the server ends here
        CHECK(store.published.empty());
        CHECK_FALSE(must(desk.artifacts.find(world.admin, saved.id)).applied_at);
        LabelOutbox outbox(world.database, world.clock, desk.artifacts, store);
        store.is_away = false;
        CHECK_FALSE(must(outbox.step())); // pauses after the failure
        world.clock.advance(std::chrono::seconds(5));
        CHECK(must(outbox.step()));
        CHECK(store.published == std::vector<std::string>{"[1]"});
        CHECK(must(desk.artifacts.find(world.admin, saved.id)).applied_at);
        CHECK_FALSE(must(outbox.step()));
    });
}

TEST_CASE("only the labels that were approved are published") {
    for_each_world([](World& world) {
        Desk desk(world);
        Store store;
        LabelOutbox outbox(world.database, world.clock, desk.artifacts, store);
        const Artifact shown = must(desk.artifacts.save(desk.labels("[\"harmless\"]")));
        // The worker replaces them while the reviewer reads.
        const Artifact swapped = must(desk.artifacts.save(desk.labels("[\"canary\"]")));
        const auto refused = desk.artifacts.decide(world.admin, shown.id, verdict(shown, ReviewState::approved));
        CHECK(outcome(refused) == "conflict");
        CHECK(refused.error().message.find("canary") != std::string::npos); // the reviewer sees what changed
        CHECK_FALSE(must(outbox.step()));
        CHECK(store.published.empty());
        // Approved by the preset's policy: published at once; replaced before that: only the newest.
        must(desk.artifacts.save(desk.labels("[1]", true)));
        must(desk.artifacts.save(desk.labels("[2]", true)));
        CHECK(must(outbox.step()));
        CHECK_FALSE(must(outbox.step()));
        CHECK(store.published == std::vector<std::string>{"[2]"});
        // Approved, not yet published, then saved again for a review: the earlier approval is void.
        must(desk.artifacts.save(desk.labels("[3]", true)));
        must(desk.artifacts.save(desk.labels("[4]")));
        CHECK_FALSE(must(outbox.step()));
        (void)swapped;
    });
}

TEST_CASE("a stale approval quotes the content that was replaced, and no other") {
    for_each_world([](World& world) {
        Desk desk(world);
        const Artifact hidden = must(desk.artifacts.save(desk.file("other", "the canary of another artifact")));
        const Artifact first = must(desk.artifacts.save(desk.file("mine", "first")));
        must(desk.artifacts.save(desk.file("mine", "second")));
        must(desk.artifacts.save(desk.file("mine", "second"))); // the same again replaces nothing
        const auto refused = [&](const Artifact& seen) {
            Artifacts::Verdict given = verdict(seen, ReviewState::approved);
            const auto decided = desk.artifacts.decide(world.admin, first.id, given);
            REQUIRE_FALSE(decided.ok());
            CHECK(decided.error().code == Code::conflict);
            return decided.error().message;
        };
        CHECK(refused(first).find("removed first; added second") != std::string::npos);
        const std::string message = refused(hidden);
        CHECK(message.find("saved again") != std::string::npos);
        CHECK(message.find("canary") == std::string::npos);
        CHECK(message.find("second") == std::string::npos);
    });
}

TEST_CASE("the difference between two contents is described in a line") {
    CHECK(change_summary("[1,2,3]", "[1,3,4,4]") == "2 entries added, 1 removed; removed 2; added 4; added 4");
    CHECK(change_summary("a\nb\n", "a\nc\n") == "1 lines added, 1 removed; removed b; added c");
    CHECK(change_summary("\xff", "x") == "1 bytes then, 1 bytes now");
    CHECK(change_summary("same", "same") == "0 lines added, 0 removed");
    const std::string long_line(5000, 'x');
    CHECK(change_summary("", long_line).size() < 300);
    CHECK(change_summary("a", "\x1b[2Jb").find('\x1b') == std::string::npos);
}
