import type { Reader } from "@lanthorn/packets";

/** Reads one, two, four or eight bytes; what is beyond 2⁵³ is not exact, and larger than anything that is there. @see RFC 9000 section 16 */
export function readVariableInteger(reader: Reader): number {
  const first = reader.u8();
  const rest = first & 0x3f;
  switch (first >> 6) {
    case 0:
      return rest;
    case 1:
      return rest * 0x100 + reader.u8();
    case 2:
      return rest * 0x1_00_00_00 + reader.u24();
    default:
      return (rest * 0x1_00_00_00 + reader.u24()) * 0x1_0000_0000 + reader.u32();
  }
}
