// Assembles a system call filter: a search tree over the numbers of the calls, whose leaves decide immediately or after
// a check of the arguments. Neighbours with the same result share a leaf, so the program is small and quick to load;
// the kernel loads it at every start of a sandbox. Plain functions of their arguments.
#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <map>
#include <vector>

namespace hone::sandbox {

// Instructions that end in a result on every path through them.
using FilterBlock = std::vector<sock_filter>;

FilterBlock return_action(uint32_t action);
// All 64 bits of the argument with this index, or its lower 32.
FilterBlock if_equal(unsigned argument, uint64_t value, const FilterBlock& then, const FilterBlock& otherwise);
FilterBlock if_greater(unsigned argument, uint32_t value, const FilterBlock& then, const FilterBlock& otherwise);
FilterBlock if_low_equal(unsigned argument, uint32_t value, const FilterBlock& then, const FilterBlock& otherwise);
// The lower 32 bits of the argument after `mask`.
FilterBlock if_low_masked(unsigned argument, uint32_t mask, uint32_t value, const FilterBlock& then,
                          const FilterBlock& otherwise);
// Whether any of these bits is set.
FilterBlock if_any_bit(unsigned argument, uint32_t bits, const FilterBlock& then, const FilterBlock& otherwise);

// What to do by number; a number that is not there gets `otherwise`. A call through another ABI kills the process.
std::vector<sock_filter> assemble_filter(const std::map<int, FilterBlock>& calls, const FilterBlock& otherwise);

} // namespace hone::sandbox
