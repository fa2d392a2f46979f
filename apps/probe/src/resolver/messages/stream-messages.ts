/** DNS messages on a stream: each behind two bytes of its length. @see RFC 1035 section 4.2.2 */

const NOTHING = Buffer.alloc(0);

/**
 * @param onMessage Called with each whole message, as a view that is good during the call only.
 * @returns Takes what comes, in pieces of any size; holds 64 KiB at most.
 */
export function createMessageSplitter(onMessage: (message: Uint8Array) => void): (piece: Buffer) => void {
  let held = NOTHING;
  return (piece) => {
    let bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    while (bytes.length >= 2) {
      const end = 2 + bytes.readUInt16BE(0);
      if (bytes.length < end) break;
      onMessage(bytes.subarray(2, end));
      bytes = bytes.subarray(end);
    }
    held = bytes.length === 0 ? NOTHING : Buffer.from(bytes);
  };
}

/** @returns A copy behind its length. */
export function withLength(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(2 + message.length);
  bytes.writeUInt16BE(message.length, 0);
  bytes.set(message, 2);
  return bytes;
}
