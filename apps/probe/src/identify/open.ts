import type { Clock, Log } from "@lanthorn/runtime";
import { openFingerprintStore } from "../fingerprints/store.ts";
import { createFingerprintDatabases } from "./databases.ts";
import type { ServiceFinding } from "./finding.ts";
import { identifyService, type OpenPort } from "./identify.ts";

/** Asking open ports what they are, and databases what that means. */
export interface OpenIdentification {
  /** As `identifyService`. */
  identify(openPort: OpenPort, signal: AbortSignal): Promise<ServiceFinding | null>;
  close(): void;
}

/** @param deps.dataDir Where `lanthorn-probe fingerprints update` keeps databases. */
export function openIdentification(
  deps: { readonly dataDir: string; readonly random: () => number; readonly clock: Clock; readonly log: Log },
): OpenIdentification {
  const store = openFingerprintStore(deps.dataDir);
  const databases = createFingerprintDatabases({
    version: () => store.versions().current, folder: () => store.wholeFolder(), clock: deps.clock, log: deps.log,
  });
  return {
    async identify(openPort, signal) {
      const finding = await identifyService(openPort, { random: deps.random }, signal);
      return finding && databases.consult(finding);
    },
    close: () => databases.close(),
  };
}
