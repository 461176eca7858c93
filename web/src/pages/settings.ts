// Every settings page in one file for the browser: fetched together when the first one is opened.

export { Account } from "./account";
export { Audit } from "./audit";
export { General } from "./general";
export { Keys } from "./keys";
export { Members } from "./members";
export { Roles } from "./roles";
export { Server } from "./server";
export { Spaces } from "./spaces";
export { Users } from "./users";
