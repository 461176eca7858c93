// For tests of notices and of what stands on them: a vault in a world, receivers on loopback that remember what came.
// Not part of the product. One thread, but for the receivers' own.
#pragma once

#include "access/testing.h"
#include "net/testing/raw_client.h"
#include "notice/sender.h"

namespace hone::notice::testing {

using access::testing::must;
using access::testing::outcome;
using access::testing::World;

inline std::unique_ptr<secret::MasterKeys> keys_in(const std::string& directory) {
    secret::MasterKeyOptions options;
    options.file = directory + "/master.key";
    options.create_file = true;
    return must(secret::MasterKeys::open(std::move(options)));
}

// A world with everything that notices need.
struct Office {
    explicit Office(World& made, bool can_mail = false)
        : world(made),
          keys(keys_in(directory.path())),
          vault((clean(made), made.database), made.clock, made.access.audit, *keys),
          notices(made.database, made.clock),
          destinations(made.database, made.clock, made.access, vault, can_mail) {
        must(vault.start());
    }
    static void clean(World& made) {
        for (const char* table :
             {"kept_secrets", "data_keys", "deliveries", "destinations", "notices", "notice_marks", "notice_settings"})
            must(made.database.execute("DELETE FROM " + std::string(table)));
    }
    SenderOptions options() const {
        SenderOptions made;
        made.allow_private = true;
        made.public_url = "https://hone.example.com";
        made.timeout = std::chrono::seconds(30);
        return made;
    }
    Notice notice(const std::string& key, Kind kind = Kind::run_finished) const {
        return {world.space, {}, kind, "Run finished: nightly scan", "It took 3 minutes.", "/runs/run_1", key};
    }
    Destination add(DestinationType type, const std::string& url, const std::string& name = "ops") {
        NewDestination wanted;
        wanted.name = name;
        wanted.type = type;
        wanted.url = url;
        return must(destinations.create(world.admin, world.space, wanted));
    }

    sql::testing::TemporaryDirectory directory;
    World& world;
    std::unique_ptr<secret::MasterKeys> keys;
    secret::Vault vault;
    Notices notices;
    Destinations destinations;
};

// Records every request; responds with what the test set.
class Receiver {
public:
    Receiver() {
        m_handler.on_handle = [this](net::Request&& request) {
            const std::lock_guard lock(m_mutex);
            m_requests.push_back({std::move(static_cast<net::RequestHead&>(request)), std::move(request.body)});
            net::Response response = net::text_response(m_status, "inner words");
            if (!m_retry_after.empty()) response.set_header("Retry-After", m_retry_after);
            return response;
        };
        m_server = net::testing::start_server(m_handler);
    }
    struct Got {
        net::RequestHead head;
        std::string body;
    };
    std::string url(const std::string& path = "/hook") const {
        return "http://" + m_server->addresses().front() + path;
    }
    void answer(int status, const std::string& retry_after = "") {
        const std::lock_guard lock(m_mutex);
        m_status = status;
        m_retry_after = retry_after;
    }
    std::vector<Got> got() {
        const std::lock_guard lock(m_mutex);
        return m_requests;
    }

private:
    std::mutex m_mutex;
    int m_status = 200;
    std::string m_retry_after;
    std::vector<Got> m_requests;
    net::testing::LambdaHandler m_handler;
    std::unique_ptr<net::Server> m_server;
};

} // namespace hone::notice::testing
