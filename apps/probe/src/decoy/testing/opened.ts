import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DecoyExemption, HoneypotCredentials, HoneypotEvidence } from "@lanthorn/contract/uplink";
import { silentLog, systemClock } from "@lanthorn/runtime";
import { type DecoysListener, listenForDecoys } from "../link/decoy-listener.ts";
import { LINK_SOCKET, type ReportedHit } from "../link/messages.ts";
import { openDecoys, type OpenDecoys } from "../open-decoys.ts";
import { parseDecoysSettings } from "../settings.ts";

/** Where the clients of tests come from: the machine's own address is exempt. */
export const CLIENT = "127.0.0.5";

/** Decoys on loopback with a daemon that writes down what they report. */
export interface OpenedDecoys extends OpenDecoys {
  readonly hits: readonly ReportedHit[];
  readonly tried: HoneypotCredentials["tried"];
  readonly evidence: readonly HoneypotEvidence[];
  /** Null while it does not run. */
  readonly daemon: () => DecoysListener | null;
  readonly portOf: (service: string) => number;
  /** Starts the daemon's side, where it does not run. @param isWritten Whether it takes what is reported. */
  listen(isWritten?: () => boolean, collector?: readonly DecoyExemption[]): void;
  silence(): Promise<void>;
  /** Ends the decoys, and leaves the daemon's side. */
  end(): Promise<void>;
}

/** @param settings Over those of one decoy with these services. @returns What is opened, and what closes it. */
export async function openForTest(services: readonly string[], settings: object = {}, ownAddresses: readonly string[] = ["127.0.0.1"]): Promise<OpenedDecoys> {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-decoy-"));
  const hits: ReportedHit[] = [];
  const tried: HoneypotCredentials["tried"] = [];
  const evidence: HoneypotEvidence[] = [];
  let [daemon, ended] = [null as DecoysListener | null, null as Promise<void> | null];
  const decoys = await openDecoys(parseDecoysSettings({
    decoys: [{ name: "files2", address: "127.0.0.1", services: services.map((service) => ({ service, port: 0 })) }],
    bait: [{ username: "backup", password: "Blue-Heron-4" }], data_dir: folder, link_directory: folder, ...settings,
  }), { clock: systemClock, log: silentLog, ownAddresses: () => ownAddresses });
  return {
    ...decoys, hits, tried, evidence, daemon: () => daemon, portOf: (service) => decoys.places.find((place) => place.service === service)?.port ?? 0,
    listen(isWritten = () => true, collector: readonly DecoyExemption[] = []) {
      daemon = listenForDecoys(join(folder, LINK_SOCKET), {
        onHit: (hit) => isWritten() && hits.push(hit) > 0, onCredentials: (credentials) => isWritten() && tried.push(...credentials.tried) > 0,
        onEvidence: (one) => isWritten() && evidence.push(one) > 0, collector: () => collector, clock: systemClock, log: silentLog,
      });
    },
    async silence() {
      await daemon?.close();
      daemon = null;
    },
    end: () => (ended ??= decoys.close()),
    async close() {
      await (ended ??= decoys.close());
      await daemon?.close();
      rmSync(folder, { recursive: true });
    },
  };
}
