/** Which MAC address has which address of this link, as the kernel knows it by ARP and neighbor discovery. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { parseIp } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";

/** What the kernel said last. */
export interface NeighborTable {
  /**
   * The MAC address of a neighbor, as `aa:bb:cc:dd:ee:ff`; null where the kernel did not know one when it was asked last. It is asked again for an address that is not
   * there, at most once a second, and for all after ten seconds; nobody waits for that.
   */
  macOf(address: Uint8Array): string | null;
  /** Resolves when what is being read was read. Never rejects. */
  settled(): Promise<void>;
}

/** Reads both tables. @throws Error where one cannot be read. */
export type ReadNeighbors = (family: 4 | 6) => Promise<string>;

const [AGAIN_MS, OLD_MS] = [1000, 10_000];
const MAX_BYTES = 1_500_000;
const TIMEOUT_MS = 2000;
/** Read in some milliseconds. The kernel itself keeps 1,024 (`gc_thresh3`), whoever floods the link with addresses. */
const MAX_NEIGHBORS = 16_384;

const run = promisify(execFile);

/** From `/proc/net/arp`, and from `ip -6 neighbor`: the kernel has no file for IPv6. */
export const readKernelNeighbors: ReadNeighbors = async (family) =>
  family === 4 ? readFile("/proc/net/arp", "utf8") : (await run("ip", ["-6", "neighbor", "show"], { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES })).stdout;

/** @returns A table that has read nothing yet. */
export function createNeighborTable(clock: Pick<Clock, "monotonic">, read: ReadNeighbors = readKernelNeighbors): NeighborTable {
  const families = new Map([4, 6].map((family) => [family, createFamily(family as 4 | 6, clock, read)]));
  return {
    macOf: (address) => families.get(address.length === 4 ? 4 : 6)?.macOf(keyOf(address)) ?? null,
    async settled() {
      await Promise.all([...families.values()].map((family) => family.settled()));
    },
  };
}

function createFamily(family: 4 | 6, clock: Pick<Clock, "monotonic">, read: ReadNeighbors) {
  let table: ReadonlyMap<string, string> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const refresh = async () => {
    try {
      table = parseNeighbors(family, await read(family));
    } catch {
      // Without the command, or in a moment of need: what was known stays, and addresses do what they did before.
    } finally {
      reading = null;
    }
  };
  return {
    macOf(key: string): string | null {
      const mac = table.get(key) ?? null;
      const age = clock.monotonic() - readAt;
      if (reading === null && age > (mac === null ? AGAIN_MS : OLD_MS)) {
        readAt = clock.monotonic();
        reading = refresh();
      }
      return mac;
    },
    async settled() {
      await reading;
    },
  };
}

const LINE = {
  /** `192.168.1.7  0x1  0x2  aa:bb:cc:dd:ee:ff  *  eth0` */
  4: /^([\d.]{7,15}) +0x[\da-f]{1,8} +0x[\da-f]{1,8} +((?:[\da-f]{2}:){5}[\da-f]{2}) /i,
  /** `2001:db8::7 dev eth0 lladdr aa:bb:cc:dd:ee:ff REACHABLE` */
  6: /^([\da-f:.]{2,45}) dev [^ ]{1,64} lladdr ((?:[\da-f]{2}:){5}[\da-f]{2})(?: |$)/i,
} as const;

/** @param text As the kernel or `ip` prints it. @returns MAC addresses by the bytes of addresses. What is incomplete, or cannot be read, is left out. */
export function parseNeighbors(family: 4 | 6, text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.slice(0, MAX_BYTES).split("\n")) {
    const [, address = "", mac = ""] = LINE[family].exec(line) ?? [];
    const bytes = parseIp(address);
    if (bytes === null || mac === NO_MAC) continue;
    if (found.size >= MAX_NEIGHBORS) break;
    found.set(keyOf(bytes), mac.toLowerCase());
  }
  return found;
}

const NO_MAC = "00:00:00:00:00:00";

/** One character a byte. */
function keyOf(address: Uint8Array): string {
  return String.fromCodePoint(...address);
}
