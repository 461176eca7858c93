#include "api/core/drop_in.h"

#include "base/text.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::api;

namespace {

std::string key_in(std::vector<net::Header> headers) {
    net::RequestHead head;
    head.headers = std::move(headers);
    return sender_key(head);
}

} // namespace

TEST_CASE("addresses of other products lead to the routes of the table") {
    for (const char* path :
         {"/v1/traces/", "/api/public/otel/v1/traces", "/otel/v1/traces", "/otel/v1/traces/", "/api/v1/otel/v1/traces",
          "/api/v1/private/otel/v1/traces", "/opik/api/v1/private/otel/v1/traces"}) {
        INFO(path);
        CHECK(drop_in_path("POST", path) == "/v1/traces");
    }
    CHECK(drop_in_path("POST", "/api/public/otel/v1/logs") == "/v1/logs");
    CHECK(drop_in_path("POST", "/v1/metrics/") == "/v1/metrics");
    CHECK(drop_in_path("GET", "/info") == "/api/v1/info");
    CHECK(drop_in_path("POST", "/runs") == "/api/v1/runs");
    CHECK(drop_in_path("POST", "/runs/multipart") == "/api/v1/runs/multipart");
    CHECK(drop_in_path("POST", "/runs/01a1") == "/api/v1/runs/01a1");
    CHECK(drop_in_path("POST", "/api/v1/runs/batch/") == "/api/v1/runs/batch");
    CHECK(drop_in_path("POST", "/feedback") == "/api/v1/feedback");
    CHECK(drop_in_path("GET", "/sessions") == "/api/v1/sessions");
    for (const char* path : {"/v1/traces", "/v1/logs", "/api/v1/runs", "/api/v1/info", "/", "", "/runsx", "/sessions/x",
                             "/s/a/runs/b", "/other/v1/traces", "/v1/traces/0123", "/v1/runs", "//v1/traces"}) {
        INFO(path);
        CHECK(!drop_in_path("POST", path));
    }
    // Pages of the UI, to which notices link.
    for (const char* path : {"/runs", "/runs/run_01M7", "/feedback"}) {
        INFO(path);
        CHECK(!drop_in_path("GET", path));
        CHECK(!drop_in_path("HEAD", path));
    }
    CHECK(drop_in_path("GET", "/api/v1/runs/01a1/") == "/api/v1/runs/01a1");
}

TEST_CASE("a key is read from every header that SDKs put it into") {
    CHECK(key_in({{"Authorization", "Bearer hone_a"}}) == "hone_a");
    CHECK(key_in({{"authorization", "bearer hone_a "}}) == "hone_a");
    CHECK(key_in({{"Authorization", "Bearer%20hone_a"}}) == "hone_a");
    CHECK(key_in({{"Authorization", "hone_a"}}) == "hone_a");
    CHECK(key_in({{"Authorization", "Basic " + to_base64("pk-lf-1:hone_a")}}) == "hone_a");
    CHECK(key_in({{"Authorization", "Basic " + to_base64("hone_a:")}}) == "hone_a");
    CHECK(key_in({{"Authorization", "Basic ???"}}).empty());
    for (const char* name : {"x-api-key", "X-API-Key", "api_key", "api-key", "wandb-api-key"})
        CHECK(key_in({{name, "hone_a"}}) == "hone_a");
    // Authorization decides; a wrong one is not made good by another header.
    CHECK(key_in({{"Authorization", "Bearer wrong"}, {"x-api-key", "hone_a"}}) == "wrong");
    CHECK(key_in({}).empty());
}

TEST_CASE("a project is read from the headers of each SDK") {
    const auto project = [](std::vector<net::Header> headers) {
        net::RequestHead head;
        head.headers = std::move(headers);
        return std::string(project_header(head));
    };
    CHECK(project({{"x-project-name", "shop"}, {"projectName", "other"}}) == "shop");
    CHECK(project({{"Langsmith-Project", "shop"}}) == "shop");
    CHECK(project({{"projectName", "shop"}}) == "shop");
    CHECK(project({{"project_id", "team/shop"}}) == "shop");
    CHECK(project({{"project_id", "shop"}}) == "shop");
    CHECK(project({{"x-langfuse-public-key", "shop"}}) == "shop");
    CHECK(project({{"x_langfuse_public_key", " shop "}}) == "shop");
    CHECK(project({{"x-langfuse-public-key", "pk-lf-0123"}}).empty());
    CHECK(project({{"x-langfuse-public-key", "other"}, {"x-project-name", "shop"}}) == "shop");
    CHECK(project({{"space_id", "U3BhY2U6MQ=="}, {"x-mlflow-experiment-id", "0"}}).empty());
}
