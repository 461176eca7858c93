// A request of any shape, through plan() and handle(): first line method, second target, the rest body. The caller
// holds a key that may only read, so that the database stays as it is.
#include "api/api.h"
#include "api/testing_services.h"
#include "sql/migrate.h"

#include <cstdlib>

namespace {

using namespace hone;

template <class T>
T must(Result<T> result) {
    CHECK_OR_ABORT(result.ok());
    return std::move(result).value();
}

class NoInstallation final : public api::Installation {
public:
    std::string version() const override { return "1"; }
    Time started_at() const override { return {}; }
    int64_t schema_version() const override { return 1; }
    std::string database_engine() const override { return "sqlite"; }
    int64_t data_dir_bytes() const override { return 0; }
    Result<std::vector<api::SpaceStorage>> storage(const access::Caller&) override {
        return std::vector<api::SpaceStorage>();
    }
    std::vector<api::SettingView> settings(const access::Caller&) const override { return {}; }
    std::string not_ready() const override { return ""; }
    std::string metrics() const override { return ""; }
    Result<std::unique_ptr<net::BodySource>> backup(const access::Caller&) override { return unavailable("no"); }
    Result<StoredBackup> store_backup(const access::Caller&) override { return unavailable("no"); }
    Result<std::vector<StoredBackup>> stored_backups(const access::Caller&) override { return unavailable("no"); }
};

std::string make_folder() {
    char folder[] = "/tmp/hone-fuzz-XXXXXX";
    CHECK_OR_ABORT(::mkdtemp(folder) != nullptr);
    return folder;
}

std::unique_ptr<sql::Database> open_database(const std::string& folder, const Clock& clock) {
    crypto::start();
    sql::Options options;
    options.url = "sqlite:" + folder + "/hone.db";
    auto database = must(sql::Database::open(options));
    must(sql::migrate(*database, clock));
    return database;
}

access::Policy cheap_policy() {
    access::Policy policy;
    policy.password_cost = crypto::PasswordCost::cheap;
    return policy;
}

// Everything a request meets, built once per process.
struct World {
    FakeClock clock{must(parse_time("2026-03-01T12:00:00Z"))};
    std::string folder = make_folder();
    std::unique_ptr<sql::Database> database = open_database(folder, clock);
    access::Access access{*database, clock, cheap_policy()};
    NoInstallation installation;
    api::testing::ServiceSet set{*database, clock, access, folder};
    api::Api api{set.services(installation), net::StaticFiles::embedded({}), {0, 4 << 20}};
    std::string key = make_key();

    std::string make_key() {
        must(access.first_start("correct horse battery"));
        const auto guest = access::Caller::guest("192.0.2.1", "req");
        const auto admin = must(access.logins.login(guest, "admin@localhost", "correct horse battery", "")).caller;
        access::NewKey wanted{"fuzz", access::KeyKind::service, {"read"}, access::Role::owner, {}};
        return *must(access.keys.create(admin, admin.roles.begin()->first, wanted)).key;
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static World world; // libFuzzer has no other place for what lives as long as the process
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = [&] {
        const std::string_view taken = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), taken.size() + 1));
        return std::string(taken);
    };
    net::Request request;
    request.method = line();
    request.target = line();
    const size_t mark = request.target.find('?');
    request.path = request.target.substr(0, mark);
    if (mark != std::string::npos) request.query = request.target.substr(mark + 1);
    request.headers = {{"Authorization", "Bearer " + world.key}, {"Content-Type", "application/json"}};
    request.body = std::string(text);

    // Guests' writes would reach the password hash: slow, and not what is tested here.
    if (request.method == "POST" &&
        (request.path.find("login") != std::string::npos || request.path.find("accept") != std::string::npos))
        return 0;
    net::Plan plan = world.api.plan(request);
    const net::Response response = plan.response ? std::move(*plan.response) : world.api.handle(std::move(request));
    CHECK_OR_ABORT(response.status >= 200 && (response.status < 500 || response.status == 503)); // 503: no span engine
    if (response.status >= 400) CHECK_OR_ABORT(json::parse(response.body).ok());
    return 0;
}
