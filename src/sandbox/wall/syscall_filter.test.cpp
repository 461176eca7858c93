// The filter is assembled by hand, so that it is small. libseccomp, which is not, says here what it has to answer.
#include "sandbox/wall/syscall_filter.h"

#include "base/file.h"
#include "sandbox/wall/filter_program.h"

#include <cerrno>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <memory>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

using Program = std::vector<sock_filter>;

// What the kernel does with a classic filter, as far as these use it.
uint32_t answer_of(const Program& program, const seccomp_data& call) {
    uint32_t value = 0;
    for (size_t at = 0; at < program.size(); ++at) {
        const sock_filter& step = program[at];
        bool holds = false;
        switch (step.code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (step.k + sizeof value > sizeof call) FAIL("a load from behind the call");
            std::memcpy(&value, reinterpret_cast<const char*>(&call) + step.k, sizeof value);
            continue;
        case BPF_ALU | BPF_AND | BPF_K:
            value &= step.k;
            continue;
        case BPF_JMP | BPF_JA:
            at += step.k;
            continue;
        case BPF_JMP | BPF_JEQ | BPF_K:
            holds = value == step.k;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            holds = value >= step.k;
            break;
        case BPF_JMP | BPF_JGT | BPF_K:
            holds = value > step.k;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            holds = (value & step.k) != 0;
            break;
        case BPF_RET | BPF_K:
            return step.k;
        default:
            FAIL("an instruction that no filter here uses: ", step.code);
        }
        at += holds ? step.jt : step.jf;
    }
    FAIL("the filter ends without an answer");
    return 0;
}

struct Release {
    void operator()(void* context) const { seccomp_release(context); }
};

// The same rules told to libseccomp.
class Reference {
public:
    explicit Reference(uint32_t otherwise) : m_context(seccomp_init(otherwise)) {
        must(seccomp_attr_set(m_context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
        must(seccomp_attr_set(m_context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
    }
    template <class... Comparisons>
    void add(uint32_t action, const char* name, Comparisons... comparisons) {
        const int number = seccomp_syscall_resolve_name(name);
        if (number < 0) return;
        std::vector<scmp_arg_cmp> list{comparisons...};
        must(seccomp_rule_add_exact_array(m_context.get(), action, number, static_cast<unsigned>(list.size()),
                                          list.data()));
    }
    Program finish() {
        const Fd file(::memfd_create("filter", MFD_CLOEXEC));
        must(seccomp_export_bpf(m_context.get(), file.get()));
        struct stat status {};
        REQUIRE(::fstat(file.get(), &status) == 0);
        Program program(static_cast<size_t>(status.st_size) / sizeof(sock_filter));
        REQUIRE(::pread(file.get(), program.data(), static_cast<size_t>(status.st_size), 0) == status.st_size);
        return program;
    }

private:
    static void must(int outcome) { REQUIRE(outcome >= 0); }
    std::unique_ptr<void, Release> m_context;
};

constexpr uint64_t namespace_bits = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                    CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

Program reference_of_calls(SyscallFilter::Ptrace ptrace) {
    Reference filter(SCMP_ACT_ERRNO(ENOSYS));
    for (const char* name : SyscallFilter::allowed_names()) filter.add(SCMP_ACT_ALLOW, name);
    for (const char* name : SyscallFilter::refused_names()) filter.add(SCMP_ACT_ERRNO(EPERM), name);
    const uint32_t no_family = SCMP_ACT_ERRNO(EAFNOSUPPORT), no_protocol = SCMP_ACT_ERRNO(EPROTONOSUPPORT);
    filter.add(SCMP_ACT_ALLOW, "socket", SCMP_A0_64(SCMP_CMP_EQ, AF_UNIX));
    for (const uint64_t family : {AF_INET, AF_INET6})
        for (uint64_t type = 0; type < 16; ++type) {
            const scmp_arg_cmp of_family = SCMP_A0_64(SCMP_CMP_EQ, family);
            const scmp_arg_cmp of_type = SCMP_A1_64(SCMP_CMP_MASKED_EQ, uint64_t{0xf}, type);
            if (type != SOCK_STREAM && type != SOCK_DGRAM) {
                filter.add(SCMP_ACT_ERRNO(ESOCKTNOSUPPORT), "socket", of_family, of_type);
                continue;
            }
            const uint64_t named = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
            for (uint64_t protocol = 0; protocol <= named; ++protocol)
                filter.add(protocol == 0 || protocol == named ? SCMP_ACT_ALLOW : no_protocol, "socket", of_family,
                           of_type, SCMP_A2_64(SCMP_CMP_EQ, protocol));
            filter.add(no_protocol, "socket", of_family, of_type, SCMP_A2_64(SCMP_CMP_GT, named));
        }
    filter.add(SCMP_ACT_ALLOW, "socket", SCMP_A0_64(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2_64(SCMP_CMP_EQ, 0));
    filter.add(no_protocol, "socket", SCMP_A0_64(SCMP_CMP_EQ, AF_NETLINK), SCMP_A2_64(SCMP_CMP_GT, 0));
    for (uint64_t family = 0; family < 64; ++family)
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
            filter.add(no_family, "socket", SCMP_A0_64(SCMP_CMP_EQ, family));
    filter.add(no_family, "socket", SCMP_A0_64(SCMP_CMP_GE, 64));
    filter.add(SCMP_ACT_ALLOW, "socketpair", SCMP_A0_64(SCMP_CMP_EQ, AF_UNIX));
    for (const char* call : {"clone", "unshare"}) {
        filter.add(SCMP_ACT_ALLOW, call, SCMP_A0_64(SCMP_CMP_MASKED_EQ, namespace_bits, 0));
        for (uint64_t flag = 1; flag != 0; flag <<= 1)
            if (namespace_bits & flag)
                filter.add(SCMP_ACT_ERRNO(EPERM), call, SCMP_A0_64(SCMP_CMP_MASKED_EQ, flag, flag));
    }
    filter.add(ptrace == SyscallFilter::Ptrace::allowed ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "ptrace");
    for (const uint64_t known : {uint64_t{0}, uint64_t{8}, uint64_t{0xffffffff}})
        filter.add(SCMP_ACT_ALLOW, "personality", SCMP_A0_64(SCMP_CMP_EQ, known));
    return filter.finish();
}

// libseccomp cannot say "all but these values" in the program above; of two programs the kernel takes the stricter.
Program reference_of_requests() {
    Reference filter(SCMP_ACT_ALLOW);
    for (const uint64_t request : {TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD})
        filter.add(SCMP_ACT_ERRNO(EPERM), "ioctl", SCMP_A1_64(SCMP_CMP_MASKED_EQ, uint64_t{0xffffffff}, request));
    return filter.finish();
}

// Every value that a rule compares with, its neighbours, and what only 64 or only 32 bits tell apart.
std::vector<uint64_t> interesting_values(uint64_t small, int first_bit) {
    std::vector<uint64_t> values;
    for (uint64_t low = 0; low < small; ++low) values.push_back(low);
    for (int bit = first_bit; bit < 64; ++bit)
        for (const uint64_t more : {-1, 0, 1, 2, 6, 17}) values.push_back((uint64_t{1} << bit) + more);
    for (const uint64_t request : {TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD})
        for (const uint64_t high : {uint64_t{0}, uint64_t{1} << 32, ~uint64_t{0xffffffff}})
            for (const uint64_t more : {-1, 0, 1}) values.push_back((request + more) | high);
    values.push_back(~uint64_t{0});
    return values;
}

} // namespace

TEST_CASE("the filter decides every call as libseccomp's does") {
    const auto of_first = interesting_values(300, 8), of_others = interesting_values(20, 31);
    const Program requests = reference_of_requests();
    for (const auto ptrace : {SyscallFilter::Ptrace::refused, SyscallFilter::Ptrace::allowed}) {
        const Program calls = reference_of_calls(ptrace);
        const Program ours = SyscallFilter::build(ptrace).program();
        CHECK(ours.size() < calls.size() / 2);
        size_t different = 0, compared = 0;
        const auto compare = [&](const seccomp_data& call) {
            // Of the two the smaller action is the stricter, as the kernel compares them: signed, without the data.
            const uint32_t first = answer_of(requests, call), second = answer_of(calls, call);
            const auto strictness = [](uint32_t action) { return static_cast<int32_t>(action & 0xffff0000); };
            const uint32_t expected = strictness(first) < strictness(second) ? first : second;
            const uint32_t got = answer_of(ours, call);
            ++compared;
            if (got != expected && ++different < 10)
                FAIL_CHECK("call ", call.nr, " of ", call.arch, " with ", call.args[0], ", ", call.args[1], ", ",
                           call.args[2], ": ", got, " and not ", expected);
        };
        seccomp_data call{};
        std::vector<int> numbers;
        for (int number = 0; number < 1024; ++number) numbers.push_back(number);
        for (const int number :
             {0x3fffffff, 0x40000000, 0x40000001, 0x7fffffff, -1, -2, std::numeric_limits<int>::min()})
            numbers.push_back(number);
        for (const uint32_t abi :
             {uint32_t{AUDIT_ARCH_X86_64}, uint32_t{AUDIT_ARCH_I386}, uint32_t{AUDIT_ARCH_AARCH64}, 0u})
            for (const int number : numbers) {
                call.nr = number;
                call.arch = abi;
                for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{99}, ~uint64_t{0}}) {
                    std::fill(std::begin(call.args), std::end(call.args), value);
                    compare(call);
                }
            }
        call = {};
        call.arch = seccomp_arch_native();
        for (const char* name : {"socket", "socketpair", "clone", "unshare", "ptrace", "personality", "ioctl"}) {
            call.nr = seccomp_syscall_resolve_name(name);
            REQUIRE(call.nr >= 0);
            for (const uint64_t first : of_first) {
                call.args[0] = first;
                for (const uint64_t second : of_others) {
                    // The argument that the rules look at beside the first, if any.
                    call.args[1] = call.args[2] = second;
                    compare(call);
                }
                // A type is a number with flags beside it.
                for (uint64_t type = 0; first < 20 && type < 20; ++type)
                    for (const uint64_t flags : {0, int{SOCK_NONBLOCK}, SOCK_NONBLOCK | SOCK_CLOEXEC})
                        for (const uint64_t protocol : {0, 1, 6, 7, 17, 33, 132, 136, 262}) {
                            call.args[1] = type | flags;
                            call.args[2] = protocol;
                            compare(call);
                        }
            }
        }
        CHECK(compared > 100'000);
        CHECK(different == 0);
    }
}

TEST_CASE("a tree that is larger than one jump reaches finds every leaf") {
    std::map<int, FilterBlock> calls;
    for (int number = 3; number < 3000; ++number) // no two neighbours alike
        calls[number] = if_equal(0, 7, return_action(static_cast<uint32_t>(number)), return_action(SECCOMP_RET_ALLOW));
    const Program program = assemble_filter(calls, return_action(SECCOMP_RET_ERRNO | ENOSYS));
    seccomp_data call{};
    call.arch = seccomp_arch_native();
    for (call.nr = 0; call.nr < 3010; ++call.nr) {
        const bool known = calls.contains(call.nr);
        call.args[0] = 7;
        CHECK(answer_of(program, call) ==
              (known ? static_cast<uint32_t>(call.nr) : uint32_t{SECCOMP_RET_ERRNO | ENOSYS}));
        call.args[0] = uint64_t{7} << 32 | 7;
        CHECK(answer_of(program, call) == (known ? SECCOMP_RET_ALLOW : uint32_t{SECCOMP_RET_ERRNO | ENOSYS}));
    }
}
