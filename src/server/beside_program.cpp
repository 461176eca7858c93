#include "server/beside_program.h"

#include <filesystem>

namespace hone::server {

std::string beside_program(const std::string& name) {
    std::error_code failed;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
    const std::filesystem::path place = program.parent_path() / name;
    return std::filesystem::exists(place, failed) ? std::filesystem::weakly_canonical(place, failed).string() : "";
}

} // namespace hone::server
