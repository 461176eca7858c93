// The harnesses Hone knows, declared once: how each is installed, started and which model protocols it speaks.
// Values only; any thread.
#pragma once

#include "base/result.h"
#include "harness/driver.h"

#include <array>
#include <memory>
#include <span>
#include <string_view>

namespace hone::harness {

struct Harness {
    std::string_view name; // claude-code
    std::string_view title;
    std::string_view package;    // npm package; empty: nothing to install
    std::string_view executable; // below the harness layer
    std::string_view protocols;  // model protocols it can use, best first, space-separated; empty: needs no model
    bool live_follow_up = true;  // takes a prompt while it runs
    bool resumes = true;         // goes on in a new sandbox
};

std::span<const Harness> catalog();
// Null when there is none of that name.
const Harness* find(std::string_view name);
bool speaks(const Harness& harness, std::string_view protocol);
std::unique_ptr<Driver> make_driver(const Harness& harness);

} // namespace hone::harness
