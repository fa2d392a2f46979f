import { decodeInteger } from "../identify/protocols/asn1.ts";
import type { Binding } from "./pdu.ts";

/** Reads one column. @returns Its values by what follows the column's name. */
export type ReadColumn = (root: string) => Promise<ReadonlyMap<string, Binding>>;

export function numberOf(binding: Binding | undefined): number {
  return binding ? decodeInteger(binding.value) : 0;
}

export function textOf(binding: Binding | undefined): string {
  return binding?.tag === 0x04 ? Buffer.from(binding.value.subarray(0, 4096)).toString("utf8") : "";
}
