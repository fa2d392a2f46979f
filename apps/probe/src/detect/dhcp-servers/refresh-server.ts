import { goesBeyond, joinHandouts } from "./handout.ts";
import type { KnownServer } from "./known-servers.ts";
import type { ServerMessage } from "./server-message.ts";

/** A server is confirmed at most so often, so that a flood confirms nobody. */
const CONFIRM_MS = 60_000;
/** The MAC of a server that was silent for so long may be replaced: a failover, a new network card. */
const FAILOVER_MS = 60_000;
const MAX_MACS = 16;

/** Whether a server is silent for so long that another MAC may have taken its place; it is where no MAC of it is known. */
export function isSilent({ macs, heardAt }: KnownServer, now: number): boolean {
  return macs.length === 0 || now - heardAt >= FAILOVER_MS;
}

/**
 * Takes over into `row` what a server says that is the one that it says it is.
 * @returns Whether anything changed that is worth writing down.
 */
export function refreshServer(
  row: KnownServer, said: ServerMessage, at: { readonly now: number; readonly isLearning: boolean; readonly isToUs: boolean },
): boolean {
  const { macs, handout, heardAt } = row;
  const isNewMac = !macs.includes(said.mac);
  const mayTake = isNewMac && (at.isLearning || isSilent(row, at.now)) && macs.length < MAX_MACS;
  const isConfirmed = at.now - heardAt >= CONFIRM_MS;
  const isNews = said.handout !== null && (handout === null || goesBeyond(said.handout, handout));
  const nowAnswers = at.isToUs && !row.answersUs;
  if (!isNewMac || mayTake) row.heardAt = at.now;
  if (mayTake) row.macs = [...macs, said.mac];
  if (said.handout && isNews) row.handout = handout ? joinHandouts(handout, said.handout) : said.handout;
  if (isConfirmed) row.confirmed += 1;
  if (nowAnswers) row.answersUs = true;
  return isNews || mayTake || isConfirmed || nowAnswers;
}
