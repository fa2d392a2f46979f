import { decodeInteger, formatMac } from "@lanthorn/packets";
import type { Binding } from "./session/pdu.ts";

/** Reads one column. @returns Its values by what follows the column's name. */
export type ReadColumn = (root: string) => Promise<ReadonlyMap<string, Binding>>;

/** An INTEGER, counter or time, read as an unsigned number. 0 where there is no such row. */
export function numberOf(binding: Binding | undefined): number {
  return binding ? decodeInteger(binding.value) : 0;
}

/** An OCTET STRING as UTF-8, at most 4096 bytes of it. Empty for other types, and where there is no such row. */
export function textOf(binding: Binding | undefined): string {
  return binding?.tag === 0x04 ? Buffer.from(binding.value.subarray(0, 4096)).toString("utf8") : "";
}

/** Empty for what is none, and for groups' addresses. */
export function macOf(bytes: Uint8Array | undefined): string {
  return bytes?.length === 6 && ((bytes[0] ?? 1) & 1) === 0 ? formatMac(bytes) : "";
}
