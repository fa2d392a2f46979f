/**
 * Who has a share of evidence's budget of its own. A host chooses its addresses freely, and with each of them it would have another share: so only
 * some of those who are new on a day get one, and all others of that day have one together.
 */
export interface EvidenceShares {
  /**
   * @param subject Whom a file is about.
   * @param at When it began: milliseconds since the epoch.
   * @returns The name of the share: the subject, or `MANY`.
   */
  of(subject: string, at: number): string;
}

/** The share of those who have none of their own; no address. */
export const MANY = "many";
/** An outbreak among so many hosts on a day leaves each its share; that many addresses are an attack, or too much for anybody to read. */
export const MAX_NEW_A_DAY = 16;
const DAY_MS = 86_400_000;

/** @param deps.isInUse Whether files of a share are there: one without is forgotten after a day. */
export function createEvidenceShares({ isInUse }: { readonly isInUse: (share: string) => boolean }): EvidenceShares {
  const begunAt = new Map<string, number>();
  return {
    of(subject, at) {
      if (begunAt.has(subject)) return subject;
      for (const [share, time] of begunAt) if (Math.abs(at - time) > DAY_MS && !isInUse(share)) begunAt.delete(share);
      const isNew = (time: number) => Math.abs(at - time) <= DAY_MS;
      if ([...begunAt.values()].filter((time) => isNew(time)).length >= MAX_NEW_A_DAY) return MANY;
      begunAt.set(subject, at);
      return subject;
    },
  };
}
