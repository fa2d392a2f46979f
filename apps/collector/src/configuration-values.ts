import { isIP } from "node:net";
import * as z from "zod";

/** 0 lets the system choose a free port; the `ready` line tells which. */
export const Port = z.int().min(0).max(65_535);
/** A host's name or address. */
export const Host = z.string().min(1).max(255);
/** Addresses: one, or all of a network. */
export const Prefix = z.string().refine(isPrefix, "an address or a prefix, as 10.0.0.1 or 10.0.0.0/8");
/** A list, or in the environment its members with commas between. */
export const Names = z.preprocess(splitAtCommas, z.array(Host).max(64));

/** A text's members between commas; what is no text stays as it is. */
export function splitAtCommas(value: unknown): unknown {
  return typeof value === "string" ? value.split(",").map((name) => name.trim()).filter(Boolean) : value;
}

function isPrefix(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
