import type { DnsListCreate } from "@lanthorn/contract";
import { ownerOfDnsList } from "../../../sealing/sealed-columns.ts";
import type { Sealing } from "../../../sealing/sealing.ts";
import { TRANSFER_SCHEME } from "../transfers/fetch-zone.ts";
import type { TsigKey } from "../transfers/tsig.ts";
import type { ListRow } from "./store.ts";

type KeyColumns = Pick<ListRow, "tsig_name" | "tsig_algorithm" | "tsig_sealed">;

/** Whether a list is a zone that a server gives. */
export function isTransferred({ kind, place }: Pick<ListRow, "kind" | "place">): boolean {
  return kind === "url" && place.toLowerCase().startsWith(TRANSFER_SCHEME);
}

/** A key as it is kept. @param id The list's. */
export function sealTsig(sealing: Sealing, id: string, tsig: DnsListCreate["tsig"] | null): KeyColumns {
  return tsig ? { tsig_name: tsig.name, tsig_algorithm: tsig.algorithm, tsig_sealed: sealing.seal(tsig.secret, ownerOfDnsList(id)) } : { tsig_name: null, tsig_algorithm: null, tsig_sealed: null };
}

/** @returns The key of a list; null for none. @throws CollectorError `secret-unreadable`. */
export function keyOf(sealing: Sealing, { id, tsig_name: name, tsig_algorithm: algorithm, tsig_sealed: sealed }: Pick<ListRow, "id"> & KeyColumns): TsigKey | null {
  if (name === null || sealed === null) return null;
  return { name, algorithm: algorithm as TsigKey["algorithm"], secret: Buffer.from(sealing.open(sealed, ownerOfDnsList(id)), "base64") };
}
