import type { IpamAddress, IpamNextAddress, IpamNextPrefix, IpamPrefix } from "@lanthorn/contract";
import { type Clock, createId, toInstant } from "@lanthorn/runtime";
import { addressOf, keyOf, numberOf, parseNetwork } from "../../db/keys/address-range.ts";
import type { Audit } from "../../gateway/audit.ts";
import type { Actor } from "../../gateway/environment.ts";
import { ApiError } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import type { PrefixRecords } from "./prefix-records.ts";
import { addressRow, bitsOf, prefixRow, toAddress, usableRange } from "./records.ts";
import { placeOf } from "./store/observations.ts";
import { findFree, occupiedIn } from "./store/occupied.ts";
import { addToPlan } from "./store/plan-writes.ts";
import type { IpamStore } from "./store/plan.ts";

/** What is free in a prefix, taken. */
export interface NextFree {
  /** Of several at once, each gets another. @throws ApiError NOT_FOUND; CONFLICT where none is free. */
  nextAddress(actor: Actor, id: string, wish: IpamNextAddress): Promise<IpamAddress>;
  /** @throws ApiError as `nextAddress`; BAD_REQUEST for a length that does not lie in it. */
  nextPrefix(actor: Actor, id: string, wish: IpamNextPrefix): Promise<IpamPrefix>;
}

/** Takes the first free address or prefix of a prefix. */
export function nextFree(deps: {
  readonly store: Pick<IpamStore, "change">; readonly records: Pick<PrefixRecords, "find" | "insert">; readonly audit: Audit;
  readonly clock: Pick<Clock, "now">;
}): NextFree {
  const { store, records, clock } = deps;
  const owner = (tenantId: string) => ({ id: createId(), tenantId, at: toInstant(clock.now()) });

  return {
    nextAddress: (actor, id, wish) => store.change(actor.tenantId, async (trx) => {
      const parent = await records.find(trx, actor.tenantId, id);
      const range = usableRange({ first: numberOf(parent.first_key), last: numberOf(parent.last_key) }, parent.family);
      const free = await findFree(range, 0, occupiedIn(trx, placeOf(parent), { length: parent.length, now: toInstant(clock.now()) }));
      if (free === null) throw new ApiError("CONFLICT", `no address of ${parent.prefix} is free`);
      const place = parseNetwork(addressOf(keyOf(free, parent.first_key)));
      if (!place) throw new Error(`${free} is not an address`);
      const row = addressRow(place, { ...wish, site_id: parent.site_id }, owner(actor.tenantId));
      if (!(await addToPlan(trx, "ipam_addresses", row))) throw new ApiError("CONFLICT", `${row.ip} is already recorded`);
      const shown = toAddress(row, parent.id);
      await deps.audit(trx, { actor, action: "ipam_address.create", target: { type: "ipam_address", id: row.id }, before: null, after: shown });
      return shown;
    }),

    nextPrefix: (actor, id, { length, ...wish }) => store.change(actor.tenantId, async (trx) => {
      const parent = await records.find(trx, actor.tenantId, id);
      const bits = bitsOf(parent.first_key);
      if (length <= parent.length || length > bits) {
        throw badRequest([{ path: ["length"], message: `${parent.length + 1} to ${bits} was expected` }]);
      }
      const range = { first: numberOf(parent.first_key), last: numberOf(parent.last_key) };
      const free = await findFree(range, bits - length, occupiedIn(trx, placeOf(parent), { length: parent.length, now: toInstant(clock.now()) }));
      if (free === null) throw new ApiError("CONFLICT", `no /${length} of ${parent.prefix} is free`);
      const place = parseNetwork(`${addressOf(keyOf(free, parent.first_key))}/${length}`);
      if (!place) throw new Error(`${free} is not an address`);
      return records.insert(trx, actor, prefixRow(place, { ...wish, site_id: parent.site_id }, owner(actor.tenantId)));
    }),
  };
}
