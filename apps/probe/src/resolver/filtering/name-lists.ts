/** Keeps the set of names of all lists as their files are: a new one replaces the old one at once, and a list that is refused leaves it as it was. */
import { type NameSet, openNameSet } from "@lanthorn/dns";
import type { Clock, Log } from "@lanthorn/runtime";
import type { ListOutcome, NamesBuilt, NamesTask } from "../../dns-lists/reading/names-messages.ts";
import { createHashKey, createReadingThread, stampOf } from "../../dns-lists/reading/reading-thread.ts";
import type { ListSettings } from "./settings.ts";

/** What lists are read by. */
export interface NameLists {
  /** Looks whether files have changed, and reads all if one has. @returns The new set, or null where the old one stays. */
  refresh(): Promise<NameSet | null>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** @returns Lists of which none was read. `id` of each is its name. */
export function createNameLists(lists: readonly ListSettings[], protectedNames: readonly string[], deps: { readonly clock: Pick<Clock, "now">; readonly log: Log }): NameLists {
  let known = "";
  let rulesBefore: ReadonlyMap<string, number> = new Map();
  const thread = createReadingThread<NamesTask, NamesBuilt>("names-worker");

  const build = (used: readonly ListSettings[]): Promise<NamesBuilt> =>
    thread.read({
      lists: used.map((list) => ({
        id: list.name, name: list.name, category: list.category, kind: list.format === "rpz" ? "rpz" : "filter", file: list.file, format: list.format ?? null,
        origin: list.origin ?? null, rulesBefore: rulesBefore.get(list.name) ?? 0,
      })),
      protectedNames, hashKey: createHashKey(), day: Math.floor(deps.clock.now() / DAY_MS),
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
    close: thread.close,
  };
}

function report(outcomes: readonly ListOutcome[], log: Log): void {
  for (const { id, fault, rules, refused, refusals } of outcomes) {
    if (fault !== null) log.warn({ list: id, reason: fault }, "a block list is not used as it is now");
    else log.info({ list: id, rules, refused, ...(refusals.length > 0 && { refusals }) }, "a block list was read");
  }
}
