/**
 * What a side of a connection may have its parser do. Its bytes pay for it, so that the cost of a byte is bounded: whoever sends messages of
 * a few bytes gets no more of them than by frames of their own. One unit pays what a byte may cost.
 */

/** One call of a parser, also of a few bytes. */
export const STEP_COST = 16;
/** One message; with its step as much as the smallest frame of Ethernet has. */
export const MESSAGE_COST = 48;

/** Keys of QUIC are made of the first packet of each connection, whoever sends one: as long as a dozen whole frames take. */
export const KEYS_COST = 4096;

/** What a segment pays beside its bytes: it was a frame. */
const SEGMENT_CREDIT = 64;
/** What a side begins with: a few dozen short messages. */
export const FIRST_CREDIT = 4096;
const MAX_CREDIT = 16 * 1024;

/** The credit of one side. */
export interface WorkCredit {
  credit: number;
}

/** Puts the bytes of a segment on the account of its side. */
export function earn(side: WorkCredit, octets: number): void {
  side.credit = Math.min(MAX_CREDIT, side.credit + octets + SEGMENT_CREDIT);
}

/** What all sides together may do beyond what their own bytes pay for. */
export interface SpareWork {
  /** Makes up for what the credit of a side is below 0. @returns Whether there was enough. */
  cover(side: WorkCredit, at: number): boolean;
}

/** @param perSecond Units that come with each second of captured time; as many are kept at most. @returns The account of all sides. */
export function createSpareWork(perSecond: number): SpareWork {
  let spare = perSecond;
  let filledAt = 0;
  return {
    cover(side, at) {
      if (side.credit >= 0) return true;
      // Time may go back, where several files are read.
      if (at > filledAt) spare = Math.min(perSecond, spare + ((at - filledAt) / 1e6) * perSecond);
      filledAt = at;
      if (spare < -side.credit) return false;
      spare += side.credit;
      side.credit = 0;
      return true;
    },
  };
}
