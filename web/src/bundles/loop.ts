// Signal, monitors, notices, automations and usage: one file for the browser.

export { AutomationPage } from "../pages/automations/automation";
export { Automations } from "../pages/automations/automations";
export { EvaluatorsPage } from "../pages/monitors/evaluators";
export { MonitorPage } from "../pages/monitors/monitor";
export { Monitors } from "../pages/monitors/monitors";
export { Destinations } from "../pages/notices/destinations";
export { NoticesPage } from "../pages/notices/notices";
export { Usage } from "../pages/settings/usage";
export { IssuePage } from "../pages/signal/issue";
export { SignalPage } from "../pages/signal/signal";
