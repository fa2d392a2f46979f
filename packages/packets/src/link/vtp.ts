import { badValue, decoded, type Decoded } from "../decoded.ts";
import { Reader } from "../reader.ts";
import { decodeUtf8 } from "../text.ts";

/** The head of Cisco's VLAN Trunking Protocol, behind SNAP: switches take over each other's VLANs. There is no standard. */

/** SNAP organization and protocol of a VTP frame, which goes to the address of DTP. @see IEEE 802-2014 clause 9 */
export const VTP_SNAP = { organization: 0x00000c, protocol: 0x2003 } as const;

const CODES = ["", "summary", "subset", "request", "join"] as const;
const DOMAIN_LENGTH = 32;

/** What each VTP message begins with. */
export interface VtpPdu {
  /** 1, 2 or 3. */
  readonly version: number;
  readonly code: "summary" | "subset" | "request" | "join";
  readonly domain: string;
  /** Of the VLANs: who has the higher one overwrites the others. Null in requests and joins. */
  readonly revision: number | null;
}

/** @param bytes What follows SNAP. @returns `bad-value` for another code or a longer domain. */
export function decodeVtp(bytes: Uint8Array): Decoded<VtpPdu> {
  const reader = new Reader(bytes);
  const [version, code] = [reader.u8(), reader.u8()];
  reader.skip(1);
  const domainLength = reader.u8();
  const domain = reader.take(DOMAIN_LENGTH);
  if (reader.failed) return reader.malformed("vtp");
  const name = CODES[code];
  if (name === undefined || name === "") return badValue("vtp", 1);
  if (domainLength > DOMAIN_LENGTH) return badValue("vtp", 3);
  const revision = name === "summary" || name === "subset" ? reader.u32() : null;
  if (reader.failed) return reader.malformed("vtp");
  return decoded({ version, code: name, domain: decodeUtf8(domain.subarray(0, domainLength)), revision });
}
