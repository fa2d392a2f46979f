import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** Of `nice`: a thread of 0 gets nine times as much of a processor that both want. */
const NICE = 10;

/**
 * Lowers the priority of the calling thread, so that it takes what other threads leave: on Linux each thread has its own (setpriority(2)).
 * @returns False where the system does not let it, or has no such thing.
 */
export function lowerThreadPriority(): boolean {
  try {
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), NICE);
    return true;
  } catch {
    return false;
  }
}
