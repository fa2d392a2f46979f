/** Keeps the names and policies that the collector gave this site, as the daemon leaves them: a new version replaces the old one at once, and one that cannot be read leaves it as it was. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { type NameSet, openNameSet } from "@lanthorn/dns";
import { type Log, startThread } from "@lanthorn/runtime";
import type { SiteRead, SiteTask } from "./site-messages.ts";

/** What the site has. */
export interface SiteContent {
  readonly set: NameSet;
  readonly policy: Extract<SiteRead, { readonly kind: "read" }>["policy"];
}

/** What they are read by. */
export interface SiteLists {
  /** Whether the daemon has left another version since the last reading. It costs one look at a file. */
  readonly hasChanged: () => boolean;
  /** @returns What there is now, null for nothing; undefined where what was there stays. */
  read(): Promise<SiteContent | null | undefined>;
  close(): Promise<void>;
}

/** Tables of five million names, twice while they grow, are outside of this. */
const MAX_HEAP_MB = 256;
const MISSING = "missing";

/** @param directory Where the daemon leaves them; it need not be there. */
export function createSiteLists(directory: string, log: Log): SiteLists {
  let known = MISSING;
  let hasFailed = false;
  let held: (SiteContent & { readonly names: string }) | null = null;
  let running: (() => Promise<unknown>) | null = null;
  const stamp = () => stampOf(join(directory, "current"));

  const readInThread = (): Promise<SiteRead> =>
    new Promise((resolve, reject) => {
      const key = randomBytes(8);
      const workerData: SiteTask = { directory, knownNames: held?.names ?? null, hashKey: [key.readUInt32LE(0), key.readUInt32LE(4)] };
      const worker = startThread("site-worker", import.meta.url, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
      running = () => worker.terminate();
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the thread ended without an answer")));
    });

  return {
    hasChanged: () => stamp() !== known,
    async read() {
      const now = stamp();
      if (now === MISSING || (now === known && !hasFailed)) return undefined;
      known = now;
      hasFailed = true;
      const found = await readInThread();
      hasFailed = found.kind === "fault";
      if (found.kind === "none") return (held = null);
      const set = found.kind === "fault" ? { fault: found.reason } : found.bytes ? openNameSet(found.bytes) : (held?.set ?? { fault: "the names before are gone" });
      if (found.kind === "fault" || "fault" in set) {
        log.error({ reason: "fault" in set ? set.fault : "" }, "the collector's block lists could not be used; those before stay");
        return undefined;
      }
      held = { set, policy: found.policy, names: found.names };
      log.info({ lists: found.lists, policies: found.policy.policies.length, allowances: found.policy.allowances.length }, "the collector's block lists are used");
      return held;
    },
    async close() {
      await running?.();
    },
  };
}

function stampOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return MISSING;
  }
}
