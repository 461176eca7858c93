#include "base/duty.h"

#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <semaphore>

using namespace hone;

namespace {

constexpr Duration duty_never = std::chrono::hours(24);

} // namespace

TEST_CASE("a duty takes its first step immediately and the next one when it is woken") {
    std::counting_semaphore<> stepped(0);
    Duty duty({"test", duty_never}, [&]() -> Result<> {
        stepped.release();
        return {};
    });
    duty.start();
    stepped.acquire();
    duty.wake();
    stepped.acquire();
    duty.stop();
    CHECK_FALSE(stepped.try_acquire());
}

TEST_CASE("a wake during a step leads to another step") {
    std::counting_semaphore<> begun(0), may_end(0);
    std::atomic<int> steps = 0;
    Duty duty({"test", duty_never}, [&]() -> Result<> {
        ++steps;
        begun.release();
        may_end.acquire();
        return {};
    });
    duty.start();
    begun.acquire();
    duty.wake();
    may_end.release();
    begun.acquire(); // the second step
    may_end.release();
    duty.stop();
    CHECK(steps == 2);
}

TEST_CASE("a duty continues immediately while a step requests it") {
    std::atomic<int> steps = 0;
    std::latch idle(1);
    Duty duty({"test", duty_never}, [&]() -> Result<Duration> {
        if (++steps < 5) return Duration::zero();
        idle.count_down();
        return duty_never;
    });
    duty.start();
    idle.wait();
    duty.stop();
    CHECK(steps == 5);
}

TEST_CASE("a failed step is retried after the period") {
    std::atomic<int> steps = 0;
    std::latch second(2);
    Duty duty({"test", std::chrono::milliseconds(1)}, [&]() -> Result<Duration> {
        if (++steps <= 2) second.count_down();
        return unavailable("test");
    });
    duty.start();
    second.wait();
    duty.stop();
    CHECK(steps >= 2);
}

TEST_CASE("stopping a duty waits for its step, and may be repeated or come without a start") {
    std::atomic<bool> is_over = false;
    std::latch begun(1);
    Duty duty({"test", duty_never}, [&]() -> Result<> {
        begun.count_down();
        std::this_thread::yield();
        is_over = true;
        return {};
    });
    duty.stop();
    duty.start();
    begun.wait();
    duty.stop();
    CHECK(is_over);
    duty.stop();
}

TEST_CASE("a wake reaches every thread of a duty") {
    std::counting_semaphore<> stepped(0);
    Duty duty({"test", duty_never, 3}, [&]() -> Result<> {
        stepped.release();
        return {};
    });
    duty.start();
    for (int i = 0; i < 3; ++i) stepped.acquire();
    duty.wake();
    for (int i = 0; i < 3; ++i) stepped.acquire();
    duty.stop();
    CHECK_FALSE(stepped.try_acquire());
}

TEST_CASE("a step of a duty can be taken without its thread") {
    int steps = 0;
    Duty duty({"test", std::chrono::seconds(7)}, [&]() -> Result<> {
        ++steps;
        return {};
    });
    const auto next = duty.step();
    REQUIRE(next.ok());
    CHECK(next.value() == std::chrono::seconds(7));
    CHECK(steps == 1);
}
