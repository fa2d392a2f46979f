import { type AddressSet, openPacketRing, openRawSender, type PacketRing, type RawSender, takeQuietPort } from "@lanthorn/packet-io";
import { type AddressBook, createAddressBook } from "./address-book.ts";
import type { HashKey } from "./frames/half-siphash.ts";
import { createHashKey } from "./frames/half-siphash.ts";

/** One scan's own way to the wire: frames out, answers in, and the port and key that tell its answers from everything else. */
export interface ScanLink {
  readonly sender: RawSender;
  readonly ring: PacketRing;
  /** Our end of every TCP and UDP question. The kernel is silent on it. */
  readonly port: number;
  readonly key: HashKey;
  /** Of the IPv6 addresses that are asked. */
  readonly book: AddressBook;
  close(): void;
}

/** Opens a link to the wire. @param excluded Asked for each frame. @param book Another link's, where both ask the same hosts. */
export type OpenScanLink = (excluded: () => AddressSet, book?: AddressBook) => ScanLink;

/**
 * @param options.random In [0, 1).
 * @throws PacketIoError as `openRawSender`, `openPacketRing` and `takeQuietPort` do; nothing stays open then.
 */
export function openScanLink(options: {
  readonly interface: string;
  readonly excluded: () => AddressSet;
  readonly random: () => number;
  /** Another link's, where both ask the same hosts. */
  readonly book?: AddressBook;
}): ScanLink {
  const opened: { close(): void }[] = [];
  const close = () => {
    for (const one of opened.splice(0)) one.close();
  };
  const keep = <T extends { close(): void }>(one: T): T => {
    opened.push(one);
    return one;
  };
  try {
    const { port } = keep(takeQuietPort(options.random));
    const ring = keep(openPacketRing({ interface: options.interface, port }));
    const sender = keep(openRawSender(options));
    return { sender, ring, port, key: createHashKey(options.random), book: options.book ?? createAddressBook(), close };
  } catch (error) {
    close();
    throw error;
  }
}
