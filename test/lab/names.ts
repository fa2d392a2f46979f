import { createHash } from "node:crypto";
import { type HostPlan, PROBE_BOX, SWITCH_BOX } from "./host-plan.ts";
import { LabError } from "./errors.ts";

/** The lab that the command makes unless another id is given. */
export const DEFAULT_LAB_ID = "default";

/** Blocks of makers that a joining host may come from: 24, 28 and 36 bits, as hexadecimal digits. */
const MAKER_BLOCKS = ["105107", "103047", "2ccf67", "140808", "106530", "001132", "1063a3d", "20ce2ac", "70b3d5365"];

/**
 * How everything of one lab is called on the machine.
 * @param id Letters and digits, at most eight, so that interface names stay below the kernel's 16 bytes.
 * @throws LabError `bad-id`.
 */
export function namesOf(id: string): { readonly namespace: (host: string) => string; readonly wanPeer: string } {
  if (!/^[a-z0-9]{1,8}$/.test(id)) throw new LabError("bad-id", `"${id}" cannot be a lab's id: 1 to 8 of a-z and 0-9`);
  const prefix = id === DEFAULT_LAB_ID ? "lab" : `lab-${id}`;
  return { namespace: (host) => `${prefix}-${host}`, wanPeer: `${prefix}-w0` };
}

/**
 * Checks what somebody wants to call a host.
 * @returns The name in lower case, as DNS compares names.
 * @throws LabError `bad-name`.
 * @see RFC 1123 section 2.1
 */
export function hostName(text: string): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/i.test(text)) {
    throw new LabError("bad-name", `"${text}" cannot be a host's name: 1 to 32 letters, digits and inner hyphens`);
  }
  return text.toLowerCase();
}

export function isReservedName(name: string): boolean {
  return name === PROBE_BOX.name || name === SWITCH_BOX.name;
}

/** The plan of a host that joins: it leases its address under its own name, and has the same MAC each time. */
export function planOfJoining(name: string): HostPlan {
  const digest = createHash("sha256").update(name).digest();
  const block = MAKER_BLOCKS[(digest[0] ?? 0) % MAKER_BLOCKS.length] ?? "";
  const digits = (block + digest.subarray(1).toString("hex")).slice(0, 12);
  return { name, mac: digits.replace(/..(?!$)/g, "$&:"), addresses: [], leasesAs: name, daemons: [] };
}
