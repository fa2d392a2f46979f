/** Tests that watch the loop may have a fake clock. */
const { setTimeout: later, clearTimeout: forget } = globalThis;
/** Rarely enough to cost nothing, often enough beside the half second that tests take for a hang. */
const EVERY_MS = 5;

/**
 * Watches how long the event loop stands still at most. The smaller of the time that passed and the processor's time counts: a machine
 * with other work keeps everybody waiting.
 * @returns Ends the watch and gives the longest stand, in milliseconds.
 */
export function watchLoop(): () => number {
  let worst = 0;
  let [last, cpu] = [process.hrtime.bigint(), process.cpuUsage()];
  const measure = () => {
    const { user, system } = process.cpuUsage(cpu);
    worst = Math.max(worst, Math.min(Number(process.hrtime.bigint() - last) / 1e6, (user + system) / 1000));
    [last, cpu] = [process.hrtime.bigint(), process.cpuUsage()];
  };
  let next: NodeJS.Timeout;
  const look = () => {
    measure();
    next = later(look, EVERY_MS);
  };
  next = later(look, EVERY_MS);
  return () => {
    forget(next);
    measure();
    return worst;
  };
}
