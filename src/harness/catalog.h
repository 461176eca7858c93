// The harnesses of Hone, declared once: how each is installed and started, and its model protocols.
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
    bool resumes = true;         // continues in a new sandbox
    int node = 0;                // major version of Node.js that it needs, brought along; 0: none
    // Of a program that unpacks itself at its first start: the variables, separated by spaces, with which it only
    // unpacks. It is done once, when it is installed.
    std::string_view unpack = "";
};

std::span<const Harness> catalog();
// Where Copilot finds itself unpacked, inside a sandbox.
constexpr std::string_view copilot_unpacked = "/opt/harness/unpacked";
// npm package with the Node.js of this machine's architecture, and the program in it.
std::string_view node_package();
std::string node_program(); // below the harness layer
// Null when there is none of that name.
const Harness* find(std::string_view name);
bool supports(const Harness& harness, std::string_view protocol);
std::unique_ptr<Driver> make_driver(const Harness& harness);

} // namespace hone::harness
