/** Captures of the interfaces that have decoys' addresses, for as long as they have them. */
import type { NetworkInterfaceInfo } from "node:os";
import type { CaptureOptions, OnFrames, openCapture } from "@lanthorn/packet-io";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { scanFilter } from "./scan-filter.ts";

/** What captures. */
export interface ScanCaptures {
  /** Captures where these are, and nowhere else. To be called again when they, or the interfaces, may have changed. */
  watch(addresses: readonly string[]): void;
  close(): Promise<void>;
}

type Capture = ReturnType<typeof openCapture>;

/** Each has a kernel's ring of 4 MiB. */
const MAX_INTERFACES = 4;
/** Headers with all options; of an ICMP error, also the beginning of what it quotes. */
const SNAP_LENGTH = 192;
const RETRY_MS = 30_000;

interface Opened {
  readonly addresses: string;
  /** Null where it could not be opened, or was lost. */
  capture: Capture | null;
  readonly atMs: number;
}

/** @param deps.interfaces As of the operating system. */
export function createScanCaptures(deps: {
  readonly openCapture: (options: CaptureOptions) => Capture; readonly interfaces: () => Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, "address">[] | undefined>>;
  readonly onFrames: OnFrames; readonly clock: Clock; readonly log: Pick<Log, "info" | "warn">;
}): ScanCaptures {
  const { clock, log } = deps;
  const opened = new Map<string, Opened>();
  const closing = new Set<Promise<void>>();
  const end = (name: string) => {
    const closed = opened.get(name)?.capture?.close();
    opened.delete(name);
    if (!closed) return;
    closing.add(closed);
    void closed.finally(() => closing.delete(closed));
  };
  const open = (name: string, addresses: readonly string[]) => {
    const one: Opened = { addresses: addresses.join(" "), capture: null, atMs: clock.monotonic() };
    opened.set(name, one);
    try {
      one.capture = deps.openCapture({
        interface: name, filter: scanFilter(addresses), snapLength: SNAP_LENGTH, promiscuous: false, clock, onFrames: deps.onFrames,
        onLost(reason) {
          one.capture = null;
          log.warn({ interface: name, reason: describeError(reason) }, "scans of decoys are not seen; trying again in half a minute");
        },
      });
      log.info({ interface: name, addresses }, "watches for scans of decoys");
    } catch (error) {
      log.warn({ interface: name, reason: describeError(error) }, "scans of decoys cannot be seen; trying again in half a minute");
    }
  };
  return {
    watch(addresses) {
      const wanted = new Map<string, readonly string[]>();
      for (const [name, own] of Object.entries(deps.interfaces())) {
        const here = addresses.filter((address) => own?.some((one) => one.address === address));
        if (here.length > 0 && wanted.size < MAX_INTERFACES) wanted.set(name, here);
      }
      for (const [name, one] of opened) {
        const isSame = wanted.get(name)?.join(" ") === one.addresses;
        const isRetried = one.capture === null && clock.monotonic() - one.atMs >= RETRY_MS;
        if (!isSame || isRetried) end(name);
      }
      for (const [name, here] of wanted) if (!opened.has(name)) open(name, here);
    },
    async close() {
      for (const name of opened.keys()) end(name);
      await Promise.all(closing);
    },
  };
}
