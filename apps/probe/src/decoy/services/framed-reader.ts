/** Longest message that a service takes; what says that it is longer ends its connection. */
const MAX_MESSAGE_BYTES = 64 * 1024;
/** Of one turn: what clients send together is far less, and each is answered at once. */
export const MAX_TURN_MESSAGES = 128;

/**
 * Splits bytes into messages that say how long they are.
 * @param lengthOf Octets of the whole message at the begin of these bytes; null where there are too few to say, and "bad" for what is none.
 * @param onMessage A view of its bytes. False: no more are read.
 * @param onBad Called once, instead of all that follows: for what is none, is too long, or comes with more than {@link MAX_TURN_MESSAGES} at once.
 */
export function createFramedReader(
  lengthOf: (bytes: Buffer) => number | "bad" | null, onMessage: (message: Buffer) => boolean, onBad: () => void,
): (bytes: Buffer) => void {
  let held = Buffer.alloc(0);
  let isOver = false;
  const end = () => {
    isOver = true;
    held = Buffer.alloc(0);
  };
  return (bytes) => {
    if (isOver) return;
    held = Buffer.concat([held, bytes]);
    for (let messages = 0; ; messages += 1) {
      const octets = lengthOf(held);
      if (octets === null) return;
      if (octets === "bad" || octets <= 0 || octets > MAX_MESSAGE_BYTES) {
        end();
        return onBad();
      }
      if (held.length < octets) return;
      if (messages >= MAX_TURN_MESSAGES) {
        end();
        return onBad();
      }
      const message = held.subarray(0, octets);
      held = held.subarray(octets);
      if (onMessage(message)) continue;
      return end();
    }
  };
}
