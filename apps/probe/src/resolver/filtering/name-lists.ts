/** Keeps the set of names of all lists as their files are: a new one replaces the old one at once, and a list that is refused leaves it as it was. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { type NameSet, openNameSet } from "@lanthorn/dns";
import { type Clock, type Log, startThread } from "@lanthorn/runtime";
import type { ListOutcome, NamesBuilt, NamesTask } from "./names-messages.ts";
import type { ListSettings } from "./settings.ts";

/** What lists are read by. */
export interface NameLists {
  /** Looks whether files have changed, and reads all if one has. @returns The new set, or null where the old one stays. */
  refresh(): Promise<NameSet | null>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Tables of five million names, twice while they grow, are outside of this. */
const MAX_HEAP_MB = 256;

/** @returns Lists of which none was read. `id` of each is its name. */
export function createNameLists(lists: readonly ListSettings[], protectedNames: readonly string[], deps: { readonly clock: Pick<Clock, "now">; readonly log: Log }): NameLists {
  let known = "";
  let rulesBefore: ReadonlyMap<string, number> = new Map();
  let running: (() => Promise<unknown>) | null = null;

  const build = (used: readonly ListSettings[]): Promise<NamesBuilt> =>
    new Promise((resolve, reject) => {
      const key = randomBytes(8);
      const workerData: NamesTask = {
        lists: used.map((list) => ({
          id: list.name, name: list.name, category: list.category, kind: list.format === "rpz" ? "rpz" : "filter", file: list.file, format: list.format ?? null,
          origin: list.origin ?? null, rulesBefore: rulesBefore.get(list.name) ?? 0,
        })),
        protectedNames, hashKey: [key.readUInt32LE(0), key.readUInt32LE(4)], day: Math.floor(deps.clock.now() / DAY_MS),
      };
      const worker = startThread("names-worker", import.meta.url, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
      running = () => worker.terminate();
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the thread ended without a set")));
    });

  return {
    async refresh() {
      const now = lists.map(({ file }) => stampOf(file)).join("\n");
      if (now === known) return null;
      known = now;
      let used = lists;
      let built = await build(used);
      report(built.outcomes, deps.log);
      if (!built.bytes) {
        const sound = new Set(built.outcomes.filter(({ fault }) => fault === null).map(({ id }) => id));
        // The version in use of a list that was refused is gone with its file: while there is a set, it stays whole.
        if (rulesBefore.size > 0) return null;
        used = lists.filter(({ name }) => sound.has(name));
        built = await build(used);
      }
      const set = built.bytes ? openNameSet(built.bytes) : { fault: "a list changed while it was read" };
      if ("fault" in set) {
        deps.log.error({ reason: set.fault }, "the block lists could not be used; those before stay");
        return null;
      }
      rulesBefore = new Map(built.outcomes.map(({ id, rules }) => [id, rules]));
      return set;
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
    return "missing";
  }
}

function report(outcomes: readonly ListOutcome[], log: Log): void {
  for (const { id, fault, rules, refused, refusals } of outcomes) {
    if (fault !== null) log.warn({ list: id, reason: fault }, "a block list is not used as it is now");
    else log.info({ list: id, rules, refused, ...(refusals.length > 0 && { refusals }) }, "a block list was read");
  }
}
