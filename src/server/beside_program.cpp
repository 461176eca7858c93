#include "server/beside_program.h"

#include <filesystem>

namespace hone::server {

std::string beside_program(const std::string& name) {
    std::error_code failed;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
    const std::filesystem::path here = program.parent_path();
    for (const std::filesystem::path& place :
         {here / name, here / ".." / "share" / "hone" / name, here / ".." / ".." / name})
        if (std::filesystem::exists(place, failed)) return std::filesystem::weakly_canonical(place, failed);
    return {};
}

} // namespace hone::server
