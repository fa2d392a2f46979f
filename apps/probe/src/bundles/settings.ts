import { ProbeConfiguration } from "@lanthorn/contract/uplink";

/** What the collector pushes to this module: the newest version of each bundle. */
export const bundlesPart = ProbeConfiguration.pick({ bundles: true });
