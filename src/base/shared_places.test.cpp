#include "base/shared_places.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

namespace hone {

TEST_CASE("lanes have half of the places, and only those that runs do not need") {
    SharedPlaces places(8);
    int64_t runs = 0;
    int freed = 0;
    places.set_runs([&]() -> Result<int64_t> { return runs; }, [&] { ++freed; });
    // Tries once: the second question whether it has ended is answered with yes.
    const auto try_take = [&] {
        int asked = 0;
        return places.take([&] { return asked++ > 0; });
    };
    for (int i = 0; i < 4; ++i) CHECK(try_take());
    CHECK_FALSE(try_take());
    CHECK(places.lanes() == 4);
    CHECK(places.claim([](int64_t lanes) { return lanes; }) == 4);
    places.give();
    CHECK(freed == 1);
    runs = 5; // with three lanes all are taken
    CHECK_FALSE(try_take());
    runs = 4;
    CHECK(try_take());
    for (int i = 0; i < 4; ++i) places.give();
    runs = 8;
    CHECK_FALSE(try_take());
    CHECK(places.lanes() == 0);
    // What cannot be counted counts as full.
    places.set_runs([]() -> Result<int64_t> { return unavailable("no database"); }, {});
    CHECK_FALSE(try_take());
}

TEST_CASE("one place alternates between runs and lanes, and runs go first") {
    SharedPlaces places(1);
    std::atomic<int64_t> runs = 1;
    places.set_runs([&]() -> Result<int64_t> { return runs.load(); }, {});
    std::atomic<bool> began = false;
    std::jthread lane([&] {
        began = places.take([] { return false; });
        places.give();
    });
    CHECK(places.lanes() == 0);
    CHECK_FALSE(began);
    runs = 0;
    lane.join();
    CHECK(began);
    CHECK(places.lanes() == 0);
}

} // namespace hone
