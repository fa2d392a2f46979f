import { describeError, type Log } from "@lanthorn/runtime";

/**
 * Tries to write to the probe's database. A disk that takes nothing is told of once, until it takes something again.
 * @param what Of the message: what cannot be written down.
 * @returns Runs a write, and says whether it was done; it does not throw.
 */
export function createWriteAttempts(log: Pick<Log, "error">, what: string): (write: () => void) => boolean {
  let failing = false;
  return (write) => {
    try {
      write();
      failing = false;
      return true;
    } catch (error) {
      if (!failing) log.error({ reason: describeError(error) }, `${what} cannot be written down; trying again`);
      failing = true;
      return false;
    }
  };
}
