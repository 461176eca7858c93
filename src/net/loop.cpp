#include "net/loop.h"

// ThreadSanitizer does not know memory fences. Asio's are an addition to its locks, which order everything here.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace hone::net {

namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

class AsioWatch final : public Watch {
public:
    AsioWatch(asio::io_context& context, LoopClient& client, int descriptor, uint64_t token)
        : m_descriptor(context, descriptor),
          m_client(client),
          m_token(token) {}
    ~AsioWatch() override { m_descriptor.release(); } // the socket is not ours to close

    void wait(Ready ready) override {
        const auto kind = ready == Ready::read ? Descriptor::wait_read : Descriptor::wait_write;
        m_descriptor.async_wait(kind,
                                [client = &m_client, token = m_token, ready](const boost::system::error_code& failed) {
                                    if (!failed) client->on_ready(token, ready);
                                });
    }

private:
    Descriptor m_descriptor;
    LoopClient& m_client;
    uint64_t m_token;
};

class AsioLoop final : public Loop {
public:
    explicit AsioLoop(LoopClient& client)
        : m_client(client),
          m_context(1),
          m_work(asio::make_work_guard(m_context)),
          m_timer(m_context) {}

    void run() override { m_context.run(); }
    void stop() override { m_context.stop(); }
    void post(std::function<void()> work) override { asio::post(m_context, std::move(work)); }
    std::unique_ptr<Watch> watch(int descriptor, uint64_t token) override {
        return std::make_unique<AsioWatch>(m_context, m_client, descriptor, token);
    }
    void set_timer(Duration from_now) override {
        m_timer.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(from_now));
        m_timer.async_wait([client = &m_client](const boost::system::error_code& failed) {
            if (!failed) client->on_timer();
        });
    }

private:
    LoopClient& m_client;
    asio::io_context m_context;
    asio::executor_work_guard<asio::io_context::executor_type> m_work;
    asio::steady_timer m_timer;
};

} // namespace

std::unique_ptr<Loop> Loop::create(LoopClient& client) {
    return std::make_unique<AsioLoop>(client);
}

} // namespace hone::net
