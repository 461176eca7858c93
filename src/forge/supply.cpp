#include "forge/supply.h"

#include "base/log.h"
#include "forge/cause.h"
#include "forge/credential.h"

namespace hone::forge {

// The first skill of the run with a credential for the forge.
std::optional<std::string> Supply::skill_for(const Wanted& wanted) const {
    const auto place = place_of(wanted.url);
    if (!place.ok()) return std::nullopt;
    for (const std::string& skill : wanted.skills) {
        const std::vector<std::string> one{skill};
        const auto grant = m_skills.resolve(access::Caller::system(), wanted.space, one, skill::for_delivery());
        if (grant.ok() && choose_credential(grant.value(), place.value(), ForgeUse::git) != nullptr) return skill;
    }
    return std::nullopt;
}

Result<Supplied> Supply::supply(const Wanted& wanted) {
    Supplied supplied;
    supplied.repo = TRY(m_repos.find_or_create(wanted.space, wanted.url, skill_for(wanted), wanted.run));
    if (!m_quarantine.find(wanted.run, supplied.repo.id).ok() || !m_quarantine.is_here(wanted.run, supplied.repo.id)) {
        auto fetched = m_mirrors.fetch_if_old(supplied.repo, wanted.stopped);
        if (fetched.ok())
            supplied.repo = std::move(fetched).value();
        else if (supplied.repo.fetched_at)
            supplied.warning = "This is an older copy: " + fetched.error().message;
        else
            return fetched.error();
    }
    // A branch without a common commit cannot be reviewed.
    if (supplied.repo.refs == 0) return to_error("use " + wanted.url, {Cause::empty_repository, {}, {}});
    supplied.checkout = TRY(m_quarantine.open(wanted.run, supplied.repo, wanted.ref));
    supplied.mounts = m_quarantine.mounts(supplied.checkout);
    supplied.directory = quarantine_inside;
    for (const std::string& note : supplied.repo.notes)
        supplied.warning += (supplied.warning.empty() ? "" : " ") + note;
    return supplied;
}

Result<std::string> Supply::receive(const Wanted& wanted, const Offer& offer) {
    const Supplied supplied = TRY(supply(wanted));
    // What it brought before may be enough: a fetch that fails is no reason to refuse.
    if (const auto fetched = m_mirrors.fetch_if_old(supplied.repo, wanted.stopped); !fetched.ok())
        log(Level::info, "repository not fetched for a branch", {{"why", fetched.error().message}});
    if (!offer.bundle.empty()) return m_quarantine.take_bundle(supplied.checkout, offer.bundle, wanted.stopped);
    return m_quarantine.take_patch(supplied.checkout, offer.patch, wanted.stopped);
}

} // namespace hone::forge
