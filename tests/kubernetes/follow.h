// The command `follow` of kubernetes_client: one watch, as a server has it, of many pods that come and go.
#pragma once

#include "kubernetes/api/api.h"

#include <string>

namespace hone::kubernetes {

struct FollowOptions {
    std::string name_space;
    std::string installation; // whose pods are made and watched
    std::string image;
    std::string node_label, node_value; // of the nodes that may have them
};
// Lines of the standard input are requests, each with one line of output:
// {"do":"create","count":1000,"wall_clock_ms":3600000}  → their names, and how long until each was ready or had ended
// {"do":"delete","names":["…"]}                         → how long until the watch reported each
// {"do":"report","names":["…"]}                         → how many of these exist, what was reported, memory
Result<int> follow(Api& api, const FollowOptions& options);

} // namespace hone::kubernetes
