#include "kubernetes/pod/admission.h"

#include "base/text.h"
#include "kubernetes/api/object.h"

#include <algorithm>
#include <array>

namespace hone::kubernetes {

using json::Array, json::Object, json::Value;

namespace {

// Fields that a cluster adds to a pod, with the values that widen nothing; null: any value.
struct Harmless {
    std::string_view path; // "[]" for the members of a list
    const char* value;     // as JSON
};
constexpr std::array harmless{
    // Where and when it runs.
    Harmless{"spec.nodeName", nullptr},
    Harmless{"spec.nodeSelector", nullptr},
    Harmless{"spec.affinity", nullptr},
    Harmless{"spec.topologySpreadConstraints", nullptr},
    Harmless{"spec.tolerations", nullptr},
    Harmless{"spec.schedulerName", nullptr},
    Harmless{"spec.priority", nullptr},
    Harmless{"spec.priorityClassName", nullptr},
    Harmless{"spec.preemptionPolicy", nullptr},
    Harmless{"spec.overhead", nullptr},
    Harmless{"spec.imagePullSecrets", nullptr},
    Harmless{"spec.schedulingGates", nullptr},
    // The namespace's default account, whose token is not mounted.
    Harmless{"spec.serviceAccount", nullptr},
    Harmless{"spec.serviceAccountName", nullptr},
    // OpenShift assigns these.
    Harmless{"spec.securityContext.seLinuxOptions", nullptr},
    Harmless{"spec.securityContext.runAsUser", nullptr},
    Harmless{"spec.securityContext.runAsGroup", nullptr},
    Harmless{"spec.securityContext.fsGroup", nullptr},
    Harmless{"spec.securityContext.supplementalGroups", nullptr},
    Harmless{"spec.containers[].securityContext.runAsUser", nullptr},
    Harmless{"spec.initContainers[].securityContext.runAsUser", nullptr},
    Harmless{"spec.containers[].securityContext.seLinuxOptions", nullptr},
    Harmless{"spec.initContainers[].securityContext.seLinuxOptions", nullptr},
    // Defaults.
    Harmless{"spec.containers[].terminationMessagePath", "\"/dev/termination-log\""},
    Harmless{"spec.initContainers[].terminationMessagePath", "\"/dev/termination-log\""},
    Harmless{"spec.initContainers[].terminationMessagePolicy", "\"File\""},
    Harmless{"spec.hostUsers", "false"},
};

// A field that was left out and one with the value that means the same.
bool is_empty(const Value& value) {
    return value.is_null() || (value.is_bool() && !value.get_bool()) ||
           (value.is_array() && value.get_array().empty()) || (value.is_object() && value.get_object().empty()) ||
           (value.is_string() && value.get_string().empty());
}

class Comparison {
public:
    std::vector<Difference> found;

    void compare(const Value& sent, const Value& stored, const std::string& path, const std::string& pattern) {
        if (sent.is_object() && stored.is_object())
            compare_objects(sent.get_object(), stored.get_object(), path, pattern);
        else if (sent.is_array() && stored.is_array() && has_names(sent.get_array()))
            compare_named(sent.get_array(), stored.get_array(), path, pattern);
        else if (sent != stored && !is_same_amount(sent, stored, pattern))
            found.push_back({path, "was changed"});
    }

private:
    // 1000m and 1, 1024 and 1Ki: clusters write amounts in their own form.
    static bool is_same_amount(const Value& sent, const Value& stored, const std::string& pattern) {
        const bool is_amount =
            pattern.find(".resources.") != std::string::npos || pattern.ends_with("emptyDir.sizeLimit");
        if (!is_amount || !sent.is_string() || !stored.is_string()) return false;
        const auto left = amount_of(sent.get_string()), right = amount_of(stored.get_string());
        return left && right && *left == *right;
    }

    // In thousandths.
    static std::optional<int64_t> amount_of(std::string_view text) {
        struct Unit {
            std::string_view suffix;
            int64_t thousandths;
        };
        constexpr std::array units{Unit{"m", 1},
                                   Unit{"Ki", int64_t{1000} << 10},
                                   Unit{"Mi", int64_t{1000} << 20},
                                   Unit{"Gi", int64_t{1000} << 30},
                                   Unit{"k", 1'000'000},
                                   Unit{"M", 1'000'000'000},
                                   Unit{"G", 1'000'000'000'000},
                                   Unit{"", 1000}};
        for (const Unit& unit : units) {
            if (!text.ends_with(unit.suffix)) continue;
            const auto number = parse_integer(text.substr(0, text.size() - unit.suffix.size()));
            int64_t amount = 0;
            if (!number.ok() || __builtin_mul_overflow(number.value(), unit.thousandths, &amount)) return std::nullopt;
            return amount;
        }
        return std::nullopt;
    }

    static bool has_names(const Array& list) {
        return !list.empty() && std::all_of(list.begin(), list.end(),
                                            [](const Value& item) { return !text_at(item, {"name"}).empty(); });
    }

    static bool is_harmless(const std::string& pattern, const Value& value) {
        return std::any_of(harmless.begin(), harmless.end(), [&](const Harmless& known) {
            return known.path == pattern && (known.value == nullptr || json::print(value) == known.value);
        });
    }

    void compare_objects(const Object& sent, const Object& stored, const std::string& path,
                         const std::string& pattern) {
        const auto below = [](const std::string& above, std::string_view name) {
            return above + "." + std::string(name);
        };
        for (const auto& entry : sent) {
            const Value* other = stored.if_contains(entry.key());
            const std::string here = below(pattern, entry.key());
            if (other != nullptr && (is_harmless(here, *other) && entry.value() != *other)) continue;
            if (other != nullptr)
                compare(entry.value(), *other, below(path, entry.key()), here);
            else if (!is_empty(entry.value()) || is_kept_when_false(here))
                found.push_back({below(path, entry.key()), "was removed"});
        }
        for (const auto& entry : stored)
            if (!sent.contains(entry.key()) && !is_empty(entry.value()) &&
                !is_harmless(below(pattern, entry.key()), entry.value()))
                found.push_back({below(path, entry.key()), "was added"});
    }

    // False is not what a server takes when these are absent.
    static bool is_kept_when_false(std::string_view pattern) {
        return pattern.ends_with(".automountServiceAccountToken") || pattern.ends_with(".allowPrivilegeEscalation") ||
               pattern.ends_with(".enableServiceLinks") || pattern.ends_with(".hostUsers");
    }

    // Members belong together by name, those of mounts by path as well; of several with the same, in their order.
    void compare_named(const Array& sent, const Array& stored, const std::string& path, const std::string& pattern) {
        std::vector<bool> is_ours(stored.size(), false);
        const auto find = [&](const Value& item) -> const Value* {
            for (size_t i = 0; i < stored.size(); ++i) {
                if (is_ours[i] || text_at(stored[i], {"name"}) != text_at(item, {"name"}) ||
                    text_at(stored[i], {"mountPath"}) != text_at(item, {"mountPath"}))
                    continue;
                is_ours[i] = true;
                return &stored[i];
            }
            return nullptr;
        };
        const auto place = [&](const Value& item) {
            return path + "[" + std::string(truncate_utf8(text_at(item, {"name"}), 100)) + "]";
        };
        for (const Value& item : sent) {
            if (const Value* other = find(item); other != nullptr)
                compare(item, *other, place(item), pattern + "[]");
            else
                found.push_back({place(item), "was removed"});
        }
        for (size_t i = 0; i < stored.size(); ++i)
            if (!is_ours[i]) found.push_back({place(stored[i]), "was added"});
    }
};

} // namespace

std::vector<Difference> admission_differences(const json::Value& sent, const json::Value& stored) {
    Comparison comparison;
    const Value* ours = value_at(sent, {"spec"});
    const Value* theirs = value_at(stored, {"spec"});
    if (ours == nullptr || theirs == nullptr || !theirs->is_object()) return {{"spec", "was removed"}};
    comparison.compare(*ours, *theirs, "spec", "spec");
    // Labels decide which policies select the pod.
    if (const Value* labels = value_at(sent, {"metadata", "labels"}); labels != nullptr && labels->is_object())
        for (const auto& label : labels->get_object()) {
            const Value* other = value_at(stored, {"metadata", "labels", label.key()});
            if (other == nullptr || *other != label.value())
                comparison.found.push_back({"metadata.labels." + std::string(label.key()), "was changed"});
        }
    return std::move(comparison.found);
}

} // namespace hone::kubernetes
