import type { BulkResult } from "@lanthorn/contract";
import { nextTurn } from "@lanthorn/runtime";
import { inTurns } from "../../db/query/in-turns.ts";
import { ApiError, rateLimited } from "../errors.ts";

/** The records that match. */
interface BulkSelection {
  /** Their ids in their order, some at a time. */
  readonly ids: () => AsyncIterable<readonly string[]>;
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
  return { ids: () => inTurns(ids) };
}

async function run(work: BulkWork): Promise<BulkResult> {
  const ids = await readIds(work);
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

/** Beyond those that are expected they are only counted. */
async function readIds({ ids, expectedCount }: BulkWork): Promise<readonly string[]> {
  const found: string[] = [];
  let count = 0;
  for await (const some of ids()) {
    count += some.length;
    if (count <= expectedCount) found.push(...some);
  }
  if (count === expectedCount) return found;
  const message = `${count} match, and not ${expectedCount}: nothing was changed. Look at them again, and repeat it with the new number`;
  throw new ApiError("CONFLICT", message, { details: { count, expected_count: expectedCount } });
}
