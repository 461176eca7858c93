// The settings pages: one file for the browser.

export { Account } from "../pages/settings/account";
export { Audit } from "../pages/settings/audit";
export { Authorize } from "../pages/settings/authorize";
export { General } from "../pages/settings/general";
export { Groups } from "../pages/settings/groups";
export { Health } from "../pages/settings/health";
export { Keys } from "../pages/settings/keys";
export { Logins } from "../pages/settings/logins";
export { Members } from "../pages/settings/members";
export { Policy } from "../pages/settings/policy";
export { Roles } from "../pages/settings/roles";
export { Server } from "../pages/settings/server";
export { SignOn } from "../pages/settings/sign_on";
export { Spaces } from "../pages/settings/spaces";
export { Storage } from "../pages/settings/storage";
export { Users } from "../pages/settings/users";
