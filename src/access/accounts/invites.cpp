#include "access/accounts/invites.h"

#include "access/names.h"

namespace hone::access {

namespace {
constexpr std::string_view select_invite =
    "SELECT i.id, i.space_id, i.email, i.role, i.created_by, i.created_at, i.expires_at, i.accepted_at, i.revoked_at, "
    "i.custom_role, r.name, r.permissions FROM invites i LEFT JOIN custom_roles r ON r.id = i.custom_role";
} // namespace

// An invite that can be accepted now.
struct Invites::Open {
    Invite invite;
    std::string space_name;
    std::optional<UserId> user;
    std::optional<CustomRoleId> custom_role;
};

Invite Invites::invite_of(const sql::Row& row) const {
    const HeldRole held = held_role_of(row, 3, 10, 11).value_or(Role::viewer);
    Invite invite{row.id<InviteTag>(0), row.id<SpaceTag>(1), row.text(2),       held.role, row.text(4),
                  row.time(5),          row.time(6),         InviteState::open, {},        held.custom};
    if (!row.is_null(7))
        invite.state = InviteState::accepted;
    else if (!row.is_null(8))
        invite.state = InviteState::revoked;
    else if (m_clock.now() >= invite.expires_at)
        invite.state = InviteState::expired;
    return invite;
}

Result<Page<Invite>> Invites::list(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::member_manage, space));
    const std::string after = TRY(page.after());
    const auto rows =
        TRY(m_database.query(std::string(select_invite) + " WHERE i.space_id = ? AND i.id > ? ORDER BY i.id LIMIT ?",
                             space, after, page.limit + 1));
    std::vector<Invite> invites;
    for (const auto& row : rows) invites.push_back(invite_of(row));
    return make_page(std::move(invites), page, [](const Invite& invite) { return invite.id.text(); });
}

Result<Invite> Invites::create(const Caller& caller, const SpaceId& space, const std::string& wanted_email,
                               const RoleChoice& choice) {
    TRY(caller.require(Permission::member_manage, space));
    const std::string email = TRY(checked_email(wanted_email));
    const std::string token = crypto::random_token();
    return m_database.write([&](sql::Transaction& transaction) -> Result<Invite> {
        const Grantable given = TRY(grantable(transaction, caller, space, choice));
        const auto member = TRY(transaction.query(
            "SELECT u.id FROM users u JOIN members m ON m.user_id = u.id WHERE u.email = ? AND m.space_id = ?", email,
            space));
        if (!member.empty()) return conflict(email + " is a member already");
        const Time now = m_clock.now();
        TRY(transaction.execute("UPDATE invites SET revoked_at = ? WHERE space_id = ? AND email = ? AND accepted_at IS "
                                "NULL AND revoked_at IS NULL",
                                now, space, email));
        Invite invite{make_id<InviteTag>(m_clock),
                      space,
                      email,
                      given.held.role,
                      caller.actor(),
                      now,
                      now + m_lifetime,
                      InviteState::open,
                      "/invite/" + token,
                      given.held.custom};
        TRY(transaction.execute("INSERT INTO invites (id, space_id, email, role, custom_role, token_hash, created_by, "
                                "created_at, expires_at) VALUES (?,?,?,?,?,?,?,?,?)",
                                invite.id, space, email, name_of(given.custom ? Role::viewer : given.held.role),
                                given.custom, to_hex(crypto::hash(token)), invite.created_by, now, invite.expires_at));
        TRY(m_audit.record(
            transaction, caller,
            {"invite_create", space, invite.id.text(), {{"email", email}, {"role", given.held.name()}}}));
        return invite;
    });
}

Result<Invite> Invites::revoke(const Caller& caller, const SpaceId& space, const InviteId& id) {
    TRY(caller.require(Permission::member_manage, space));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Invite> {
        const int64_t revoked = TRY(transaction.execute("UPDATE invites SET revoked_at = ? WHERE id = ? AND space_id = "
                                                        "? AND accepted_at IS NULL AND revoked_at IS NULL",
                                                        m_clock.now(), id, space));
        const auto rows =
            TRY(transaction.query(std::string(select_invite) + " WHERE i.id = ? AND i.space_id = ?", id, space));
        if (rows.empty()) return not_found("invite " + id.text());
        if (revoked == 0)
            return conflict("the invite is " + std::string(name_of(invite_of(rows.front()).state)) + " already");
        TRY(m_audit.record(transaction, caller, {"invite_revoke", space, id.text()}));
        return invite_of(rows.front());
    });
}

Result<Invites::Open> Invites::open_invite(std::string_view token) const {
    const auto gone = [] {
        return not_found("this invite does not exist, or was used, revoked or has expired: an open invite");
    };
    if (token.size() != 43) return gone();
    const auto rows =
        TRY(m_database.query(std::string(select_invite) + " WHERE i.token_hash = ?", to_hex(crypto::hash(token))));
    if (rows.empty()) return gone();
    Open open{invite_of(rows.front()), {}, {}, {}};
    if (!rows.front().is_null(9)) {
        if (rows.front().is_null(10)) return gone(); // its role was deleted meanwhile
        open.custom_role = rows.front().id<CustomRoleTag>(9);
    }
    if (open.invite.state != InviteState::open) return gone();
    const auto space = TRY(m_database.query("SELECT name FROM spaces WHERE id = ?", open.invite.space_id));
    if (space.empty()) return gone();
    open.space_name = space.front().text(0);
    const auto user = TRY(m_database.query("SELECT id FROM users WHERE email = ?", open.invite.email));
    if (!user.empty()) open.user = user.front().id<UserTag>(0);
    return open;
}

Result<InviteInfo> Invites::find(std::string_view token) const {
    const Open open = TRY(open_invite(token));
    return InviteInfo{open.invite.email,      open.invite.role,      open.space_name,
                      open.invite.expires_at, open.user.has_value(), open.invite.custom_role};
}

Result<Login> Invites::accept(const Caller& guest, std::string_view token,
                              const std::optional<std::string>& wanted_name, const std::string& password,
                              const std::string& user_agent, const std::string& code) {
    const Open open = TRY(open_invite(token));
    std::string name, hashed;
    if (open.user) {
        TRY(m_logins.prove(guest, open.invite.email, password, code));
    } else {
        if (!m_logins.accepts_password(open.invite.email))
            return conflict(
                "this installation uses single sign-on: the groups of your account there make you a member");
        name =
            TRY(checked_name("name", wanted_name.value_or(open.invite.email.substr(0, open.invite.email.find('@')))));
        TRY(check_password(password));
        hashed = TRY(m_users.hash(password));
    }
    const UserId user = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<UserId> {
        const int64_t taken = TRY(transaction.execute(
            "UPDATE invites SET accepted_at = ? WHERE id = ? AND accepted_at IS NULL AND revoked_at IS NULL",
            m_clock.now(), open.invite.id));
        if (taken == 0) return conflict("the invite was used or revoked meanwhile");
        UserId id =
            open.user ? *open.user : TRY(m_users.create(transaction, open.invite.email, name, hashed, false, false)).id;
        TRY(m_spaces.add_member(transaction, open.invite.space_id, id, open.invite.role, open.custom_role));
        Caller actor = guest;
        actor.kind = CallerKind::user;
        actor.user = id;
        actor.name = open.invite.email;
        TRY(m_audit.record(transaction, actor,
                           {"invite_accept",
                            open.invite.space_id,
                            open.invite.id.text(),
                            {{"role", open.invite.custom_role.empty() ? std::string(name_of(open.invite.role))
                                                                      : open.invite.custom_role}}}));
        return id;
    }));
    return m_logins.open_session(guest, user, user_agent);
}

} // namespace hone::access
