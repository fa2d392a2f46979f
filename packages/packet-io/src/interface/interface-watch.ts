import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import type { PacketIoClock } from "../capture/capture-types.ts";
import { PacketIoError } from "../errors.ts";
import { type InterfaceFacts, readInterface } from "./interface-facts.ts";
import { readSysfs } from "./link-state.ts";

const LINK_ATTRIBUTES = ["ifindex", "flags", "operstate", "carrier_changes", "address", "mtu"] as const;

/** `interface` need not exist yet; its facts are polled. */
export interface InterfaceWatchOptions {
  readonly interface: string;
  readonly clock: PacketIoClock;
  /** Time between polls; a poll costs about half a millisecond and starts no process. Default 1000. */
  readonly periodMs?: number;
  /** Called with the facts at once, then after each change of them; null while there is no such interface. */
  onChange(facts: InterfaceFacts | null): void;
  /** The facts cannot be read (`facts-unavailable`); it is tried again at the next poll. */
  onFailure(reason: PacketIoError): void;
}

/**
 * Follows an interface through down and up, cable out and in, removal and return, and changes of its addresses and IPv4 routes.
 * A change that is undone between two polls is reported too where the kernel counts it, as it does for the carrier.
 */
export function watchInterface(options: InterfaceWatchOptions): { close(): void } {
  let seen: string | undefined;
  let reading = false;
  let open = true;
  const look = async () => {
    const key = quickLook(options.interface);
    if (reading || key === seen) return;
    reading = true;
    try {
      const facts = await readIfThere(options.interface);
      seen = key;
      if (open) options.onChange(facts);
    } catch (error) {
      if (!(error instanceof PacketIoError)) throw error;
      if (open) options.onFailure(error);
    } finally {
      reading = false;
    }
  };
  void look();
  const stop = options.clock.every(options.periodMs ?? 1000, () => void look());
  return {
    close() {
      open = false;
      stop();
    },
  };
}

async function readIfThere(name: string): Promise<InterfaceFacts | null> {
  try {
    return await readInterface(name);
  } catch (error) {
    if (error instanceof PacketIoError && error.code === "interface-missing") return null;
    throw error;
  }
}

/** Text that differs when something about the interface did. */
function quickLook(name: string): string {
  const link = LINK_ATTRIBUTES.map((attribute) => readSysfs(name, attribute) ?? "-");
  const addresses = (networkInterfaces()[name] ?? []).map((address) => address.cidr ?? address.address);
  return [...link, ...addresses, ...readRoutes(name)].join(" ");
}

function readRoutes(name: string): readonly string[] {
  try {
    return readFileSync("/proc/self/net/route", "latin1").split("\n").filter((line) => line.startsWith(`${name}\t`));
  } catch {
    return [];
  }
}
