// The scheduler in a process of its own, killed again and again at random places: no due moment is lost or doubled.
// HONE_TEST_KILLS says how often; a thousand now and then.
#include "automation/scheduler.h"

#include "access/testing.h"
#include "base/testing.h"
#include "sql/migrate.h"

#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <random>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::automation;
using access::testing::must;

namespace {

// A hundred seconds pass in one, for every process alike.
class FastClock final : public Clock {
public:
    FastClock(Duration steady, Time begin) : m_steady(steady), m_begin(begin) {}
    Time now() const override { return m_begin + (m_system.steady() - m_steady) * 100; }
    Duration steady() const override { return m_system.steady(); }

private:
    SystemClock m_system;
    const Duration m_steady;
    const Time m_begin;
};

class KillSettings final : public run::SettingsCheck {
public:
    Result<> check(const access::Caller&, const access::SpaceId&, const run::Settings&) override { return {}; }
};

struct Office {
    Office(sql::Database& database, const Clock& clock)
        : access(database, clock, access::testing::World::cheap_policy()),
          keys(some_keys()),
          transcript(database, clock),
          presets(database, clock, access.audit, any),
          runs(database, clock, access, presets, any, transcript),
          ledger(database),
          automations(database, clock, access, presets, *keys),
          firing(database, clock, access, runs, ledger, automations),
          scheduler(database, clock, firing, *keys, {}, options()) {
        firing.capacity = {1'000'000, 1'000'000, 1'000'000};
    }
    static std::unique_ptr<secret::MasterKeys> some_keys() {
        secret::MasterKeyOptions options;
        options.value = crypto::SecretBytes{std::string_view("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")};
        return must(secret::MasterKeys::open(std::move(options)));
    }
    static SchedulerOptions options() {
        SchedulerOptions options;
        options.on_time = std::chrono::minutes(2); // a second of real time is more than a minute here
        options.most_slots = 10'000'000;
        return options;
    }

    access::Access access;
    KillSettings any;
    std::unique_ptr<secret::MasterKeys> keys;
    run::Transcript transcript;
    run::Presets presets;
    run::Runs runs;
    broker::UsageLedger ledger;
    Automations automations;
    Firing firing;
    Scheduler scheduler;
};

Result<std::unique_ptr<sql::Database>> open(const std::string& folder) {
    return sql::Database::open({.url = "sqlite:" + folder + "/hone.db"});
}

AutomationId first_automation(sql::Database& database, const Clock& clock) {
    Office office(database, clock);
    must(office.access.first_start(access::testing::good_password));
    const auto admin = must(office.access.logins.login(access::testing::World::guest(), "admin@localhost",
                                                       access::testing::good_password, "test"))
                           .caller;
    const access::SpaceId space = admin.roles.begin()->first;
    must(office.access.projects.create(admin, space, "shop", "", false, {}));
    run::Settings settings;
    settings.harness = "command";
    settings.command = std::vector<std::string>{"/bin/true"};
    must(office.presets.create(admin, space, "worker", "", settings));
    NewAutomation wanted;
    wanted.name = "often";
    wanted.project = "shop";
    wanted.preset = "worker";
    wanted.prompt = "look";
    wanted.trigger.schedule = "*/5 * * * * *";
    wanted.overlap = Overlap::parallel;
    return must(office.automations.create(admin, space, wanted)).id;
}

// A program of its own, because other tests of this one have threads, which a plain fork would not survive.
pid_t start_scheduling(const std::string& folder, Duration steady, Time begin) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that is ended leaves nothing behind
    ::setenv("HONE_TEST_FOLDER", folder.c_str(), 1);
    ::setenv("HONE_TEST_STEADY", std::to_string(steady.count()).c_str(), 1);
    ::setenv("HONE_TEST_BEGIN", std::to_string(to_ns(begin)).c_str(), 1);
    ::execl("/proc/self/exe", "automation_test", "--no-skip", "--test-case=scheduling until the process is killed",
            nullptr);
    ::_exit(5);
}

} // namespace

TEST_CASE("scheduling until the process is killed" * doctest::test_suite("child") * doctest::skip()) {
    const char* folder = std::getenv("HONE_TEST_FOLDER");
    REQUIRE_MESSAGE(folder != nullptr, "started by the test below only");
    crypto::start();
    const FastClock clock(Duration(std::atoll(std::getenv("HONE_TEST_STEADY"))),
                          from_ns(std::atoll(std::getenv("HONE_TEST_BEGIN"))));
    const auto database = must(open(folder));
    Office office(*database, clock);
    for (;;) must(office.scheduler.step(clock.now()));
}

TEST_CASE("no scheduled time is lost or doubled when the process is killed at random places") {
    crypto::start();
    const char* wanted = std::getenv("HONE_TEST_KILLS");
    const int kills = wanted != nullptr ? std::atoi(wanted) : 30;
    std::string folder = std::filesystem::temp_directory_path() / "hone-test-kill-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    const SystemClock real;
    const Duration steady = real.steady();
    const Time begin = real.now();
    const FastClock clock(steady, begin);
    AutomationId automation;
    {
        const auto database = must(open(folder));
        must(sql::migrate(*database, clock));
        automation = first_automation(*database, clock);
    }
    std::mt19937 luck(test_seed());
    for (int kill = 0; kill < kills; ++kill) {
        const pid_t child = start_scheduling(folder, steady, begin);
        REQUIRE(child >= 0);
        ::usleep(50'000 + luck() % 400'000); // the place of the kill
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    }
    const auto database = must(open(folder));
    Office office(*database, clock);
    // A step acts on a bounded number of rows; a busy machine may leave more than that.
    const Time end = clock.now();
    const auto is_due = [&] {
        return !must(database->query("SELECT id FROM automation_slots WHERE outcome = 'due' LIMIT 1")).empty();
    };
    do {
        must(office.scheduler.step(end));
    } while (is_due() && clock.now() - end < std::chrono::hours(2));
    const auto rows = must(database->query("SELECT due_at, outcome, run_id, trigger_values FROM automation_slots WHERE "
                                           "automation_id = ? ORDER BY due_at",
                                           automation));
    std::set<std::string> fired;
    std::optional<Time> before;
    int64_t moments = 0;
    for (const auto& row : rows) {
        CHECK(row.text(1) != "due");
        // On a machine so busy that nothing is written for long, one row may stand for many moments, and says for how
        // many.
        const auto values = must(json::parse(row.text(3))).get_object();
        const auto* many = values.if_contains("moments");
        const int64_t stands_for = many != nullptr ? many->get_int64() : 1;
        if (before) REQUIRE(row.time(0) - *before == std::chrono::seconds(5) * stands_for);
        before = row.time(0);
        moments += stands_for;
        if (row.text(1) == "fired") REQUIRE(fired.insert(row.text(2)).second);
    }
    const auto runs = must(database->query("SELECT id FROM runs"));
    CHECK(runs.size() == fired.size());
    for (const auto& run : runs) CHECK(fired.contains(run.text(0)));
    REQUIRE(moments > kills);
    MESSAGE(moments, " moments, ", rows.size(), " rows, ", fired.size(), " runs, ", kills, " kills");
    std::filesystem::remove_all(folder);
}
