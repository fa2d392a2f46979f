import type { Worker } from "node:worker_threads";
import { type Clock, describeError, type Log, startThread } from "@lanthorn/runtime";
import { CollectorError } from "../../../errors.ts";
import { FileRefused } from "./file-refused.ts";
import { MAX_KEPT_VERSIONS, type RuleAnswer, type RuleTask, type RuleTaskName, type RuleTasks, type VersionRef, versionKey } from "./tasks.ts";

/** Works on rules in a thread of its own, one question after the other, so that the event loop waits for none. */
export interface RulesThread {
  /**
   * @throws FileRefused for what was published and is not taken.
   * @throws CollectorError `ids-rules-busy` where 32 questions wait; `ids-rules-failed` where it took longer than two minutes, failed, or the thread ended.
   */
  ask<N extends RuleTaskName>(name: N, refs: readonly VersionRef[], input: RuleTasks[N]["input"]): Promise<RuleTasks[N]["output"]>;
  close(): Promise<void>;
}

const MAX_WAITING = 32;
/** All of Emerging Threats' open rules take some seconds to be read. */
const MAX_TASK_MS = 120_000;
/** Parsed rules take some hundred megabytes. */
const IDLE_MS = 60_000;
const MAX_HEAP_MB = 1024;

interface Waiting {
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
}

/** @param deps.load A version's packed content; null where it is gone. */
export function createRulesThread({ clock, log, load }: {
  readonly clock: Pick<Clock, "after">; readonly log: Pick<Log, "error">; readonly load: (ref: VersionRef) => Promise<Uint8Array | null>;
}): RulesThread {
  const waiting = new Map<number, Waiting>();
  const held = createHeldVersions(load);
  let worker: Worker | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  let [lastId, queued] = [0, 0];
  let isClosed = false;
  let cancelTimer = () => {};

  const stop = async () => {
    cancelTimer();
    const stopped = worker;
    worker = null;
    stopped?.removeAllListeners().on("error", () => {});
    await stopped?.terminate();
  };
  const failAll = (reason: string) => {
    const all = [...waiting.values()];
    waiting.clear();
    for (const { reject } of all) reject(new CollectorError("ids-rules-failed", `the work on rules failed: ${reason}`));
  };
  const fail = (reason: string) => {
    log.error({ reason }, "the thread that reads rules failed");
    void stop();
    failAll(reason);
  };
  const setTimer = () => {
    cancelTimer();
    cancelTimer = waiting.size > 0
      ? clock.after(MAX_TASK_MS, () => fail(`no answer within ${MAX_TASK_MS / 1000} s`)) : clock.after(IDLE_MS, () => void stop());
  };
  const take = (answer: RuleAnswer) => {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    setTimer();
    if ("refused" in answer) one?.reject(new FileRefused(answer.refused));
    else if ("error" in answer) one?.reject(new CollectorError("ids-rules-failed", `the work on rules failed: ${answer.error}`));
    else one?.resolve(answer.output as never);
  };
  const start = (): Worker => {
    const started = startThread("rules-worker", import.meta.url, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    started.on("message", take);
    started.on("error", (error) => fail(describeError(error)));
    started.on("exit", () => fail("its thread ended"));
    started.unref();
    return started;
  };
  const send = async (name: RuleTaskName, refs: readonly VersionRef[], input: RuleTasks[RuleTaskName]["input"]): Promise<unknown> => {
    if (worker === null) held.clear();
    const contents = await held.missing(refs);
    if (isClosed) throw new CollectorError("ids-rules-failed", "the collector is stopping");
    worker ??= start();
    lastId += 1;
    held.use(refs);
    const answered = new Promise((resolve, reject) => void waiting.set(lastId, { resolve, reject }));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    worker.postMessage({ id: lastId, name, input, refs, contents });
    setTimer();
    return answered;
  };
  return {
    async ask(name, refs, input) {
      if (queued >= MAX_WAITING) throw new CollectorError("ids-rules-busy", "other work on rules is going on: try again in some seconds");
      queued += 1;
      const result = turn.then(() => send(name, refs, input));
      turn = result.catch(() => {});
      try {
        return await result as RuleTasks[typeof name]["output"];
      } finally {
        queued -= 1;
      }
    },
    async close() {
      isClosed = true;
      failAll("the collector is stopping");
      await stop();
    },
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
