import type { FrameView } from "@lanthorn/packet-io";

/** Packets that are looked for among many frames, each for one or more. */
export interface WantedPackets<Owner> {
  /** @param text The first 2048 octets of the packet at most, base64. */
  add(text: string, owner: Owner): void;
  /** Calls back for each who wants a packet that is equal to the frame. @returns How many packets the frame was compared with. */
  match(frame: FrameView, onEqual: (owner: Owner) => void): number;
}

/** A frame this long is compared by its beginning alone: events carry no more of it. */
const MAX_COMPARED = 2048;
/** No frame is cut below this: its key can always be made. */
const KEY_OCTETS = 60;
const MIN_OCTETS = 14;
/** The end of the source address, by which nearly every frame of others is left out. */
const WORD_AT = 8;
const TABLE_BITS = 1 << 16;
const FACTOR = 0x9e37_79b1;

/** Frames are held against a table of bits, then against a key of their first octets, and only then compared. */
export function createWantedPackets<Owner>(): WantedPackets<Owner> {
  const table = new Uint8Array(TABLE_BITS);
  const byText = new Map<string, Owner[]>();
  const byKey = new Map<number, { readonly packet: Buffer; readonly owners: readonly Owner[] }[]>();
  return {
    add(text, owner) {
      const known = byText.get(text);
      if (known) {
        if (known.at(-1) !== owner) known.push(owner);
        return;
      }
      const packet = Buffer.from(text, "base64");
      if (packet.length < MIN_OCTETS) return;
      const owners = [owner];
      byText.set(text, owners);
      const key = keyOf(packet, 0, packet.length);
      const same = byKey.get(key) ?? [];
      same.push({ packet, owners });
      byKey.set(key, same);
      table[placeOf(packet, 0)] = 1;
    },
    match(frame, onEqual) {
      if (frame.length < MIN_OCTETS || table[placeOf(frame.bytes, frame.offset)] === 0) return 0;
      const candidates = byKey.get(keyOf(frame.bytes, frame.offset, frame.length));
      if (!candidates) return 0;
      let compared = 0;
      for (const { packet, owners } of candidates) {
        compared += 1;
        if (!isEqual(frame, packet)) continue;
        compared += owners.length;
        for (const owner of owners) onEqual(owner);
      }
      return compared;
    },
  };
}

const placeOf = (bytes: Buffer, offset: number) => Math.imul(bytes.readInt32LE(offset + WORD_AT), FACTOR) >>> 16;

function keyOf(bytes: Buffer, offset: number, length: number): number {
  const end = offset + Math.min(length, KEY_OCTETS);
  let key = 0;
  for (let at = offset; at + 4 <= end; at += 4) key = Math.imul(key ^ bytes.readInt32LE(at), FACTOR) ^ (key >>> 15);
  return key;
}

function isEqual({ bytes, offset, length, wireLength }: FrameView, packet: Buffer): boolean {
  if (packet.length >= MAX_COMPARED ? wireLength < packet.length : wireLength !== packet.length && length !== packet.length) return false;
  const compared = Math.min(packet.length, length);
  return packet.compare(bytes, offset, offset + compared, 0, compared) === 0;
}
