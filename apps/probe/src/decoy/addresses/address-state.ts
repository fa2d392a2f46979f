/** How the decoys' own addresses are: written by the process that takes them, read by the one that serves them. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { OwnAddressReport } from "@lanthorn/contract/uplink";
import { parseJson, readTextFile } from "@lanthorn/runtime";
import * as z from "zod";
import { writeFileAtomically } from "../../atomic-file.ts";

const FILE = "addresses.json";
const MAX_OCTETS = 256 * 1024;
const MAX_ADDRESSES = 64;

/** How far an address is. */
export type AddressCondition = Pick<OwnAddressReport, "state" | "used_by" | "problem">;

const Addresses = z.object({ addresses: z.array(z.object({ decoy: z.string().max(64), address: z.string().max(64), report: OwnAddressReport })).max(MAX_ADDRESSES) });
/** Of each decoy with an address of its own. */
export type OwnAddresses = z.infer<typeof Addresses>["addresses"];

/** The file in the folder that both processes know. */
export function ownAddressesFile(directory: string): string {
  return join(directory, FILE);
}

/** Everybody of the machine may read it. @throws NodeJS.ErrnoException as the file system says. */
export function writeOwnAddresses(directory: string, addresses: OwnAddresses): void {
  writeFileAtomically(ownAddressesFile(directory), `${JSON.stringify({ addresses })}\n`, { mode: 0o644, durable: false });
}

/** @returns Null where the process that takes addresses does not run, or wrote nonsense. */
export function readOwnAddresses(directory: string): OwnAddresses | null {
  const path = ownAddressesFile(directory);
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size === 0 || size > MAX_OCTETS) return null;
  const read = Addresses.safeParse(parseJson(readTextFile(path) ?? ""));
  return read.success ? read.data.addresses : null;
}
