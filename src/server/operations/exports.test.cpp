// Exports of spans in a store of files; objects_test has what both kinds of stores do.
#include "server/operations/exports.h"

#include "access/testing.h"
#include "objects/file_store.h"
#include "objects/owner.h"
#include "telemetry/temporary_directory.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::server;
using namespace hone::access::testing;
using namespace std::chrono_literals;

namespace {

class Text final : public net::BodySource {
public:
    explicit Text(std::vector<Result<std::string>> pieces) : m_pieces(std::move(pieces)) {}
    Result<std::string> next() override {
        return m_at < m_pieces.size() ? m_pieces[m_at++] : Result<std::string>(std::string());
    }

private:
    std::vector<Result<std::string>> m_pieces;
    size_t m_at = 0;
};

std::string read(api::ExportContent content) {
    std::string text;
    for (;;) {
        const std::string piece = must(content.stream->next());
        if (piece.empty()) return text;
        CHECK(piece.size() <= 256 << 10);
        text += piece;
    }
}

} // namespace

TEST_CASE("exports are kept below their project, read in pieces, and deleted by people, by time and with the project") {
    for_each_world([](World& world) {
        const telemetry::TemporaryDirectory directory;
        objects::FileStore store(directory.path());
        FakeClock clock(SystemClock().now()); // the times of objects are those of the disk
        Exports exports(ExportParts{store, world.access, clock, 24h, ""});
        const access::Project shop = world.add_project(world.admin, world.space, "shop");
        const access::Project other = world.add_project(world.admin, world.space, "other");
        const std::string large(9'000'001, 'x');
        Text source({large, std::string("end")});
        const api::StoredExport made = must(exports.store(world.admin, shop, source, "jsonl"));
        CHECK(made.bytes == 9'000'004);
        CHECK(made.expires_at - made.created_at == 24h);
        CHECK(made.name.ends_with(".jsonl"));
        CHECK(read(must(exports.content(shop, made.name, false))) == large + "end");
        CHECK(must(exports.content(shop, made.name, true)).address.empty()); // files have no addresses
        CHECK(world.count("audit_entries WHERE action = 'export_store'") == 1);

        // Of this project only.
        CHECK(outcome(exports.content(other, made.name, false)) == "not_found");
        CHECK(outcome(exports.remove(world.admin, other, made.name)) == "not_found");
        for (const std::string& name : {"../" + shop.id.text() + "/" + made.name, std::string(".."), std::string()})
            CHECK(outcome(exports.content(other, name, false)) == "not_found");
        CHECK(must(exports.list(other)).empty());

        // One that fails leaves nothing.
        Text broken({std::string("a part"), unavailable("the engine ended")});
        CHECK(outcome(exports.store(world.admin, shop, broken, "jsonl")) == "unavailable");
        CHECK(must(exports.list(shop)).size() == 1);

        clock.advance(1h);
        Text again({std::string("again")}), theirs({std::string("theirs")});
        const api::StoredExport second = must(exports.store(world.admin, shop, again, "parquet"));
        must(exports.store(world.admin, other, theirs, "jsonl"));
        REQUIRE(must(exports.list(shop)).size() == 2);
        CHECK(must(exports.list(shop)).front().name == second.name); // newest first
        CHECK(must(exports.sweep()) == 0);
        must(exports.remove(world.admin, shop, second.name));
        CHECK(outcome(exports.remove(world.admin, shop, second.name)) == "not_found");
        must(world.access.projects.remove(world.admin, other.id));
        CHECK(must(exports.sweep()) == 1);
        CHECK(must(exports.list(shop)).size() == 1);
        clock.advance(24h);
        // Another data directory owns the store: this one deletes nothing by itself.
        REQUIRE(must(objects::is_owner(store, "theirs")));
        Exports guest(ExportParts{store, world.access, clock, 24h, "ours"});
        CHECK(must(guest.sweep()) == 0);
        CHECK(must(exports.sweep()) == 1);
        CHECK(must(exports.list(shop)).empty());
    });
}
