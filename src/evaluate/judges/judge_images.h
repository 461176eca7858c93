// Images of a document in the request of a model, in the words of its provider. Pure; any thread.
#pragma once

#include "evaluate/content/files.h"

namespace hone::evaluate {

constexpr int64_t largest_judge_image = int64_t{5} << 20; // what providers take
constexpr size_t most_judge_images = 10;

// Why a model cannot get these files; empty: it can.
std::string refused_files(const std::vector<const GivenFile*>& files);

// The body of a request with the images at the end of its last message of a user.
Result<std::string> with_images(std::string_view protocol, const std::string& body,
                                const std::vector<const GivenFile*>& images);

} // namespace hone::evaluate
