// Event streams end when their caller loses the right to them, and only then.
#include "api/testing.h"

#include <atomic>
#include <doctest/doctest.h>

using namespace hone;
using namespace hone::api;
using namespace hone::api::testing;

namespace {

class Listener final : public net::EventStream {
public:
    bool send(std::string_view, std::string_view, std::string_view) override { return m_open; }
    bool is_open() const override { return m_open; }
    size_t pending() const override { return 0; }
    void on_close(std::function<void()>) override {}
    void close() override { m_open = false; }
    void cut() override {
        m_open = false;
        was_cut = true;
    }
    std::atomic<bool> was_cut = false;

private:
    std::atomic<bool> m_open = true;
};

struct Watched {
    std::shared_ptr<Listener> stream = std::make_shared<Listener>();
    std::atomic<bool> allowed = true;
    std::atomic<int> checks = 0;
};

void add(LiveStreams& streams, Watched& watched) {
    streams.add(watched.stream, [&watched] {
        ++watched.checks;
        return watched.allowed.load();
    });
}

} // namespace

TEST_CASE("streams are checked when the audit log has a change of rights, and ended when they are not allowed") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    World world(fresh.database());
    const auto key = must(world.access.keys.create(world.admin, world.space, {.name = "k"}));
    Watched keeps, loses;
    LiveStreams streams(world.access.audit);
    add(streams, keeps);
    add(streams, loses);
    streams.step(false);
    CHECK(loses.stream->is_open());
    loses.allowed = false;
    must(world.access.keys.revoke(world.admin, key.id));
    streams.step(false);
    CHECK(loses.stream->was_cut);
    CHECK(keeps.stream->is_open());
    CHECK(keeps.checks > 0);
    // Without a change in the log only the full check finds what expired.
    keeps.allowed = false;
    streams.step(true);
    CHECK(keeps.stream->was_cut);
    CHECK(streams.step(true) == 0);
}
