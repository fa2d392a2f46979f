/** Handshake messages over several records. @see RFC 8446 section 5.1 */
import type { Hold } from "../stream-parser.ts";

/** Joins the handshake messages of one side. */
export interface HandshakeJoiner {
  /**
   * @param fragment Payload of one handshake record, or the next stretch of QUIC's crypto stream. Not kept: what is not whole is copied.
   * @param onMessage Is given each whole message: its type, and its body as a view.
   * @returns False when a message is longer than any that is read: give up.
   */
  join(fragment: Uint8Array, onMessage: (type: number, body: Uint8Array) => void): boolean;
}

const HEADER_LENGTH = 4;
/** Chains of certificates are the largest; real ones have some ten thousand bytes. */
const MAX_MESSAGE_BYTES = 96 * 1024;
const NOTHING = new Uint8Array(0);

/** @param hold Is called with what is kept of a message that is not whole. */
export function createHandshakeJoiner(hold: Hold): HandshakeJoiner {
  let waiting = NOTHING;
  let length = 0;

  function put(fragment: Uint8Array): void {
    if (length + fragment.length > waiting.length) {
      const grown = new Uint8Array(Math.max(length + fragment.length, waiting.length * 2));
      grown.set(waiting.subarray(0, length));
      hold(grown.length - waiting.length);
      waiting = grown;
    }
    waiting.set(fragment, length);
    length += fragment.length;
  }

  return {
    join(fragment, onMessage) {
      if (length > 0) put(fragment);
      const bytes = length > 0 ? waiting.subarray(0, length) : fragment;
      let at = 0;
      while (bytes.length - at >= HEADER_LENGTH) {
        const size = ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
        if (size > MAX_MESSAGE_BYTES) return false;
        const end = at + HEADER_LENGTH + size;
        if (end > bytes.length) break;
        onMessage(bytes[at] as number, bytes.subarray(at + HEADER_LENGTH, end));
        at = end;
      }
      if (at === bytes.length) {
        if (waiting.length > 0) hold(-waiting.length);
        waiting = NOTHING;
        length = 0;
      } else if (length > 0) {
        waiting.copyWithin(0, at, length);
        length -= at;
      } else put(fragment.subarray(at));
      return true;
    },
  };
}
