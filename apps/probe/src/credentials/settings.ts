import { ProbeConfiguration } from "@lanthorn/contract/uplink";

/** What the collector pushes to this module: the vault's credentials for this probe, sealed. */
export const credentialsPart = ProbeConfiguration.pick({ credentials: true });
