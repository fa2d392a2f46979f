import { type BulkResult, MAX_BULK } from "@lanthorn/contract";
import { nextTurn } from "@lanthorn/runtime";
import { ApiError, rateLimited } from "../errors.ts";

/** The records that match. */
interface BulkSelection {
  /** How many there are now. */
  readonly count: () => Promise<number>;
  /** Ids in their order. @param after The last one that was read; empty for none. */
  readonly idsAfter: (after: string, limit: number) => Promise<readonly string[]>;
}

/** What a bulk change is of, and what one piece of it does. */
interface BulkWork extends BulkSelection {
  readonly expectedCount: number;
  /** Writes down who begins what, or refuses it before anything is changed. */
  readonly begin: (ids: readonly string[]) => Promise<void>;
  /** As many are changed in one transaction, which others wait for. */
  readonly pieceSize: number;
  /** Changes some records in one transaction. @param isLast Whether the disk is to have it, and all before it, when it is done. */
  readonly change: (ids: readonly string[], isLast: boolean) => Promise<{ readonly changed: number; readonly gone: number }>;
}

/** Runs one bulk change of a tenant at a time. */
export type RunBulk = (tenantId: string, work: BulkWork) => Promise<BulkResult>;

/** Ids read at once: some milliseconds. */
const IDS_AT_ONCE = 5000;
const RETRY_MS = 1000;

/**
 * Which records match is read before the first is changed, so that neither what others change meanwhile nor the change itself makes them
 * more. They are changed in pieces, between which the event loop and whoever else writes have their turn; what fails midway leaves the rest
 * as it was.
 * @throws ApiError CONFLICT with `details.count` where another number matches than was expected; RATE_LIMITED while the tenant's last bulk
 * change is at work.
 */
export function createRunBulk(): RunBulk {
  const atWork = new Set<string>();
  return async (tenantId, work) => {
    if (atWork.has(tenantId)) throw rateLimited("another bulk change is at work: try again when it has ended", RETRY_MS);
    atWork.add(tenantId);
    try {
      return await run(work);
    } finally {
      atWork.delete(tenantId);
    }
  };
}

/** Records of which the ids are known. */
export function selectionOf(ids: readonly string[]): BulkSelection {
  return { count: () => Promise.resolve(ids.length), idsAfter: (after) => Promise.resolve(after === "" ? ids : []) };
}

async function run(work: BulkWork): Promise<BulkResult> {
  checkCount(work, await work.count());
  const ids = await readIds(work);
  checkCount(work, ids.length);
  await work.begin(ids);
  const result = { matched: ids.length, changed: 0, unchanged: 0, gone: 0 };
  for (let at = 0; at < ids.length; at += work.pieceSize) {
    const piece = ids.slice(at, at + work.pieceSize);
    const { changed, gone } = await work.change(piece, at + work.pieceSize >= ids.length);
    result.changed += changed;
    result.gone += gone;
    result.unchanged += piece.length - changed - gone;
    await nextTurn();
  }
  return result;
}

function checkCount({ expectedCount }: BulkWork, count: number): void {
  if (count === expectedCount) return;
  const message = `${count} match, and not ${expectedCount}: nothing was changed. Look at them again, and repeat it with the new number`;
  throw new ApiError("CONFLICT", message, { details: { count, expected_count: expectedCount } });
}

async function readIds({ idsAfter }: BulkWork): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length <= MAX_BULK) {
    const next = await idsAfter(ids.at(-1) ?? "", IDS_AT_ONCE);
    ids.push(...next);
    if (next.length < IDS_AT_ONCE) break;
    await nextTurn();
  }
  return ids;
}
