import { readFileSync } from "node:fs";

/** Tests that watch the loop may have a fake clock. */
const { setInterval: every, clearInterval: forget } = globalThis;
/** Rarely enough to cost nothing, often enough beside what tests take for a hang. */
const EVERY_MS = 5;

/**
 * Runs some work that does not wait.
 * @returns Milliseconds that the processor took for it, in all threads of this process: a machine with other work does not make them more.
 */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Watches how much processor time this thread takes at most from one turn of its event loop to another. The processor's time and not the
 * clock's, and this thread's and not the process's: a machine with other work keeps everybody waiting, and work in other threads is no stand.
 * @returns Ends the watch and gives the longest stand, in milliseconds.
 */
export function watchLoop(): () => number {
  let [worst, last] = [0, threadMs()];
  const look = () => {
    const now = threadMs();
    [worst, last] = [Math.max(worst, now - last), now];
  };
  const timer = every(look, EVERY_MS);
  return () => {
    forget(timer);
    look();
    return worst;
  };
}

/** Processor time of this thread so far: the first of the kernel's schedstat, which is in nanoseconds (Linux, scheduler/sched-stats). */
function threadMs(): number {
  return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ", 1)[0]) / 1e6;
}
