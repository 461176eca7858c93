#include "net/server.h"

#include "net/client/client.h"
#include "net/testing/raw_client.h"

#include <atomic>
#include <set>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

TEST_CASE("the handler serves a request on a lane") {
    LambdaHandler handler;
    std::thread::id planned, handled;
    handler.on_plan = [&](const RequestHead& head) {
        planned = std::this_thread::get_id();
        CHECK(head.method == "POST");
        CHECK(head.target == "/a/b?x=1");
        CHECK(head.path == "/a/b");
        CHECK(head.query == "x=1");
        CHECK(head.peer == "127.0.0.1");
        CHECK(head.header("x-thing") == "yes");
        CHECK(head.cookie("session") == "abc");
        CHECK(head.id.starts_with("req_"));
        CHECK_FALSE(head.tls);
        return Plan{std::nullopt, Lane::query, std::nullopt, false, nullptr};
    };
    handler.on_handle = [&](Request&& request) {
        handled = std::this_thread::get_id();
        Response response = json_response(201, "{\"got\":\"" + request.body + "\"}");
        response.set_header("X-Own", "1");
        return response;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("POST /a/b?x=1 HTTP/1.1\r\nHost: test\r\nX-Thing:  yes \r\nCookie: a=b; session=abc\r\nContent-Length: "
                "5\r\n\r\nhello");
    RawResponse response = client.read_response();
    CHECK(response.status == 201);
    CHECK(response.body == "{\"got\":\"hello\"}");
    CHECK(response.headers["content-type"] == "application/json");
    CHECK(response.headers["x-own"] == "1");
    CHECK(response.headers["x-request-id"].starts_with("req_"));
    CHECK(response.headers["date"].ends_with("GMT"));
    CHECK_FALSE(response.headers.contains("connection"));
    CHECK(planned != handled);
    CHECK(server->counts().requests == 1);
}

TEST_CASE("a plan can respond immediately, and the connection stays open") {
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead& head) {
        Plan plan;
        plan.response = text_response(200, "inline " + head.path);
        return plan;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    CHECK(client.get("/1").body == "inline /1");
    client.send("POST /2 HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc");
    CHECK(client.read_response().body == "inline /2");
    CHECK(client.get("/3").body == "inline /3");
    CHECK(server->counts().connections_accepted == 1);
}

TEST_CASE("a client's plain request id is kept, a strange one is not") {
    LambdaHandler handler;
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    CHECK(client.get("/", "X-Request-Id: my-id.42\r\n").headers["x-request-id"] == "my-id.42");
    CHECK(client.get("/", "X-Request-Id: <script>\r\n").headers["x-request-id"].starts_with("req_"));
    CHECK(
        client.get("/", "X-Request-Id: " + std::string(200, 'a') + "\r\n").headers["x-request-id"].starts_with("req_"));
}

TEST_CASE("pipelined requests are served in order") {
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead& head) {
        Plan plan;
        if (head.path.ends_with("3")) plan.response = text_response(200, "GET " + head.path + " ");
        return plan;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    std::string all;
    for (int i = 0; i < 50; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: test\r\n\r\n";
    client.send(all);
    for (int i = 0; i < 50; ++i) CHECK(client.read_response().body == "GET /" + std::to_string(i) + " ");
}

TEST_CASE("thousands of pipelined requests with inline responses do not pile up in memory") {
    LambdaHandler handler;
    const std::string large(20'000, 'x');
    handler.on_plan = [&](const RequestHead&) {
        Plan plan;
        plan.response = text_response(200, large);
        return plan;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    std::string all;
    for (int i = 0; i < 2000; ++i) all += "GET / HTTP/1.1\r\nHost: t\r\n\r\n";
    std::thread sender([&] { client.send(all); });
    for (int i = 0; i < 2000; ++i) REQUIRE(client.read_response().body.size() == large.size());
    sender.join();
}

TEST_CASE("a request that arrives byte by byte is understood") {
    LambdaHandler handler;
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    for (const char c : std::string("POST /slow HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
                                    "chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n"))
        client.send(std::string(1, c));
    CHECK(client.read_response().body == "POST /slow abcde");
    CHECK(client.get("/next").body == "GET /next ");
}

TEST_CASE("a client that half closes after its request still gets the response") {
    LambdaHandler handler;
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("GET /x HTTP/1.1\r\nHost: t\r\n\r\n");
    client.half_close();
    CHECK(client.read_response().body == "GET /x ");
    CHECK(client.is_ended());
}

TEST_CASE("a client that disconnects in the middle of a request leaves nothing behind") {
    LambdaHandler handler;
    auto server = start_server(handler);
    for (const char* part :
         {"", "GET ", "GET / HTTP/1.1\r\nHost: t\r\n", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc"}) {
        RawClient client(server->addresses()[0]);
        client.send(part);
        CHECK(eventually([&] { return server->counts().connections_open == 1; }));
        client.close();
        CHECK(eventually([&] { return server->counts().connections_open == 0; }));
    }
    CHECK(server->counts().body_memory == 0);
}

TEST_CASE("HEAD has the length and no body") {
    LambdaHandler handler;
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("HEAD /x HTTP/1.1\r\nHost: t\r\n\r\n");
    RawResponse response = client.read_response(true);
    CHECK(response.status == 200);
    CHECK(response.headers["content-length"] == "8");
    CHECK(client.get("/y").body == "GET /y ");
}

TEST_CASE("HTTP/1.0 and Connection: close end the connection, keep-alive is honoured") {
    LambdaHandler handler;
    auto server = start_server(handler);
    {
        RawClient client(server->addresses()[0]);
        client.send("GET / HTTP/1.0\r\n\r\n");
        RawResponse response = client.read_response();
        CHECK(response.status == 200);
        CHECK(response.headers["connection"] == "close");
        CHECK(client.is_ended());
    }
    {
        RawClient client(server->addresses()[0]);
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        CHECK(client.read_response().headers["connection"] == "keep-alive");
        CHECK(client.get("/2").status == 200);
    }
    RawClient client(server->addresses()[0]);
    CHECK(client.get("/", "Connection: close\r\n").headers["connection"] == "close");
    CHECK(client.is_ended());
}

TEST_CASE("Expect: 100-continue gets its response before the body, or is rejected without it") {
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead& head) {
        Plan plan;
        plan.body_limit = 10;
        if (head.path == "/no") plan.response = error_response(403, "forbidden", "no");
        return plan;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("POST /yes HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.read_response().status == 100);
    client.send("abc");
    CHECK(client.read_response().body == "POST /yes abc");
    client.send("POST /no HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.read_response().status == 403);
    CHECK(client.is_ended());
    RawClient large(server->addresses()[0]);
    large.send("POST /yes HTTP/1.1\r\nHost: t\r\nContent-Length: 30\r\nExpect: 100-continue\r\n\r\n");
    CHECK(large.read_response().status == 413);
    RawClient strange(server->addresses()[0]);
    strange.send("POST /yes HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: a-pony\r\n\r\n");
    CHECK(strange.read_response().status == 417);
}

TEST_CASE("a handler that throws becomes a 500 that names the request") {
    LambdaHandler handler;
    handler.on_handle = [](Request&&) -> Response { throw std::runtime_error("secret detail"); };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    RawResponse response = client.get("/");
    CHECK(response.status == 500);
    CHECK(response.body.find("secret detail") == std::string::npos);
    CHECK(response.body.find(response.headers["x-request-id"]) != std::string::npos);
    CHECK(client.get("/again").status == 500);
    handler.on_plan = [](const RequestHead&) -> Plan { throw 42; };
    CHECK(client.get("/").status == 500);
}

TEST_CASE("a header with a line break from a handler cannot split the response") {
    LambdaHandler handler;
    handler.on_handle = [](Request&&) {
        Response response = text_response(200, "ok");
        response.set_header("X-Bad", "a\r\nSet-Cookie: stolen=1");
        response.set_header("X-Good", "yes");
        return response;
    };
    auto server = start_server(handler);
    RawResponse response = RawClient(server->addresses()[0]).get("/");
    CHECK(response.headers["x-good"] == "yes");
    CHECK_FALSE(response.headers.contains("x-bad"));
    CHECK_FALSE(response.headers.contains("set-cookie"));
}

TEST_CASE("a full lane returns 503 with Retry-After while other lanes work") {
    LambdaHandler handler;
    Gate gate;
    std::atomic<int> running = 0;
    handler.on_plan = [](const RequestHead& head) {
        Plan plan;
        plan.lane = head.path == "/query" ? Lane::query : Lane::ingest;
        return plan;
    };
    handler.on_handle = [&](Request&& request) {
        if (request.path == "/block") {
            ++running;
            gate.wait();
        }
        return text_response(200, "done");
    };
    ServerOptions options = test_options();
    options.lanes[static_cast<size_t>(Lane::ingest)] = {1, 2};
    auto server = start_server(handler, options);
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<RawClient>(server->addresses()[0]));
        clients.back()->send("GET /block HTTP/1.1\r\nHost: t\r\n\r\n");
        CHECK(eventually([&] {
            const auto lane = server->counts().lanes[static_cast<size_t>(Lane::ingest)];
            return lane.queued + lane.running == size_t(i) + 1;
        }));
    }
    RawClient late(server->addresses()[0]);
    RawResponse refused = late.get("/block");
    CHECK(refused.status == 503);
    CHECK(refused.headers["retry-after"] == "1");
    CHECK(refused.body.find("\"error\"") != std::string::npos);
    CHECK(late.get("/query").status == 200);
    CHECK(server->counts().requests_busy == 1);
    gate.open();
    for (auto& client : clients) CHECK(client->read_response().status == 200);
    CHECK(late.get("/block").status == 200);
}

TEST_CASE("what the edge refuses later is in the form that the plan gives it") {
    LambdaHandler handler;
    Gate gate;
    handler.on_plan = [](const RequestHead&) {
        Plan plan;
        plan.lane = Lane::ingest;
        plan.body_limit = 100;
        plan.refusal = [](Response response) {
            response.body = "theirs " + std::to_string(response.status);
            return response;
        };
        return plan;
    };
    handler.on_handle = [&](Request&&) {
        gate.wait();
        return text_response(200, "done");
    };
    ServerOptions options = test_options();
    options.lanes[static_cast<size_t>(Lane::ingest)] = {1, 1};
    auto server = start_server(handler, options);
    RawClient large(server->addresses()[0]);
    large.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nc8\r\n" + std::string(200, 'a'));
    CHECK(large.read_response().body == "theirs 413");
    std::vector<std::unique_ptr<RawClient>> clients;
    for (size_t i = 0; i < 2; ++i) {
        clients.push_back(std::make_unique<RawClient>(server->addresses()[0]));
        clients.back()->send("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
        CHECK(eventually([&] {
            const auto lane = server->counts().lanes[static_cast<size_t>(Lane::ingest)];
            return lane.queued + lane.running == i + 1;
        }));
    }
    RawResponse busy = RawClient(server->addresses()[0]).get("/");
    CHECK(busy.body == "theirs 503");
    CHECK(busy.headers["retry-after"] == "1");
    gate.open();
    for (auto& client : clients) CHECK(client->read_response().status == 200);
}

TEST_CASE("several listeners, IPv6 included, serve the same handler") {
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.listen = {{"127.0.0.1:0", "", ""}, {"[::1]:0", "", ""}, {"localhost:0", "", ""}};
    auto server = start_server(handler, options);
    const auto addresses = server->addresses();
    REQUIRE(addresses.size() == 3);
    CHECK(addresses[1].starts_with("[::1]:"));
    for (const auto& address : addresses) CHECK(RawClient(address).get("/").status == 200);
}

TEST_CASE("a taken or senseless address is an error that names it") {
    LambdaHandler handler;
    auto server = start_server(handler);
    ServerOptions options = test_options();
    options.listen = {{server->addresses()[0], "", ""}};
    const auto second = Server::start(options, handler);
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().message.find(server->addresses()[0]) != std::string::npos);
    options.listen = {{"nonsense", "", ""}};
    CHECK_FALSE(Server::start(options, handler).ok());
}

TEST_CASE("connections above the limits get a response and are closed") {
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.limits.max_connections_per_peer = 2;
    auto server = start_server(handler, options);
    RawClient first(server->addresses()[0]);
    CHECK(first.get("/").status == 200);
    auto second = std::make_unique<RawClient>(server->addresses()[0]);
    CHECK(second->get("/").status == 200);
    RawClient third(server->addresses()[0]);
    RawResponse refused = third.read_response();
    CHECK(refused.status == 503);
    CHECK(refused.body.ends_with("}}"));
    CHECK(third.is_ended());
    CHECK(server->counts().connections_refused == 1);
    second.reset();
    CHECK(eventually([&] { return server->counts().connections_open == 1; }));
    CHECK(RawClient(server->addresses()[0]).get("/").status == 200);
}

TEST_CASE("destroying a server with connections in every state is prompt and safe") {
    LambdaHandler handler;
    std::shared_ptr<EventStream> events;
    Gate has_events, reading;
    handler.on_plan = [](const RequestHead& head) {
        Plan plan;
        plan.stream_body = head.path == "/upload";
        return plan;
    };
    handler.on_handle = [&](Request&& request) {
        Response response = text_response(200, "ok");
        if (request.path == "/events")
            response.on_events = [&](std::shared_ptr<EventStream> stream) {
                events = std::move(stream);
                has_events.open();
            };
        if (request.path == "/upload") {
            CHECK(request.body_stream->read().ok());
            reading.open();
            while (request.body_stream->read().ok()) {
            }
        }
        return response;
    };
    auto server = start_server(handler);
    RawClient idle(server->addresses()[0]), half(server->addresses()[0]), body(server->addresses()[0]);
    RawClient upload(server->addresses()[0]), follower(server->addresses()[0]);
    CHECK(idle.get("/").status == 200);
    half.send("GET / HT");
    body.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
    upload.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
    follower.send("GET /events HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(has_events.wait());
    CHECK(reading.wait());
    bool closed = false;
    events->on_close([&] { closed = true; });
    server.reset();
    CHECK(closed);
    CHECK_FALSE(events->send("a", "1", "x"));
    CHECK(idle.is_ended());
    CHECK(half.is_ended());
}

TEST_CASE("a query is cancelled when its client disconnects, not before") {
    LambdaHandler handler;
    std::atomic<int> asked{0}, abandoned{0};
    handler.on_plan = [](const RequestHead& head) {
        Plan plan;
        plan.lane = head.path == "/write" ? Lane::control : Lane::query;
        return plan;
    };
    handler.on_handle = [&](Request&& request) {
        if (!request.gone) return text_response(200, "not a query");
        ++asked;
        pollfd disconnect{request.gone->descriptor(), POLLIN, 0};
        const bool stays = request.path == "/short";
        if (::poll(&disconnect, 1, stays ? 600 : 20'000) == 0) return text_response(200, "still connected");
        abandoned += request.gone->is_cancelled();
        return text_response(200, "late");
    };
    auto server = start_server(handler);
    const std::string address = server->addresses()[0];
    RawClient patient(address);
    CHECK(patient.get("/write").body == "not a query");
    CHECK(patient.get("/short").body == "still connected");
    CHECK(patient.get("/short").body == "still connected");
    CHECK(abandoned == 0);

    const auto leave = [&](std::string_view sent) {
        const int before = asked;
        RawClient client(address);
        client.send(sent);
        REQUIRE(eventually([&] { return asked > before; }));
    };
    leave("GET /long HTTP/1.1\r\nHost: test\r\n\r\n");
    CHECK(eventually([&] { return abandoned == 1; }));
    leave("GET /long HTTP/1.1\r\nHost: test\r\n\r\nGET /next HTTP/1.1\r\n"); // with bytes that are not read
    CHECK(eventually([&] { return abandoned == 2; }));
    CHECK(patient.get("/short").body == "still connected");
}
