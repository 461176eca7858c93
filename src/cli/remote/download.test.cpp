#include "cli/remote/download.h"

#include "cli/testing/scripted_server.h"

#include <sys/stat.h>

using namespace hone;
using namespace hone::cli;
using namespace hone::cli::testing;

namespace {

// `pieces` times 64 KB, then the end or a cut connection.
class Pieces final : public net::BodySource {
public:
    Pieces(int pieces, bool breaks) : m_left(pieces), m_breaks(breaks) {}
    Result<std::string> next() override {
        if (m_left-- > 0) return std::string(64 << 10, 'z');
        if (m_breaks) return unavailable("the disk broke");
        return std::string();
    }

private:
    int m_left;
    bool m_breaks;
};

ScriptedServer::Answer streaming(int pieces, bool breaks, std::string type = "application/zstd") {
    return [=](const net::Request&) {
        net::Response response;
        response.content_type = type;
        response.stream = std::make_unique<Pieces>(pieces, breaks);
        return response;
    };
}

size_t files_in(const std::string& directory) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
    return count;
}

} // namespace

TEST_CASE("a backup is streamed to its file, which only its owner can read") {
    ScriptedServer server;
    server.on("GET /v1/backup", streaming(40, false));
    Client client;
    client.log_in_to(server);
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/backup.zst";
    const Outcome outcome = client.run({"backup", file});
    CHECK(outcome.exit == 0);
    CHECK(outcome.out == "Wrote 2.6 MB to " + file + ".\n");
    CHECK(outcome.err.empty());
    CHECK(std::filesystem::file_size(file) == 40 * (64 << 10));
    struct stat status {};
    REQUIRE(stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(files_in(directory.path()) == 1);
    CHECK(client.run({"backup", file, "--json"}).json().at("bytes") == 40 * (64 << 10));
    CHECK(client.run({"backup", "-"}).out.size() == 40 * (64 << 10));
}

TEST_CASE("a backup to the object store is written by the server, and listed") {
    ScriptedServer server;
    const std::string one =
        R"({"name":"hone-1.tar.zst","bytes":4096,"created_at":"2026-11-17T12:00:00Z","store":"s3://b/"})";
    server.on("POST /v1/backups", 200, R"({"data":)" + one + "}");
    server.on("GET /v1/backups", 200, R"({"data":[)" + one + "]}");
    Client client;
    client.log_in_to(server);
    const Outcome made = client.run({"backup", "store:"});
    CHECK(made.exit == 0);
    CHECK(made.out == "Backup hone-1.tar.zst written to s3://b/. Restore it with: hone restore store:hone-1.tar.zst\n");
    CHECK(client.run({"backup", "store:", "--json"}).json().at("bytes") == 4096);
    CHECK(client.run({"backups"}).out.find("hone-1.tar.zst") != std::string::npos);
    server.on("POST /v1/backups", 503, R"({"error":{"code":"unavailable","message":"the object store is away"}})");
    const Outcome failed = client.run({"backup", "store:"});
    CHECK(failed.exit != 0);
    CHECK(failed.err.starts_with("error: the object store is away\n"));
}

TEST_CASE("an export to the object store is written by the server, listed, read and deleted") {
    ScriptedServer server;
    const std::string one =
        R"({"name":"spans-1.parquet","bytes":4096,"created_at":"2026-11-17T12:00:00Z","expires_at":"2026-12-17T12:00:00Z"})";
    server.on("POST /v1/projects/shop/exports", 200, R"({"data":)" + one + "}");
    server.on("GET /v1/projects/shop/exports", 200, R"({"data":[)" + one + "]}");
    server.on("GET /v1/projects/shop/exports/spans-1.parquet/content", streaming(2, false, "application/octet-stream"));
    server.on("DELETE /v1/projects/shop/exports/spans-1.parquet", 204, "");
    Client client;
    client.log_in_to(server);
    const Outcome made = client.run({"export", "-p", "shop", "--format", "parquet", "--output", "store:"});
    CHECK(made.exit == 0);
    CHECK(made.out ==
          "Export spans-1.parquet is in the object store. Read it with: hone exports download spans-1.parquet\n");
    CHECK(client.run({"export", "-p", "shop", "--output", "store:", "--json"}).json().at("bytes") == 4096);
    CHECK(client.run({"exports", "-p", "shop"}).out.find("spans-1.parquet") != std::string::npos);
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/spans";
    CHECK(client.run({"exports", "download", "-p", "shop", "spans-1.parquet", "-o", file}).exit == 0);
    CHECK(std::filesystem::file_size(file) == 2 * (64 << 10));
    CHECK(client.run({"exports", "delete", "-p", "shop", "spans-1.parquet"}).exit !=
          0); // asks, and there is no terminal
    CHECK(client.run({"exports", "delete", "-p", "shop", "spans-1.parquet", "--yes"}).exit == 0);
}

TEST_CASE("a backup that is interrupted leaves the older file unchanged and no other file") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/backup.zst";
    REQUIRE(write_file(file, "older").ok());
    SUBCASE("the connection is cut") {
        server.on("GET /v1/backup", streaming(5, true));
        CHECK(client.run({"backup", file}).exit == 7);
    }
    SUBCASE("an export is cut") {
        server.on("GET /v1/projects/shop/export", streaming(5, true, "application/x-ndjson"));
        const Outcome outcome = client.run({"export", "-p", "shop", "-o", file});
        CHECK(outcome.exit == 7);
        CHECK(outcome.err.find("broke") != std::string::npos);
        CHECK(client.run({"export", "-p", "shop"}).exit == 7); // to standard output
    }
    SUBCASE("the server refuses") {
        server.on("GET /v1/backup", 403, R"({"error":{"code":"forbidden","message":"owners only"}})");
        const Outcome outcome = client.run({"backup", file});
        CHECK(outcome.exit == 4);
        CHECK(outcome.err.starts_with("error: owners only\n"));
    }
    SUBCASE("it is something else") {
        server.on("GET /v1/backup", streaming(1, false, "text/html"));
        const Outcome outcome = client.run({"backup", file});
        CHECK(outcome.exit == 1);
        CHECK(outcome.err.find("not application/zstd") != std::string::npos);
    }
    CHECK(read_file(file).value() == "older");
    CHECK(files_in(directory.path()) == 1);
}

TEST_CASE("places that cannot hold a backup are refused, devices are written to and not replaced") {
    ScriptedServer server;
    server.on("GET /v1/backup", streaming(1, false));
    Client client;
    client.log_in_to(server);
    const TemporaryDirectory directory;
    CHECK(client.run({"backup", directory.path()}).exit == 2);
    CHECK(client.run({"backup", directory.path() + "/no/such/place"}).exit == 1);
    CHECK(client.run({"backup", "/dev/null"}).exit == 0);
    CHECK(std::filesystem::is_character_file("/dev/null"));
    const Outcome full = client.run({"backup", "/dev/full"});
    CHECK(full.exit == 1);
    CHECK(full.err.find("No space left") != std::string::npos);
    CHECK(client.run({"backup", "-", "--json"}).exit == 2);
}

TEST_CASE("an audit export arrives byte by byte") {
    ScriptedServer server;
    const std::string lines = "{\"seq\":1,\"actor_name\":\"\u202E\"}\n{\"seq\":2}\n";
    server.on("GET /v1/audit/export", [=](const net::Request&) {
        net::Response response = net::text_response(200, lines);
        response.content_type = "application/x-ndjson";
        return response;
    });
    Client client;
    client.log_in_to(server);
    CHECK(client.run({"audit", "export"}).out == lines);
    const TemporaryDirectory directory;
    CHECK(client.run({"audit", "export", "--output", directory.path() + "/audit.ndjson"}).exit == 0);
    CHECK(read_file(directory.path() + "/audit.ndjson").value() == lines);
}
