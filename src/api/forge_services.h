// What the API needs of repositories. Built once by server/; thread-safe.
#pragma once

#include "forge/mirrors.h"
#include "forge/repos.h"

namespace hone::api {

struct ForgeServices {
    forge::Repos& repos;
    forge::Mirrors* mirrors = nullptr; // null: this machine cannot isolate, so nothing is fetched
};

} // namespace hone::api
