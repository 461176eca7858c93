#include "ui/ui.h"

std::span<const hone::net::StaticFile> embedded_ui(); // made by tools/embed.py

namespace hone::ui {

std::span<const net::StaticFile> files() {
    return embedded_ui();
}

} // namespace hone::ui
