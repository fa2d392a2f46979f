import { watchLoop } from "@lanthorn/runtime";

/** Only a hang is longer: a loop that must not stand still for 50 ms, on a machine that has other work too. */
export const HANG_MS = 500;

/**
 * Does some work, and looks how long the event loop stood still at worst meanwhile.
 * @returns What the work gave, and milliseconds.
 */
export async function watchWork<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly worstMs: number }> {
  const stop = watchLoop();
  try {
    return { result: await work(), worstMs: stop() };
  } finally {
    stop();
  }
}
