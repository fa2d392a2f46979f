/** Only a hang is longer: a loop that must not stand still for 50 ms, on a machine that has other work too. */
export const HANG_MS = 500;

const EVERY_MS = 10;

/**
 * Does some work, and looks how long the event loop stood still at worst meanwhile. The smaller of the time that passed and the
 * processor's time counts: a machine with other work keeps everybody waiting.
 * @returns What the work gave, and milliseconds.
 */
export async function watchLoop<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly worstMs: number }> {
  let [at, cpu, worstMs] = [performance.now(), process.cpuUsage(), 0];
  const look = () => {
    const { user, system } = process.cpuUsage(cpu);
    worstMs = Math.max(worstMs, Math.min(performance.now() - at - EVERY_MS, (user + system) / 1000));
    [at, cpu] = [performance.now(), process.cpuUsage()];
  };
  const timer = setInterval(look, EVERY_MS);
  try {
    const result = await work();
    look();
    return { result, worstMs };
  } finally {
    clearInterval(timer);
  }
}
