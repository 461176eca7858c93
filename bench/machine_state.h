// Whether the machine had nothing else to do while something was measured. A number of a loud machine says little, so
// a benchmark prints this beside its own.
#pragma once

#include "base/file.h"
#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <dirent.h>
#include <map>
#include <memory>
#include <string>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace hone::bench {

// Of all processors together, in clock ticks since the start of the machine.
struct ProcessorTicks {
    int64_t busy = 0, stolen = 0, all = 0;

    static ProcessorTicks now() {
        ProcessorTicks ticks;
        const auto table = read_file("/proc/stat", 1 << 20);
        if (!table.ok()) return ticks;
        // "cpu  user nice system idle iowait irq softirq steal …"
        std::vector<int64_t> numbers;
        for (const std::string_view word : split(split(table.value(), '\n')[0], ' '))
            if (const auto number = parse_integer(word); number.ok()) numbers.push_back(number.value());
        numbers.resize(8);
        for (const int64_t number : numbers) ticks.all += number;
        ticks.stolen = numbers[7];
        ticks.busy = ticks.all - numbers[3] - numbers[4] - ticks.stolen;
        return ticks;
    }
};

inline double percent(int64_t part, int64_t whole) {
    return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

class MachineState {
public:
    // Looks for a second at what runs while this program does nothing.
    MachineState() : m_before(look()), m_start(ProcessorTicks::now()) {}

    // The second look, and what is known of the time between the two.
    json::Object report() const {
        const ProcessorTicks end = ProcessorTicks::now();
        const Look after = look();
        const double stolen = percent(end.stolen - m_start.stolen, end.all - m_start.all);
        json::Array names;
        for (const auto* seen : {&m_before, &after})
            for (const std::string& name : seen->processes)
                if (std::find(names.begin(), names.end(), json::Value(name)) == names.end()) names.emplace_back(name);
        utsname system{};
        ::uname(&system);
        return {{"kernel", std::string(system.release)},
                {"processors", static_cast<int64_t>(::sysconf(_SC_NPROCESSORS_ONLN))},
                {"load_average_before", m_before.load_average},
                {"others_busy_percent_before", m_before.busy_percent},
                {"others_busy_percent_after", after.busy_percent},
                {"stolen_percent", stolen},
                {"other_busy_processes", names},
                {"quiet", m_before.busy_percent < 5 && after.busy_percent < 5 && stolen < 1}};
    }

private:
    struct Look {
        std::string load_average;
        double busy_percent = 0;
        std::vector<std::string> processes; // that used the processor meanwhile
    };

    // Clock ticks used so far, by process.
    static std::map<std::string, int64_t> used_ticks() {
        std::map<std::string, int64_t> used;
        const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir("/proc"), ::closedir);
        while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
            if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
            const auto line = read_file(std::string("/proc/") + entry->d_name + "/stat", 4096);
            if (!line.ok()) continue; // ended meanwhile
            const size_t open = line.value().find('('), close = line.value().rfind(')');
            if (open == std::string::npos || close == std::string::npos) continue;
            const auto words = split(std::string_view(line.value()).substr(close + 2), ' ');
            if (words.size() < 13) continue;
            const auto user = parse_integer(words[11]), system = parse_integer(words[12]);
            if (user.ok() && system.ok())
                used[std::string(entry->d_name) + " " + line.value().substr(open + 1, close - open - 1)] =
                    user.value() + system.value();
        }
        return used;
    }

    static Look look() {
        Look seen;
        if (const auto load = read_file("/proc/loadavg", 256); load.ok())
            seen.load_average = std::string(trim(load.value()));
        const auto used_before = used_ticks();
        const ProcessorTicks before = ProcessorTicks::now();
        std::this_thread::sleep_for(std::chrono::seconds(1));
        const ProcessorTicks after = ProcessorTicks::now();
        seen.busy_percent = percent(after.busy - before.busy, after.all - before.all);
        for (const auto& [name, ticks] : used_ticks()) {
            const auto known = used_before.find(name);
            // One tick in a second is chance.
            if (ticks - (known == used_before.end() ? 0 : known->second) > 1 &&
                !name.starts_with(std::to_string(::getpid()) + " "))
                seen.processes.push_back(name.substr(name.find(' ') + 1));
        }
        return seen;
    }

    const Look m_before;
    const ProcessorTicks m_start;
};

} // namespace hone::bench
