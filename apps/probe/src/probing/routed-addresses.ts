import { ipv4Bytes, ipv4Number } from "@lanthorn/packets";
import type { HostTarget } from "./frames/packet.ts";

/** A run of addresses behind a router. */
export interface RoutedRange {
  /** The first, four or sixteen bytes. */
  readonly first: Uint8Array;
  /** At most 65,536. */
  readonly count: number;
}

/** Addresses of one family behind a router that are to be asked, by their places from 0 on. */
export interface RoutedAddresses {
  readonly count: number;
  readonly size: 4 | 16;
  /** With `ip` 0 for IPv6. */
  at(place: number): Pick<HostTarget, "ip" | "address6">;
  /** The place of the address at `offset`; -1 where it is none of these. @param size 4 or 16. */
  placeOf(bytes: Uint8Array, offset: number, size: number): number;
  /** Whether they are all of a network: then it shows when something answers for all of it. */
  readonly isWhole: boolean;
}

/** All addresses of a run. */
export function addressesInRange({ first, count }: RoutedRange): RoutedAddresses {
  const size = first.length === 4 ? 4 : 16;
  const firstNumber = ipv4Number(first, size - 4);
  return {
    count, size, isWhole: true,
    at(place) {
      if (size === 4) return { ip: firstNumber + place };
      const address6 = first.slice();
      new DataView(address6.buffer).setUint32(12, firstNumber + place);
      return { ip: 0, address6 };
    },
    placeOf(bytes, offset, length) {
      if (length !== size) return -1;
      for (let index = 0; index < size - 4; index += 1) if (bytes[offset + index] !== first[index]) return -1;
      const place = ipv4Number(bytes, offset + size - 4) - firstNumber;
      return place < count ? place : -1;
    },
  };
}

/** Some addresses. @param list Of one family, none twice. */
export function addressesInList(list: readonly Uint8Array[]): RoutedAddresses {
  const keyOf = (bytes: Uint8Array, offset: number, size: number) =>
    Buffer.from(bytes.buffer, bytes.byteOffset + offset, size).toString("latin1");
  const size = list[0]?.length === 16 ? 16 : 4;
  const places = new Map(list.map((bytes, place) => [keyOf(bytes, 0, size), place]));
  return {
    count: list.length, size, isWhole: false,
    at(place) {
      const bytes = list[place] as Uint8Array;
      return size === 4 ? { ip: ipv4Number(bytes) } : { ip: 0, address6: bytes };
    },
    placeOf: (bytes, offset, length) => (length === size ? (places.get(keyOf(bytes, offset, size)) ?? -1) : -1),
  };
}

/** An address as bytes, four or sixteen. */
export function bytesOf({ ip, address6 }: Pick<HostTarget, "ip" | "address6">): Uint8Array {
  return address6 ?? ipv4Bytes(ip);
}
