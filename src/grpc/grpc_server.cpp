#include "grpc/grpc_server.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "net/lane.h"

#undef GUARDED_BY // grpc++ brings one of its own, with the same meaning
#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

namespace hone::grpc_bytes {

namespace {

std::string bytes_of(const grpc::ByteBuffer& buffer) {
    std::vector<grpc::Slice> slices;
    std::string bytes;
    if (!buffer.Dump(&slices).ok()) return bytes;
    bytes.reserve(buffer.Length());
    for (const auto& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return bytes;
}

// Messages of the library are debug lines of our log: callers report failures.
void log_of_library(gpr_log_func_args* args) {
    log(Level::debug, "gRPC", {{"message", std::string(args->message)}});
}

// "ipv4:127.0.0.1:51234", "ipv6:%5B::1%5D:51234" -> the address alone.
std::string address_of_peer(const std::string& peer) {
    const auto decoded = percent_decode(peer);
    std::string text = decoded.ok() ? decoded.value() : peer;
    text.erase(0, text.find(':') + 1);
    text.erase(std::min(text.rfind(':'), text.size()));
    if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
    return text;
}

// One length-delimited field of protobuf; lengths here are below 128.
std::string field(int number, const std::string& content) {
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(content.size()) + content;
}

std::string varint(uint64_t value) {
    std::string bytes;
    for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
    return bytes + static_cast<char>(value);
}

// google.rpc.Status { code, details: [ Any { google.rpc.RetryInfo { retry_delay { seconds } } } ] }
std::string retry_details(GrpcCode code, int seconds) {
    const std::string delay = std::string(1, '\x08') + varint(static_cast<uint64_t>(seconds));
    const std::string any = field(1, "type.googleapis.com/google.rpc.RetryInfo") + field(2, field(1, delay));
    return std::string(1, '\x08') + varint(static_cast<uint64_t>(code)) + field(3, any);
}

class Service;

// One call, from its first byte to its end. gRPC calls the On… functions one at a time on its own threads; the
// handler runs on the pool and only starts the response. Deletes itself when gRPC is done with it.
class Reactor final : public grpc::ServerGenericBidiReactor {
public:
    Reactor(Service& service, grpc::GenericCallbackServerContext& context) : m_service(service), m_context(context) {
        StartRead(&m_request);
    }
    void OnReadDone(bool ok) override;
    void OnWriteDone(bool) override {}
    void OnDone() override { delete this; }

    GrpcCall take_call();
    void respond(GrpcResponse response);

private:
    Service& m_service;
    grpc::GenericCallbackServerContext& m_context;
    grpc::ByteBuffer m_request;
    grpc::ByteBuffer m_reply;
};

class Service final : public grpc::CallbackGenericService {
public:
    Service(const GrpcOptions& options, GrpcHandler handler)
        : m_handler(std::move(handler)),
          m_pool({options.threads, options.queue}) {}

    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
        return new Reactor(*this, *context);
    }

    void handle(Reactor& reactor) {
        class Job final : public net::Task {
        public:
            Job(Service& owner, Reactor& call) : m_owner(owner), m_call(&call) {}
            // A job that the stopping pool drops still needs a response for its caller.
            ~Job() override {
                if (m_call != nullptr) m_call->respond({GrpcCode::unavailable, "the server is stopping", {}, 1});
            }
            void run() override {
                Reactor* call = std::exchange(m_call, nullptr);
                GrpcResponse response;
                try {
                    response = m_owner.m_handler(call->take_call());
                } catch (const std::exception& thrown) {
                    log(Level::error, "gRPC call failed", {{"why", thrown.what()}});
                    response = {GrpcCode::internal, "internal error", {}, 0};
                }
                call->respond(std::move(response));
            }
            void forget() { m_call = nullptr; }

        private:
            Service& m_owner;
            Reactor* m_call;
        };
        auto made = std::make_unique<Job>(*this, reactor);
        Job* job = made.get();
        std::unique_ptr<net::Task> task = std::move(made);
        if (m_pool.submit(task)) return;
        job->forget();
        reactor.respond({GrpcCode::resource_exhausted, "the server is busy", {}, 1});
    }

    void stop() { m_pool.stop(); }

private:
    const GrpcHandler m_handler;
    net::LanePool m_pool;
};

void Reactor::OnReadDone(bool ok) {
    if (!ok) return respond({GrpcCode::invalid_argument, "the call carries no message", {}, 0});
    m_service.handle(*this);
}

GrpcCall Reactor::take_call() {
    GrpcCall call;
    call.method = m_context.method();
    call.peer = address_of_peer(m_context.peer());
    for (const auto& [name, value] : m_context.client_metadata())
        call.metadata.emplace_back(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
    call.message = bytes_of(m_request);
    m_request.Clear();
    return call;
}

void Reactor::respond(GrpcResponse response) {
    if (response.code == GrpcCode::ok) {
        const grpc::Slice slice(response.message);
        m_reply = grpc::ByteBuffer(&slice, 1);
        StartWriteAndFinish(&m_reply, grpc::WriteOptions(), grpc::Status::OK);
        return;
    }
    const std::string details =
        response.retry_after_seconds > 0 ? retry_details(response.code, response.retry_after_seconds) : "";
    Finish(grpc::Status(static_cast<grpc::StatusCode>(response.code), response.text, details));
}

class BytesServer final : public GrpcServer {
public:
    BytesServer(const GrpcOptions& options, GrpcHandler handler) : m_service(options, std::move(handler)) {}
    ~BytesServer() override { drain(std::chrono::nanoseconds(0)); }

    Result<> open(const GrpcOptions& options) {
        std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
        if (!options.certificate_file.empty()) {
            grpc::SslServerCredentialsOptions tls;
            std::string key = TRY(read_file(options.key_file));
            std::string certificate = TRY(read_file(options.certificate_file));
            tls.pem_key_cert_pairs.push_back({std::move(key), std::move(certificate)});
            credentials = grpc::SslServerCredentials(tls);
        }
        grpc::ResourceQuota quota("otlp");
        quota.SetMaxThreads(8);
        gpr_set_log_function(&log_of_library);
        grpc::ServerBuilder builder;
        int port = 0;
        builder.AddListeningPort(options.address, credentials, &port);
        builder.SetMaxReceiveMessageSize(options.largest_message);
        builder.SetResourceQuota(quota);
        builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
        builder.RegisterCallbackGenericService(&m_service);
        m_server = builder.BuildAndStart();
        if (m_server == nullptr || port == 0)
            return unavailable("cannot listen on " + options.address + " for gRPC: is the port taken?");
        m_address = options.address.substr(0, options.address.rfind(':') + 1) + std::to_string(port);
        return {};
    }

    const std::string& address() const override { return m_address; }

    void drain(std::chrono::nanoseconds patience) override {
        if (m_server == nullptr) return;
        // Calls that wait for the pool get their response from it, so the pool stops last.
        m_server->Shutdown(std::chrono::system_clock::now() + patience);
        m_service.stop();
        m_server->Wait();
        m_server.reset();
    }

private:
    Service m_service;
    std::unique_ptr<grpc::Server> m_server;
    std::string m_address;
};

} // namespace

std::string_view GrpcCall::header(std::string_view name) const {
    for (const auto& [key, value] : metadata)
        if (key == name) return value;
    return {};
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcOptions& options, GrpcHandler handler) {
    auto server = std::make_unique<BytesServer>(options, std::move(handler));
    TRY(server->open(options));
    return std::unique_ptr<GrpcServer>(std::move(server));
}

} // namespace hone::grpc_bytes
