import type { Duplex } from "node:stream";
import type { Clock } from "@lanthorn/runtime";
import { describeError, parseJson } from "@lanthorn/runtime";
import type * as z from "zod";
import { createTokenBucket, fillBucket } from "../token-bucket.ts";

/** One side of the way between the daemon and a process of its own: messages as JSON, each behind its length in four bytes. */
export interface Channel<Out> {
  /** @returns False where the message was not taken: it is too long, the other side does not read, or the channel has ended. */
  send(message: Out): boolean;
  /** Messages that came and were refused. */
  refused(): number;
  close(): void;
}

/** Longest message of either side, in bytes of its JSON. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
const LENGTH_OCTETS = 4;
/** What may wait for the other side: it does not read, so it hangs, and gets no more. */
const MAX_UNSENT_BYTES = 4 * MAX_MESSAGE_BYTES;
/** What one turn of the event loop reads: parsing it takes a few milliseconds. */
const MAX_TURN_BYTES = 256 * 1024;
/** After so many in a row the other side does not know what it says. */
const MAX_REFUSED = 32;

/** Why a channel ended whose other side has gone. */
export const CHANNEL_CLOSED = "the channel was closed";
/** What a socket says instead, where the other side had not read all that it was sent. @see unix(7) */
const GONE_CODES: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

/** How much may come in a second; twice that at once. More waits with the sender. */
export interface ChannelRate {
  readonly messages: number;
  readonly bytes: number;
}

/** What each side may send in a second. */
export const CHANNEL_RATE: ChannelRate = { messages: 200, bytes: 4 * 1024 * 1024 };

/**
 * Reads and writes messages of a stream. Nobody can make this side hold more than a few messages, or read faster than the rate: beyond it the
 * stream is left unread, so that the sender waits.
 * @param options.incoming What may come; all else is counted and left out.
 * @param options.onEnd Called once: the other side is gone, or sends what cannot be read any further. Not after `close`.
 */
export function openChannel<In, Out>(options: {
  readonly stream: Duplex;
  readonly incoming: z.ZodType<In>;
  readonly rate: ChannelRate;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly onMessage: (message: In) => void;
  readonly onEnd: (reason: string) => void;
}): Channel<Out> {
  const { stream, incoming, clock, rate } = options;
  const allowance = createAllowance(rate, clock);
  const held = createHeldBytes();
  let refused = 0;
  let refusedInARow = 0;
  let isOpen = true;
  let cancelWait = () => {};

  function end(reason: string | null): void {
    if (!isOpen) return;
    isOpen = false;
    cancelWait();
    held.clear();
    stream.destroy();
    if (reason !== null) options.onEnd(reason);
  }

  function receive(text: string): void {
    const read = incoming.safeParse(parseJson(text));
    if (read.success) {
      refusedInARow = 0;
      options.onMessage(read.data);
      return;
    }
    refused += 1;
    refusedInARow += 1;
    if (refusedInARow > MAX_REFUSED) end(`${refusedInARow} messages in a row could not be read`);
  }

  /** Reads what has come, as much of it as the turn and the rate allow. */
  function drain(): void {
    let inThisTurn = 0;
    while (isOpen) {
      const wanted = held.wanted();
      if (wanted > LENGTH_OCTETS + MAX_MESSAGE_BYTES) return end(`a message of ${wanted} bytes`);
      if (held.octets() < wanted) {
        stream.resume();
        return;
      }
      const waitMs = inThisTurn + wanted > MAX_TURN_BYTES && inThisTurn > 0 ? 1 : allowance.waitMs();
      if (waitMs > 0) {
        stream.pause();
        cancelWait();
        cancelWait = clock.after(waitMs, drain);
        return;
      }
      inThisTurn += wanted;
      allowance.use(wanted);
      receive(held.take(wanted).toString("utf8", LENGTH_OCTETS));
    }
  }

  stream.on("data", (chunk: Buffer) => {
    if (!isOpen) return;
    held.put(chunk);
    if (!stream.isPaused()) drain();
  });
  stream.on("error", (error: NodeJS.ErrnoException) => end(GONE_CODES.has(error.code ?? "") ? CHANNEL_CLOSED : describeError(error)));
  for (const event of ["close", "end"]) stream.on(event, () => end(CHANNEL_CLOSED));

  return {
    send(message) {
      const text = Buffer.from(JSON.stringify(message));
      if (!isOpen || text.length > MAX_MESSAGE_BYTES || stream.writableLength > MAX_UNSENT_BYTES) return false;
      const length = Buffer.alloc(LENGTH_OCTETS);
      length.writeUInt32LE(text.length);
      stream.write(Buffer.concat([length, text]));
      return true;
    },
    refused: () => refused,
    close: () => end(null),
  };
}

/** What has come and was not yet read. */
function createHeldBytes() {
  let chunks: Buffer[] = [];
  let held = 0;
  return {
    octets: () => held,
    put(chunk: Buffer): void {
      chunks.push(chunk);
      held += chunk.length;
    },
    /** Takes the first `octets` of it. */
    take(octets: number): Buffer {
      const whole = chunks.length === 1 ? chunks[0] as Buffer : Buffer.concat(chunks);
      chunks = whole.length === octets ? [] : [whole.subarray(octets)];
      held -= octets;
      return whole.subarray(0, octets);
    },
    /** How many octets the next message takes with its length; those of the length alone while that is not there. */
    wanted(): number {
      if (held < LENGTH_OCTETS) return LENGTH_OCTETS;
      if ((chunks[0] as Buffer).length < LENGTH_OCTETS) chunks = [Buffer.concat(chunks)];
      return LENGTH_OCTETS + (chunks[0] as Buffer).readUInt32LE(0);
    },
    clear(): void {
      chunks = [];
      held = 0;
    },
  };
}

/** Two allowances that fill up over time: of messages and of bytes. */
function createAllowance(rate: ChannelRate, clock: Pick<Clock, "monotonic">) {
  const messages = createTokenBucket(rate.messages, 2 * rate.messages, clock.monotonic());
  const bytes = createTokenBucket(rate.bytes, 2 * rate.bytes, clock.monotonic());
  return {
    /** How long until one more may be read; 0 where it may now. */
    waitMs(): number {
      const [ofMessages, ofBytes] = [fillBucket(messages, clock.monotonic()), fillBucket(bytes, clock.monotonic())];
      if (ofMessages >= 1 && ofBytes > 0) return 0;
      return Math.max(1, Math.ceil(Math.max((1 - ofMessages) / rate.messages, -ofBytes / rate.bytes) * 1000));
    },
    use(octets: number): void {
      messages.tokens -= 1;
      bytes.tokens -= octets;
    },
  };
}
