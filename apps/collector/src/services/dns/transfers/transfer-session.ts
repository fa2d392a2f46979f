/** Asks a server for a zone, or for its changes, over TCP. @see RFC 5936, RFC 1995 */
import { randomInt } from "node:crypto";
import { connect, type Socket } from "node:net";
import { ChangesDoNotFit, createTransferReader, encodeTransferQuestion, type KnownZone, readTransferAnswer, serialOf, TransferFault, type TransferQuestion, type TransferReader } from "@lanthorn/dns";
import { systemClock } from "@lanthorn/runtime";
import { signQuestion, type TsigKey } from "./tsig.ts";

/** A connection to a server of zones, for one question. */
export interface TransferSession {
  /** The number of the zone's version. */
  serialOf(zone: string): Promise<number>;
  /** The whole zone, or what has changed since `known`, whichever the server gives. @throws ChangesDoNotFit where the changes are of another zone. */
  transfer(zone: string, known: KnownZone | null): Promise<TransferReader>;
  close(): void;
}

/** Without a byte for so long it has stalled. */
const IDLE_MS = 30_000;
const MAX_ID = 0x10000;

/** @throws TransferFault where no address answers. */
export async function openSession(addresses: readonly string[], port: number, options: { readonly key: TsigKey | null; readonly maxBytes: number }): Promise<TransferSession> {
  let reason = "it has no address";
  for (const address of addresses) {
    try {
      return createSession(await connectTo(address, port), options);
    } catch (error) {
      reason = (error as NodeJS.ErrnoException).code ?? String(error);
    }
  }
  throw new TransferFault(`its server cannot be reached: ${reason}`);
}

function connectTo(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setTimeout(IDLE_MS, () => socket.destroy(new TransferFault("its server stopped sending")));
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

function createSession(socket: Socket, { key, maxBytes }: { readonly key: TsigKey | null; readonly maxBytes: number }): TransferSession {
  const messages = readMessages(socket);
  const nowSeconds = () => Math.floor(systemClock.now() / 1000);
  /** Calls `take` with the records of each message of the answer until it has enough. */
  const ask = async (question: TransferQuestion, take: (records: ReturnType<typeof readTransferAnswer>) => boolean) => {
    const id = randomInt(MAX_ID);
    const plain = encodeTransferQuestion(question, id);
    const signed = key && signQuestion(plain, key, nowSeconds());
    socket.write(withLength(signed?.bytes ?? plain));
    for (let isDone = false; !isDone;) {
      const next = await messages.next();
      if (next.done === true) throw new TransferFault("its server stopped before the end of the zone");
      isDone = take(readTransferAnswer(signed ? signed.answer.check(next.value, nowSeconds()) : next.value, id));
    }
    signed?.answer.end();
  };
  return {
    async serialOf(zone) {
      let serial = 0;
      await ask({ kind: "version", zone }, (records) => {
        serial = serialOf(records);
        return true;
      });
      return serial;
    },
    async transfer(zone, known) {
      const reader = createTransferReader(known, maxBytes);
      await ask(known === null ? { kind: "whole", zone } : { kind: "changes", zone, since: known.serial }, (records) => {
        if (records.length === 0) throw known === null ? new TransferFault("its server's answer has no records") : new ChangesDoNotFit("there are no changes");
        return records.some((record) => reader.push(record));
      });
      return reader;
    },
    close: () => void socket.destroy(),
  };
}

/** Each is as long as the two bytes before it say. */
async function* readMessages(socket: Socket): AsyncGenerator<Uint8Array, void> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (let end = endOf(rest); rest.length >= end; end = endOf(rest)) {
        yield rest.subarray(2, end);
        rest = rest.subarray(end);
      }
    }
  } catch (error) {
    throw error instanceof TransferFault ? error : new TransferFault(`the connection to its server broke: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

function endOf(bytes: Buffer): number {
  return bytes.length < 2 ? 2 : 2 + bytes.readUInt16BE(0);
}

function withLength(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([message.length >>> 8, message.length & 0xff]), message]);
}
