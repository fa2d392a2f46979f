import { isIP } from "node:net";
import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import * as z from "zod";

/** An address or a prefix of either family, as text. */
export const Prefix = z.string().refine((text) => isPrefix(text), "an address or a prefix, as 10.0.0.7 or 10.0.0.0/24 or fd00::/64");
const Network = z.string().refine((text) => text.includes(".") && text.includes("/") && isPrefix(text), "an IPv4 prefix, as 10.0.0.0/24");

/** Where the probe may send at all: keys at the top of the file. */
export const egressSettings = {
  /** Parts of the interface's own subnets to sweep; empty for all of them. */
  networks: z.array(Network).max(256).default([]),
  /** Never sent to, whatever the collector says. */
  excluded: z.array(Prefix).max(4096).default([]),
};

/** Those keys with their defaults filled in. */
export type EgressKeys = { readonly [Key in keyof typeof egressSettings]: z.infer<(typeof egressSettings)[Key]> };

/** What the collector pushes to this module: slower or fewer sweeps, and addresses that nothing is sent to. It only narrows the file's settings. */
export const egressPart = ProbeConfiguration.pick({ sweep: true, excluded: true });

/** @returns Whether the text is an address, or one with as many bits behind it as its family has at most. */
export function isPrefix(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
