/** Keeps the names and policies that the collector gave this site, as they lie in a folder: a new version replaces the old one at once, and one that cannot be read leaves it as it was. */
import { join } from "node:path";
import { type NameSet, openNameSet } from "@lanthorn/dns";
import type { Log } from "@lanthorn/runtime";
import { createHashKey, createReadingThread, MISSING, stampOf } from "./reading-thread.ts";
import type { SiteRead, SiteTask } from "./site-messages.ts";

/** What the site has. */
export interface SiteContent {
  readonly set: NameSet;
  readonly policy: Extract<SiteRead, { readonly kind: "read" }>["policy"];
}

/** What they are read by. */
export interface SiteLists {
  /** Whether there is another version since the last reading. It costs one look at a file. */
  readonly hasChanged: () => boolean;
  /** @returns What there is now, null for nothing; undefined where what was there stays. */
  read(): Promise<SiteContent | null | undefined>;
  close(): Promise<void>;
}

/** @param from.directory It need not be there. @param from.pointer The file in it that names the version that counts. @param from.categories As of `SiteTask`; `maxRules` too. */
export function createSiteLists(from: Pick<SiteTask, "directory" | "pointer" | "categories" | "maxRules">, log: Pick<Log, "info" | "error">): SiteLists {
  let known = MISSING;
  let hasFailed = false;
  let held: (SiteContent & { readonly names: string }) | null = null;
  const thread = createReadingThread<SiteTask, SiteRead>("site-worker");
  const stamp = () => stampOf(join(from.directory, from.pointer));

  return {
    hasChanged: () => stamp() !== known,
    async read() {
      const now = stamp();
      if (now === MISSING || (now === known && !hasFailed)) return undefined;
      known = now;
      hasFailed = true;
      const found = await thread.read({ ...from, knownNames: held?.names ?? null, hashKey: createHashKey() });
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
    close: thread.close,
  };
}
