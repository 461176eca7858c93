// Saved views: shared within a project, one default for each page.
#include "access/testing.h"

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

namespace {

SavedView view(std::string name, std::string query, bool is_default = false, ViewPage page = ViewPage::traces) {
    SavedView made;
    made.page = page;
    made.name = std::move(name);
    made.query = std::move(query);
    made.is_default = is_default;
    return made;
}

} // namespace

TEST_CASE("a saved view is seen by all who see the project, and replaced under its name") {
    for_each_world([](World& world) {
        SavedViews& views = world.access.saved_views;
        const Caller ada = world.join(world.space, "ada@example.com", Role::member);
        const Caller bob = world.join(world.space, "bob@example.com", Role::viewer);
        const ProjectId id = world.add_project(ada, world.space, "shop").id;
        const SavedView made = must(views.put(ada, id, view(" slow ", "filter=latency+%3E+2s")));
        CHECK(made.name == "slow");
        CHECK(made.saved_by == "ada@example.com");
        world.clock.advance(std::chrono::hours(1));
        const SavedView changed = must(views.put(ada, id, view("slow", "filter=latency+%3E+5s")));
        CHECK(changed.created_at == made.created_at);
        CHECK(changed.updated_at > made.updated_at);
        const auto seen = must(views.list(bob, id));
        REQUIRE(seen.size() == 1);
        CHECK(seen[0].query == "filter=latency+%3E+5s");
        CHECK(outcome(views.put(bob, id, view("mine", ""))) == "forbidden");
        CHECK(outcome(views.remove(bob, id, ViewPage::traces, "slow")) == "forbidden");
        CHECK(outcome(views.remove(ada, id, ViewPage::sessions, "slow")) == "not_found");
        CHECK(outcome(views.remove(ada, id, ViewPage::traces, "slow")) == "ok");
        CHECK(must(views.list(bob, id)).empty());
        CHECK(world.count("audit_entries WHERE action = 'view_save'") == 2);
    });
}

TEST_CASE("charts of dashboards and SQL queries are views of pages of their own") {
    for_each_world([](World& world) {
        SavedViews& views = world.access.saved_views;
        const ProjectId id = world.add_project(world.admin, world.space, "shop").id;
        must(views.put(world.admin, id, view("Cost / by model", "metric=cost&by=model", false, ViewPage::charts)));
        must(views.put(world.admin, id, view("Cost / by model", "sql=SELECT+1", false, ViewPage::queries)));
        const auto seen = must(views.list(world.admin, id));
        REQUIRE(seen.size() == 2);
        CHECK(seen[0].page == ViewPage::charts);
        CHECK(seen[1].page == ViewPage::queries);
        CHECK(outcome(views.remove(world.admin, id, ViewPage::charts, "Cost / by model")) == "ok");
        CHECK(must(views.list(world.admin, id)).front().query == "sql=SELECT+1");
    });
}

TEST_CASE("each page of a project has at most one default view") {
    for_each_world([](World& world) {
        SavedViews& views = world.access.saved_views;
        const ProjectId id = world.add_project(world.admin, world.space, "shop").id;
        must(views.put(world.admin, id, view("a", "range=1h", true)));
        must(views.put(world.admin, id, view("s", "range=7d", true, ViewPage::sessions)));
        must(views.put(world.admin, id, view("b", "range=6h", true)));
        std::string defaults;
        for (const auto& one : must(views.list(world.admin, id)))
            if (one.is_default) defaults += one.name;
        CHECK(defaults == "sb");
    });
}

TEST_CASE("views of a restricted project are hidden, odd ones refused, and they go with their project") {
    for_each_world([](World& world) {
        SavedViews& views = world.access.saved_views;
        const Caller ada = world.join(world.space, "ada@example.com", Role::member);
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        const ProjectId id = world.add_project(ada, world.space, "secret", true).id;
        must(views.put(ada, id, view("v", "range=1h")));
        CHECK(outcome(views.list(bob, id)) == "not_found");
        CHECK(outcome(views.put(bob, id, view("v", "range=1h"))) == "not_found");
        CHECK(outcome(views.put(ada, id, view("", "range=1h"))) == "invalid");
        for (const char* query : {"a b", "x=\"", "a#b", "<script>", "ä=1", "a\nb"})
            CHECK(outcome(views.put(ada, id, view("v", query))) == "invalid");
        CHECK(outcome(views.put(ada, id, view("v", std::string(9000, 'a')))) == "invalid");
        must(world.access.projects.remove(world.admin, world.add_project(world.admin, world.space, "other").id));
        CHECK(world.count("saved_views") == 1);
        CHECK(outcome(world.database.execute("DELETE FROM projects WHERE id = ?", id)) == "ok");
        CHECK(world.count("saved_views") == 0);
    });
}
