/** A link on which everything is answered in memory. For tests only. */
import { ipv4Number } from "@lanthorn/packets";
import { createAddressBook } from "../../probing/address-book.ts";
import { createHashKey } from "../../probing/frames/half-siphash.ts";
import type { ScanLink } from "../../probing/scan-link.ts";

const PLACES = 256;
const PLACE_OCTETS = 640;

/** An ARP answer to 02:00:00:00:00:01, 10.0.0.1. @param operation 1 for a request. */
export function arpAnswer(ip: number, mac: readonly number[], operation = 2): Uint8Array {
  const address = [ip >>> 24, (ip >>> 16) & 255, (ip >>> 8) & 255, ip & 255];
  const own = [0x02, 0, 0, 0, 0, 1];
  return Uint8Array.from([...own, ...mac, 0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, operation, ...mac, ...address, ...own, 10, 0, 0, 1]);
}

/** @param answersOf What comes back of an ARP request for an address. @param options.onSend May throw, as where the interface goes down. @param options.isHeld Answers do not come yet. */
export function createArpLink(
  answersOf: (ip: number) => readonly Uint8Array[],
  options: { readonly onSend?: (sent: number) => void; readonly isHeld?: () => boolean } = {},
): ScanLink & { readonly asked: readonly number[] } {
  const bytes = new Uint8Array(PLACES * PLACE_OCTETS);
  const asked: number[] = [];
  let waiting: Uint8Array[] = [];
  let count = 0;
  return {
    asked, port: 40_000, key: createHashKey(Math.random), book: createAddressBook(), close() {},
    sender: {
      bytes,
      place: () => (count === PLACES ? -1 : count * PLACE_OCTETS),
      commit() {
        count += 1;
        return true;
      },
      flush() {
        for (let index = 0; index < count; index += 1) {
          const ip = ipv4Number(bytes, index * PLACE_OCTETS + 38);
          asked.push(ip);
          waiting.push(...answersOf(ip));
        }
        count = 0;
        options.onSend?.(asked.length);
        return true;
      },
      counters: () => ({ sent: asked.length, refused: 0 }),
      close() {},
    },
    ring: {
      read(onFrame) {
        if (options.isHeld?.()) return 0;
        const some = waiting;
        waiting = [];
        for (const frame of some) onFrame(frame, 0, frame.length);
        return some.length;
      },
      dropped: () => 0,
      close() {},
    },
  };
}
