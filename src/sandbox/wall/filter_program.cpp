#include "sandbox/wall/filter_program.h"

#include "base/result.h"

#include <algorithm>
#include <cstddef>
#include <linux/audit.h>
#include <linux/seccomp.h>

namespace hone::sandbox {

namespace {

#if defined(__x86_64__)
constexpr uint32_t native_abi = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t native_abi = AUDIT_ARCH_AARCH64;
#else
#error "which ABI do system calls use here?"
#endif

constexpr size_t farthest_jump = 255;

sock_filter load_word(size_t offset) {
    return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)};
}

sock_filter load_low(unsigned argument) {
    return load_word(offsetof(seccomp_data, args) + argument * sizeof(uint64_t)); // little-endian
}

sock_filter load_high(unsigned argument) {
    return load_word(offsetof(seccomp_data, args) + argument * sizeof(uint64_t) + sizeof(uint32_t));
}

// Skips so many instructions when the test holds, so many when it does not.
sock_filter jump_if(uint16_t operation, uint32_t value, size_t if_true, size_t if_false) {
    CHECK_OR_ABORT(if_true <= farthest_jump && if_false <= farthest_jump);
    return {static_cast<uint16_t>(BPF_JMP | BPF_K | operation), static_cast<uint8_t>(if_true),
            static_cast<uint8_t>(if_false), value};
}

FilterBlock join_blocks(FilterBlock head, const FilterBlock& then, const FilterBlock& otherwise) {
    head.insert(head.end(), then.begin(), then.end());
    head.insert(head.end(), otherwise.begin(), otherwise.end());
    return head;
}

bool is_same_block(const FilterBlock& a, const FilterBlock& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const sock_filter& x, const sock_filter& y) {
        return x.code == y.code && x.jt == y.jt && x.jf == y.jf && x.k == y.k;
    });
}

// All numbers from this one up to the next leaf's.
struct FilterLeaf {
    uint32_t first;
    const FilterBlock* block;
};

std::vector<FilterLeaf> make_filter_leaves(const std::map<int, FilterBlock>& calls, const FilterBlock& otherwise) {
    std::vector<FilterLeaf> leaves{{0, &otherwise}};
    const auto add = [&](uint32_t first, const FilterBlock& block) {
        if (leaves.back().first == first)
            leaves.back().block = &block;
        else if (!is_same_block(*leaves.back().block, block))
            leaves.push_back({first, &block});
    };
    uint32_t next = 0;
    for (const auto& [number, block] : calls) {
        const auto first = static_cast<uint32_t>(number);
        if (first > next) add(next, otherwise);
        add(first, block);
        next = first + 1;
    }
    add(next, otherwise);
    return leaves;
}

FilterBlock make_search_tree(const std::vector<FilterLeaf>& leaves, size_t from, size_t to) {
    if (to - from == 1) return *leaves[from].block;
    const size_t middle = from + (to - from) / 2;
    const FilterBlock below = make_search_tree(leaves, from, middle), rest = make_search_tree(leaves, middle, to);
    if (below.size() <= farthest_jump)
        return join_blocks({jump_if(BPF_JGE, leaves[middle].first, below.size(), 0)}, below, rest);
    return join_blocks(
        {jump_if(BPF_JGE, leaves[middle].first, 0, 1), {BPF_JMP | BPF_JA, 0, 0, static_cast<uint32_t>(below.size())}},
        below, rest);
}

} // namespace

FilterBlock return_action(uint32_t action) {
    return {{BPF_RET | BPF_K, 0, 0, action}};
}

FilterBlock if_equal(unsigned argument, uint64_t value, const FilterBlock& then, const FilterBlock& otherwise) {
    return join_blocks({load_high(argument), jump_if(BPF_JEQ, static_cast<uint32_t>(value >> 32), 0, 2 + then.size()),
                        load_low(argument), jump_if(BPF_JEQ, static_cast<uint32_t>(value), 0, then.size())},
                       then, otherwise);
}

FilterBlock if_greater(unsigned argument, uint32_t value, const FilterBlock& then, const FilterBlock& otherwise) {
    return join_blocks(
        {load_high(argument), jump_if(BPF_JEQ, 0, 0, 2), load_low(argument), jump_if(BPF_JGT, value, 0, then.size())},
        then, otherwise);
}

FilterBlock if_low_equal(unsigned argument, uint32_t value, const FilterBlock& then, const FilterBlock& otherwise) {
    return join_blocks({load_low(argument), jump_if(BPF_JEQ, value, 0, then.size())}, then, otherwise);
}

FilterBlock if_low_masked(unsigned argument, uint32_t mask, uint32_t value, const FilterBlock& then,
                          const FilterBlock& otherwise) {
    return join_blocks(
        {load_low(argument), {BPF_ALU | BPF_AND | BPF_K, 0, 0, mask}, jump_if(BPF_JEQ, value, 0, then.size())}, then,
        otherwise);
}

FilterBlock if_any_bit(unsigned argument, uint32_t bits, const FilterBlock& then, const FilterBlock& otherwise) {
    return join_blocks({load_low(argument), jump_if(BPF_JSET, bits, 0, then.size())}, then, otherwise);
}

std::vector<sock_filter> assemble_filter(const std::map<int, FilterBlock>& calls, const FilterBlock& otherwise) {
    const FilterBlock kill = return_action(SECCOMP_RET_KILL_PROCESS);
    const std::vector<FilterLeaf> leaves = make_filter_leaves(calls, otherwise);
    FilterBlock program{load_word(offsetof(seccomp_data, arch)), jump_if(BPF_JEQ, native_abi, 1, 0), kill[0],
                        load_word(offsetof(seccomp_data, nr))};
#if defined(__x86_64__)
    // x32 calls have this bit set; -1 is what a debugger leaves of a call that it took away.
    const FilterBlock other_abi{jump_if(BPF_JGE, 0x40000000, 0, 2), jump_if(BPF_JEQ, 0xffffffff, 1, 0), kill[0]};
    program.insert(program.end(), other_abi.begin(), other_abi.end());
#endif
    const FilterBlock tree = make_search_tree(leaves, 0, leaves.size());
    program.insert(program.end(), tree.begin(), tree.end());
    return program;
}

} // namespace hone::sandbox
