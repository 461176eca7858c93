// The documentation: one file for the browser.

export { Documentation, DocumentPage } from "../pages/docs/docs";
