// The few tests that detectors use: all robust (ranks and shares, no means), all from counts that the engine made, so
// that nothing here depends on how many spans there are. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>

namespace hone::signal {

// How many values are in each bin; a bin is an eighth of a doubling, so a value is known to within nine percent.
constexpr int bins_per_doubling = 8;
struct Histogram {
    std::map<int, int64_t> bins;

    int64_t count() const;
    double quantile(double q) const; // 0 when empty
};

// How much greater values are after than before.
struct Shift {
    double effect = 0.5; // chance that one of after is greater than one of before
    double z = 0;        // Mann–Whitney, ties corrected
    double before = 0;   // medians
    double after = 0;
    double ratio() const { return before > 0 ? after / before : 0; }
};
Shift compare(const Histogram& before, const Histogram& after);

// How many standard errors the share `hits` of `total` lies above `hits_before` of `total_before`.
double proportion_z(int64_t hits, int64_t total, int64_t hits_before, int64_t total_before);

double share_of(int64_t part, int64_t whole);
// What the share surely is: the lower end of Wilson's interval (95 %). A few cases that chance put into one window do
// not make a recurring problem.
double least_share_of(int64_t part, int64_t whole);

// How sure a finding is: from how clear it is and on how many cases it stands. 0 to 0.99.
double confidence_of(int64_t cases, double z);

} // namespace hone::signal
