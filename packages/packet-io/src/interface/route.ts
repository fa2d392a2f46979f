import { PacketIoError } from "../errors.ts";
import { isRecord, type IpRecord, readIpRecords, textOf } from "./ip-command.ts";

/** How the kernel would reach an address through one interface. */
export interface Route {
  /** The next hop, of either family; null for an address on the link itself. */
  readonly gateway: string | null;
  /** Our own address that packets come from. */
  readonly source: string;
}

/**
 * Asks the kernel for the way to an address through an interface, as `ip route get` shows it.
 * @returns Null where it knows none.
 * @throws PacketIoError `interface-missing` or `facts-unavailable`.
 */
export async function readRoute(name: string, address: string): Promise<Route | null> {
  try {
    return toRoute(await readIpRecords(["route", "get", address, "oif", name], name));
  } catch (error) {
    if (error instanceof PacketIoError && /unreachable|prohibit|No route|Invalid argument/i.test(error.message)) return null;
    throw error;
  }
}

/** @param routes What `ip -j route get` says. */
export function toRoute(routes: readonly IpRecord[]): Route | null {
  const [route] = routes;
  const source = textOf(route?.["prefsrc"]);
  if (!route || source === "" || ["unreachable", "prohibit", "blackhole", "local"].includes(textOf(route["type"]))) return null;
  const via = isRecord(route["via"]) ? textOf(route["via"]["host"]) : "";
  return { gateway: textOf(route["gateway"]) || via || null, source };
}
