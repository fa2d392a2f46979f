import type { Clock, Log } from "@lanthorn/runtime";
import { FINGERPRINTS } from "../../bundles/names.ts";
import { openBundleStore } from "../../bundles/store.ts";
import { createDatabaseThread } from "../../identify/database-thread.ts";
import type { ServiceFinding } from "../../identify/finding.ts";
import { identifyService, type OpenPort } from "../../identify/identify.ts";
import { exchangeDatagram } from "../../identify/datagrams.ts";
import type { SnmpAccess } from "../../snmp/access.ts";
import { createVaultReader } from "../../snmp/vault-reader.ts";

/** Asking open ports what they are, and databases what that means. */
export interface OpenIdentification {
  /** As `identifyService`. */
  identify(openPort: OpenPort, signal: AbortSignal): Promise<ServiceFinding | null>;
  close(): void;
}

/**
 * @param deps.dataDir Where `lanthorn-probe fingerprints update` keeps databases.
 * @param deps.access Null where nobody may be asked with a credential.
 */
export function openIdentification(deps: {
  readonly dataDir: string; readonly access: SnmpAccess | null; readonly random: () => number; readonly clock: Clock; readonly log: Log;
  /** The databases failed before they had answered anything. */
  readonly onBroken: (reason: string) => void;
}): OpenIdentification {
  const store = openBundleStore(deps.dataDir, FINGERPRINTS);
  const databases = createDatabaseThread({ ...deps, version: () => store.versions().current });
  const { access, random } = deps;
  const withVault = access ? { openSnmp: createVaultReader({ ...deps, access, ask: exchangeDatagram }) } : {};
  return {
    async identify(openPort, signal) {
      const finding = await identifyService(openPort, { random, ...withVault }, signal);
      return finding && databases.consult(finding);
    },
    close: () => databases.close(),
  };
}
