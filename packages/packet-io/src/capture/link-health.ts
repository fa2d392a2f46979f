import type { OnLost } from "./capture-types.ts";
import { PacketIoError } from "../errors.ts";
import { linkError, type LinkState, readLinkState } from "../interface/link-state.ts";

/** A net below what the wake-ups say; each look wakes the process. */
export const LINK_CHECK_MS = 2000;

/**
 * Notices what `pcap` does not tell. When an interface goes down, the socket reports an error once; libuv stops polling it for good, the
 * reader gets one wake-up without frames, and the capture stays deaf after the interface is up again.
 */
export function createLinkHealth(options: { readonly interface: string; readonly link: LinkState; readonly lose: OnLost }): {
  /** A wake-up brought frames. */
  heard(): void;
  /** A wake-up brought none. */
  doubt(): void;
  check(): void;
} {
  let known = options.link;
  let doubted = false;
  const check = () => {
    const link = readLinkState(options.interface);
    if (link.state !== "up") return options.lose(linkError(options.interface, link.state));
    if (link.index !== known.index) return options.lose(linkError(options.interface, "missing"));
    if (doubted) {
      return options.lose(new PacketIoError("capture-lost", `the capture on ${options.interface} went deaf; open it again`));
    }
    // The carrier came and went: perhaps the interface was down in between, and the wake-up fell together with frames.
    doubted = link.carrierChanges !== known.carrierChanges;
    known = link;
  };
  return {
    heard() {
      doubted = false;
    },
    doubt() {
      if (readLinkState(options.interface).state === "up") doubted = true;
      else check();
    },
    check,
  };
}
