// The web UI's files, embedded at build time from web/out (or, with -DUI=OFF, one page that states this). Any thread.
#pragma once

#include "net/static_files.h"

namespace hone::ui {

std::span<const net::StaticFile> files(); // sorted by path

} // namespace hone::ui
