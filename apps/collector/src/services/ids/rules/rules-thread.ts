import { type Clock, type Log, startThread } from "@lanthorn/runtime";
import { CollectorError } from "../../../errors.ts";
import { createTaskThread } from "../../../sources/task-thread.ts";
import { MAX_KEPT_VERSIONS, type RuleTask, type RuleTaskName, type RuleTasks, type VersionRef, versionKey } from "./tasks.ts";

/** Works on rules in a thread of its own, one question after the other, so that the event loop waits for none. */
export interface RulesThread {
  /**
   * @throws FileRefused for what was published and is not taken.
   * @throws CollectorError `ids-rules-busy` where 32 questions wait; `ids-rules-failed` where it took longer than two minutes, failed, or the thread ended.
   */
  ask<N extends RuleTaskName>(name: N, refs: readonly VersionRef[], input: RuleTasks[N]["input"]): Promise<RuleTasks[N]["output"]>;
  close(): Promise<void>;
}

const MAX_HEAP_MB = 1024;

/** @param deps.load A version's packed content; null where it is gone. */
export function createRulesThread({ clock, log, load }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "error">; readonly load: (ref: VersionRef) => Promise<Uint8Array | null>;
}): RulesThread {
  const held = createHeldVersions(load);
  const thread = createTaskThread({
    clock, log, what: "rules", codes: { busy: "ids-rules-busy", failed: "ids-rules-failed" },
    start: () => startThread("rules-worker", import.meta.url, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } }),
  });
  return {
    async ask(name, refs, input) {
      return await thread.run(async (isFresh) => {
        if (isFresh) held.clear();
        const contents = await held.missing(refs);
        held.use(refs);
        return { name, input, refs, contents };
      }) as RuleTasks[typeof name]["output"];
    },
    close: () => thread.close(),
  };
}

/** Versions that the thread has, the one that was used last at the end: as the thread itself forgets them. */
function createHeldVersions(load: (ref: VersionRef) => Promise<Uint8Array | null>) {
  const held = new Set<string>();
  return {
    clear: () => held.clear(),
    /** The contents of those that it does not have. */
    async missing(refs: readonly VersionRef[]): Promise<RuleTask["contents"]> {
      const contents: { readonly key: string; readonly content: Uint8Array }[] = [];
      for (const ref of refs.filter((one) => !held.has(versionKey(one)))) {
        const content = await load(ref);
        if (content === null) throw new CollectorError("ids-rules-failed", "a version of the rule set was removed meanwhile");
        contents.push({ key: versionKey(ref), content });
      }
      return contents;
    },
    use(refs: readonly VersionRef[]) {
      for (const ref of refs) {
        held.delete(versionKey(ref));
        held.add(versionKey(ref));
      }
      for (const key of [...held].slice(0, Math.max(0, held.size - MAX_KEPT_VERSIONS))) held.delete(key);
    },
  };
}
