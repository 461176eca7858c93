#include "kubernetes/link/mount_table.h"

#include "sandbox/provider/spec.h"

namespace hone::kubernetes {

Result<std::vector<TargetMount>> parse_targets(const std::vector<std::string>& words) {
    std::vector<TargetMount> mounts;
    for (const std::string& word : words) {
        if (!word.starts_with("d:") && !word.starts_with("f:")) return invalid("not a mount: " + word);
        if (!sandbox::is_clean_absolute_path(word.substr(2))) return invalid("not a path: " + word);
        mounts.push_back({word.front() == 'd', word.substr(2)});
    }
    return mounts;
}

std::string place_name(size_t index) {
    return "m" + std::to_string(index);
}

Result<std::string> place_of(const std::vector<TargetMount>& mounts, const std::string& path) {
    if (!sandbox::is_clean_absolute_path(path)) return invalid("not a path: " + path);
    size_t found = mounts.size();
    for (size_t i = 0; i < mounts.size(); ++i) {
        const std::string& target = mounts[i].target;
        const bool is_below = path == target || (mounts[i].is_folder && path.starts_with(target + "/"));
        if (is_below && (found == mounts.size() || target.size() > mounts[found].target.size())) found = i;
    }
    if (found == mounts.size()) return invalid("no mount of the pod has the path " + path);
    return std::string(files_volume) + "/" + place_name(found) + path.substr(mounts[found].target.size());
}

} // namespace hone::kubernetes
