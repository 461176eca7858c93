#include "grpc/grpc_server.h"

#include <doctest/doctest.h>
#include <future>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <latch>
#include <mutex>

using namespace hone;
using namespace hone::grpc_bytes;
using namespace std::chrono_literals;

namespace {

struct Reply {
    grpc::Status status;
    std::string message;
};

// One unary call by the real gRPC client.
Reply call(const std::string& address, const std::string& method, const std::string& message,
           const std::vector<std::pair<std::string, std::string>>& metadata = {}, bool gzip = false) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(64 << 20);
    auto channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
    grpc::GenericStub stub(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 20s);
    for (const auto& [name, value] : metadata) context.AddMetadata(name, value);
    if (gzip) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    const grpc::Slice slice(message);
    grpc::ByteBuffer request(&slice, 1), response;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                   [&](grpc::Status status) { done.set_value(std::move(status)); });
    Reply reply{done.get_future().get(), {}};
    std::vector<grpc::Slice> slices;
    if (reply.status.ok() && response.Dump(&slices).ok())
        for (const auto& each : slices) reply.message.append(reinterpret_cast<const char*>(each.begin()), each.size());
    return reply;
}

} // namespace

TEST_CASE("a unary call brings its bytes, metadata and peer, and takes bytes back") {
    auto server = GrpcServer::start({.address = "127.0.0.1:0"}, [](const GrpcCall& call) {
                      return GrpcResponse{GrpcCode::ok, "",
                                          call.method + "|" + std::string(call.header("x-project-name")) + "|" +
                                              call.peer + "|" + std::to_string(call.message.size()),
                                          0};
                  }).value();
    for (const bool gzip : {false, true}) {
        const Reply reply =
            call(server->address(), "/a.B/C", std::string(3'000'000, 'x'), {{"x-project-name", "shop"}}, gzip);
        CHECK(reply.status.ok());
        CHECK(reply.message == "/a.B/C|shop|127.0.0.1|3000000");
    }
}

TEST_CASE("a refusal carries its code, text and when to try again") {
    auto server = GrpcServer::start({.address = "127.0.0.1:0"}, [](const GrpcCall& call) {
                      if (call.message == "throw") throw std::runtime_error("no");
                      return GrpcResponse{GrpcCode::resource_exhausted, "log full", "", 7};
                  }).value();
    const Reply full = call(server->address(), "/a.B/C", "x");
    CHECK(full.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(full.status.error_message() == "log full");
    CHECK(full.status.error_details().find("google.rpc.RetryInfo") != std::string::npos);
    CHECK(full.status.error_details().substr(0, 2) == "\x08\x08");
    CHECK(call(server->address(), "/a.B/C", "throw").status.error_code() == grpc::StatusCode::INTERNAL);
}

TEST_CASE("a message over the limit and a full pool are refused") {
    std::latch inside(1), leave(1);
    GrpcOptions options{.address = "127.0.0.1:0"};
    options.threads = 1;
    options.queue = 1;
    options.largest_message = 1000;
    auto server = GrpcServer::start(options, [&](const GrpcCall& each) {
                      if (each.message == "wait") {
                          inside.count_down();
                          leave.wait();
                      }
                      return GrpcResponse{GrpcCode::ok, "", "done", 0};
                  }).value();
    CHECK(call(server->address(), "/a.B/C", std::string(2000, 'x')).status.error_code() ==
          grpc::StatusCode::RESOURCE_EXHAUSTED);
    auto first = std::async(std::launch::async, [&] { return call(server->address(), "/a.B/C", "wait"); });
    inside.wait();
    // One runs, one may wait, more are refused: of three more at least one is.
    std::vector<std::future<Reply>> more;
    for (int i = 0; i < 3; ++i)
        more.push_back(std::async(std::launch::async, [&] { return call(server->address(), "/a.B/C", "x"); }));
    bool refused = false;
    for (int tries = 0; tries < 400 && !refused; ++tries)
        for (auto& each : more)
            if (each.valid() && each.wait_for(25ms) == std::future_status::ready)
                refused = each.get().status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED || refused;
    CHECK(refused);
    leave.count_down();
    CHECK(first.get().message == "done");
    for (auto& each : more)
        if (each.valid()) each.get();
}

TEST_CASE("draining lets a running call finish, and a taken port is refused") {
    std::latch inside(1), leave(1);
    auto server = GrpcServer::start({.address = "127.0.0.1:0"}, [&](const GrpcCall&) {
                      inside.count_down();
                      leave.wait();
                      return GrpcResponse{GrpcCode::ok, "", "done", 0};
                  }).value();
    CHECK(GrpcServer::start({.address = server->address()}, [](const GrpcCall&) { return GrpcResponse{}; })
              .error()
              .code == Code::unavailable);
    auto running = std::async(std::launch::async, [&] { return call(server->address(), "/a.B/C", "x"); });
    inside.wait();
    auto drained = std::async(std::launch::async, [&] { server->drain(20s); });
    leave.count_down();
    CHECK(running.get().message == "done");
    drained.get();
}
