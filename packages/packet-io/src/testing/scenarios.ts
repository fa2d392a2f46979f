import { captureScenarios } from "./capture-scenarios.ts";
import { interfaceScenarios } from "./interface-scenarios.ts";
import { rawScenarios } from "./raw-scenarios.ts";
import { sendScenarios } from "./send-scenarios.ts";
import { trafficScenarios } from "./traffic-scenarios.ts";

/** What `child.ts` can run; each has the veth pair `va` and `vb` for itself. */
export const scenarios: Readonly<Record<string, () => unknown>> = {
  ...captureScenarios, ...sendScenarios, ...rawScenarios, ...interfaceScenarios, ...trafficScenarios,
};
