import { type Clock, type Log, startThread } from "@lanthorn/runtime";
import { createTaskThread } from "../../../sources/task-thread.ts";
import type { Judgement, JudgeOrder, ReadList, ReadOrder, SiteList } from "./tasks.ts";

/** Works on names in a thread of its own, one task after the other. Both throw as `TaskThread`. */
export interface NamesThread {
  /** Reads what was published. @throws FileRefused for what is no list. */
  read(order: ReadOrder): Promise<ReadList>;
  /** @param load The site's lists with their text, where the thread does not have them. */
  judge(order: Omit<JudgeOrder, "lists">, load: () => Promise<readonly SiteList[]>): Promise<Judgement>;
  close(): Promise<void>;
}

/** While a version of a million names is compared with the one before. */
const MAX_HEAP_MB = 1024;

/** Starts the thread when there is work for it. */
export function createNamesThread({ clock, log }: { readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "error"> }): NamesThread {
  const thread = createTaskThread({
    clock, log, what: "block lists", codes: { busy: "dns-lists-busy", failed: "dns-lists-failed" },
    start: () => startThread("names-worker", import.meta.url, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } }),
  });
  let held = "";
  return {
    read: async (input) => await thread.run(() => Promise.resolve({ name: "read", input })) as ReadList,
    async judge(order, load) {
      try {
        return await thread.run(async (isFresh) => {
          const lists = isFresh || held !== order.key ? await load() : null;
          held = order.key;
          return { name: "judge", input: { ...order, lists } };
        }) as Judgement;
      } catch (error) {
        held = "";
        throw error;
      }
    },
    close: () => thread.close(),
  };
}
