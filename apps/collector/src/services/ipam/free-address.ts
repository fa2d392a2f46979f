import { type Clock, toInstant } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import { addressOf, keyOf, numberOf, parseNetwork } from "../../db/keys/address-range.ts";
import type { Schema } from "../../db/schema.ts";
import { usableRange } from "./records.ts";
import { placeOf } from "./store/observations.ts";
import { findFree, mergeIntervals, occupiedIn } from "./store/occupied.ts";
import type { IpamStore } from "./store/plan.ts";

/** Where a free address is looked for. */
export interface FreeAddressWish {
  readonly tenantId: string;
  readonly siteId: string;
  /** An address of the site: the free one is of the same planned network, behind it where there is one. */
  readonly near: string;
  /** Addresses that are not to be given, though nobody has them. */
  readonly except: readonly string[];
}

/** Finds an address that nobody has, without taking it. */
export type FindFreeAddress = (wish: FreeAddressWish) => Promise<{ readonly ip: string; readonly prefixLength: number } | null>;

/** @returns Null from it where no planned network holds `near`, or where that is full, or not for hosts. */
export function createFreeAddressFinder({ reads, store, clock }: {
  readonly reads: Kysely<Schema>; readonly store: Pick<IpamStore, "parents" | "prefix">; readonly clock: Pick<Clock, "now">;
}): FindFreeAddress {
  return async ({ tenantId, siteId, near, except }) => {
    const place = parseNetwork(near);
    if (place === null || place.hostBits !== 0) return null;
    const [parentId] = await store.parents(reads, tenantId, [{ network: place.network, siteId, isPrefix: false }]);
    const parent = parentId === undefined || parentId === null ? null : await store.prefix(reads, tenantId, parentId);
    if (parent?.status !== "active") return null;
    const range = usableRange({ first: numberOf(parent.first_key), last: numberOf(parent.last_key) }, parent.family);
    const others = except.flatMap((ip) => {
      const one = parseNetwork(ip);
      return one?.hostBits === 0 && one.first.length === parent.first_key.length ? [numberOf(one.first)] : [];
    }).toSorted((a, b) => (a < b ? -1 : 1)).map((at) => ({ first: at, last: at }));
    const taken = () => mergeIntervals([occupiedIn(reads, { ...placeOf(parent), siteId }, { length: parent.length, now: toInstant(clock.now()) }), eachOf(others)]);
    const free = (await findFree({ first: numberOf(place.first) + 1n, last: range.last }, 0, taken())) ?? (await findFree(range, 0, taken()));
    return free === null ? null : { ip: addressOf(keyOf(free, parent.first_key)), prefixLength: parent.length };
  };
}

async function* eachOf<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}
