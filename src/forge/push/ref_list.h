// Refs of a repository as git lists them and as packed-refs keeps them. Text that git made inside a sandbox is text
// from outside: bounded, checked line by line, never trusted. Pure, any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::forge {

struct Ref {
    std::string name;   // refs/heads/main
    std::string object; // what it names
    std::string commit; // what an annotated tag leads to; else the same
    static constexpr Pack fields{
        Field{"name", &Ref::name, "Full name: refs/heads/main."},
        Field{"object", &Ref::object, "Object that the ref points to."},
        Field{"commit", &Ref::commit, "Commit of an annotated tag; else the same as object."},
    };
    friend bool operator==(const Ref&, const Ref&) = default;
};

struct RefList {
    std::vector<Ref> refs; // sorted by name, each once
    int64_t left_out = 0;  // names that we do not take, or too many
};

constexpr size_t most_refs = 100'000;

// `git for-each-ref --format='%(objectname) %(*objectname) %(refname)'`: branches and tags; other refs are left out.
RefList parse_for_each_ref(std::string_view text);

// The content of a packed-refs file with these refs, sorted; and back.
std::string write_packed_refs(const std::vector<Ref>& refs);
Result<std::vector<Ref>> parse_packed_refs(std::string_view text);

// `git ls-remote --symref URL HEAD` → "refs/heads/main"; empty when there is none.
std::string parse_head(std::string_view text);

const Ref* find_ref(const std::vector<Ref>& refs, std::string_view name);

} // namespace hone::forge
