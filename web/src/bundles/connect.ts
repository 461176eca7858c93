// The first steps of a space: one file for the browser.

export { ConnectPage, ConnectSteps } from "../pages/connect/connect";
