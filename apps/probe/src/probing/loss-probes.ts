/** A question that its host has answered before, asked again: what does not come back of these was lost. */
export interface LossProbe {
  /** The host's place in its chunk. */
  readonly host: number;
  readonly port: number;
}

/**
 * Tells of losses where nearly all hosts drop what they are asked, and silence says nothing: hosts that have answered on some port are
 * asked for it again now and then, as nmap does with its timing probes.
 */
export interface LossProbes {
  /**
   * A host has answered on this port. An open one is the better witness: some hosts answer for so many closed ports a second and no more.
   */
  note(host: number, port: number, isOpen: boolean): void;
  /** @returns Whose turn it is, taken as asked now; null where nobody may be asked again yet. */
  next(now: number): LossProbe | null;
  /** An answer to a question that was settled before; nothing happens where it is none of these. */
  answered(host: number, port: number): void;
}

/** No host is asked more often: fifty a second, little beside its share of the scan. */
const EVERY_MS = 20;
/** Hosts looked at for one whose turn it is. */
const MAX_LOOKED_AT = 8;

interface Witness {
  readonly host: number;
  port: number;
  isOpen: boolean;
  askedAt: number;
  isWaiting: boolean;
}

/**
 * @param deps.patienceMs What has not come back by then is lost.
 * @param deps.onOutcome Each loss probe that was answered, or lost, and when it was asked.
 */
export function createLossProbes(deps: {
  readonly patienceMs: number; readonly onOutcome: (askedAt: number, isAnswered: boolean) => void;
}): LossProbes {
  const witnesses: Witness[] = [];
  const places = new Map<number, Witness>();
  let turn = 0;
  const mayAsk = (witness: Witness, now: number): boolean => {
    if (!witness.isWaiting) return now - witness.askedAt >= EVERY_MS;
    if (now - witness.askedAt < deps.patienceMs) return false;
    witness.isWaiting = false;
    deps.onOutcome(witness.askedAt, false);
    return true;
  };
  return {
    note(host, port, isOpen) {
      const known = places.get(host);
      if (!known) {
        const witness = { host, port, isOpen, askedAt: Number.NEGATIVE_INFINITY, isWaiting: false };
        places.set(host, witness);
        witnesses.push(witness);
      } else if (isOpen && !known.isOpen && !known.isWaiting) Object.assign(known, { port, isOpen });
    },
    next(now) {
      for (let looked = 0; looked < Math.min(MAX_LOOKED_AT, witnesses.length); looked += 1) {
        turn = (turn + 1) % witnesses.length;
        const witness = witnesses[turn] as Witness;
        if (!mayAsk(witness, now)) continue;
        witness.askedAt = now;
        witness.isWaiting = true;
        return witness;
      }
      return null;
    },
    answered(host, port) {
      const witness = places.get(host);
      if (!witness?.isWaiting || witness.port !== port) return;
      witness.isWaiting = false;
      deps.onOutcome(witness.askedAt, true);
    },
  };
}
