/** Bytes that messages carry to and from files and pipes. @see MS-SMB2 sections 2.2.19 to 2.2.22, 2.2.31 and 2.2.32; MS-CIFS sections 2.2.4.33, 2.2.4.42 and 2.2.4.43 */
import { Reader } from "@lanthorn/packets";

const SMB2 = { read: 8, write: 9, ioctl: 11 } as const;
const SMB1 = { transaction: 0x25, read: 0x2e, write: 0x2f } as const;
const SMB2_HEADER_BYTES = 64;
const SMB1_HEADER_BYTES = 32;
const MAX_COMPOUND = 32;

/** @returns Whether a message may carry such bytes. */
export function mayHavePipeData(message: Uint8Array): boolean {
  if (message[0] === 0xfe) {
    const command = new Reader(message, 12).u16le();
    return command === SMB2.read || command === SMB2.write || command === SMB2.ioctl || new Reader(message, 20).u32le() !== 0;
  }
  return message[4] === SMB1.transaction || message[4] === SMB1.read || message[4] === SMB1.write;
}

/** @param message From its header on, of version 1 or 2. @returns What it carries, one of each message that is chained to it, as views. */
export function pipeDataOf(message: Uint8Array): readonly Uint8Array[] {
  if (message[0] !== 0xfe) return [ofSmb1(message)];
  const found: Uint8Array[] = [];
  let rest = message;
  for (let count = 0; count < MAX_COMPOUND && rest.length >= SMB2_HEADER_BYTES; count += 1) {
    const next = new Reader(rest, 20).u32le();
    const isLast = next < SMB2_HEADER_BYTES || next > rest.length;
    found.push(ofSmb2(isLast ? rest : rest.subarray(0, next)));
    if (isLast) break;
    rest = rest.subarray(next);
  }
  return found;
}

const NOTHING = new Uint8Array(0);

function cut(message: Uint8Array, at: number, length: number): Uint8Array {
  return message.subarray(Math.min(at, message.length), Math.min(at + length, message.length));
}

function ofSmb2(message: Uint8Array): Uint8Array {
  const command = new Reader(message, 12).u16le();
  const isResponse = (new Reader(message, 16).u32le() & 1) !== 0;
  const u32 = (at: number) => new Reader(message, SMB2_HEADER_BYTES + at).u32le();
  if (command === SMB2.ioctl) return isResponse ? cut(message, u32(32), u32(36)) : cut(message, u32(24), u32(28));
  if (command === SMB2.write && !isResponse) return cut(message, new Reader(message, SMB2_HEADER_BYTES + 2).u16le(), u32(4));
  return command === SMB2.read && isResponse ? cut(message, message[SMB2_HEADER_BYTES + 2] ?? 0, u32(4)) : NOTHING;
}

function ofSmb1(message: Uint8Array): Uint8Array {
  const isResponse = ((message[9] ?? 0) & 0x80) !== 0;
  const words = (message[SMB1_HEADER_BYTES] ?? 0) * 2;
  const word = (at: number) => (at + 2 > words ? 0 : new Reader(message, SMB1_HEADER_BYTES + 1 + at).u16le());
  switch (message[4] ?? 0) {
    case SMB1.transaction:
      return isResponse ? cut(message, word(14), word(12)) : cut(message, word(24), word(22));
    case SMB1.write:
      return isResponse ? NOTHING : cut(message, word(22), word(20));
    case SMB1.read:
      return isResponse ? cut(message, word(12), word(10)) : NOTHING;
    default:
      return NOTHING;
  }
}
