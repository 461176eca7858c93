// One thread's event loop, on Asio, which only loop.cpp includes. The edge waits here for sockets, for work posted by
// other threads and for one timer. post() and stop() may be called from any thread, the rest from the loop's own.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace hone::net {

enum class Ready { read, write };

// Receives events. Tokens instead of pointers: an event that was already queued when its connection closed then
// finds nothing, instead of a dangling object.
class LoopClient {
public:
    virtual ~LoopClient() = default;
    virtual void on_ready(uint64_t token, Ready ready) = 0;
    virtual void on_timer() = 0;
};

// Waits for one descriptor, which stays the caller's and must outlive this.
class Watch {
public:
    virtual ~Watch() = default;
    // One on_ready follows. At most one wait of each kind may be under way.
    virtual void wait(Ready ready) = 0;
};

class Loop {
public:
    static std::unique_ptr<Loop> create(LoopClient& client);
    virtual ~Loop() = default;

    // Runs until stop(); without events it sleeps without waking.
    virtual void run() = 0;
    virtual void stop() = 0;
    virtual void post(std::function<void()> work) = 0;
    virtual std::unique_ptr<Watch> watch(int descriptor, uint64_t token) = 0;
    // Replaces an earlier one.
    virtual void set_timer(Duration from_now) = 0;
};

} // namespace hone::net
