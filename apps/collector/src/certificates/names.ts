import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { x509 } from "./x509.ts";

/** What this machine answers to: its host name, `localhost`, and every address but those that need a zone to be reached. */
export function machineNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address));
  return [hostname(), "localhost", ...addresses.filter((address) => !address.startsWith("fe80:"))];
}

/** Names and addresses as a subject alternative name holds them; each once, and what is neither is left out. */
export function sanList(names: readonly string[]): x509.JsonGeneralNames {
  return [...new Set(names.map((name) => name.toLowerCase()))].flatMap((name): x509.JsonGeneralNames => {
    if (isIP(name) !== 0) return [{ type: "ip", value: name }];
    return /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/.test(name) ? [{ type: "dns", value: name }] : [];
  });
}
