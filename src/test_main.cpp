#define DOCTEST_CONFIG_IMPLEMENT
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <string_view>

namespace {

// Prints what doctest only counts, for tools/unit_report.py: cases that are skipped by a decorator, and cases that
// ended without an assertion. Cases of the test suite "child" are programs that another case starts.
struct CaseListener : doctest::IReporter {
    explicit CaseListener(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData& test_case) override { m_case = &test_case; }
    void test_case_skipped(const doctest::TestCaseData& test_case) override {
        if (test_case.m_skip && std::string_view(test_case.m_test_suite) != "child")
            std::printf("skipped: %s: marked as such\n", test_case.m_name);
    }
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        if (stats.numAssertsCurrentTest == 0) std::printf("no assertion: %s\n", m_case->m_name);
        std::fflush(stdout);
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}

private:
    const doctest::TestCaseData* m_case = nullptr;
};

DOCTEST_REGISTER_LISTENER("cases", 1, CaseListener);

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // as the server does
    return doctest::Context(argc, argv).run();
}
