/** Asks a server for a zone, or for its changes. @see RFC 5936, RFC 1995 */
import { connect, type Socket } from "node:net";
import { randomInt } from "node:crypto";
import { decodeDns, DNS_TYPE, type DnsMessage, encodeDns } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { FileRefused } from "../../../sources/file-refused.ts";
import { ChangesDoNotFit, createTransferReader, type KnownZone, type TransferReader } from "./read-transfer.ts";
import { signQuestion, type TsigKey } from "./tsig.ts";

/** A connection to a server of zones. */
export interface TransferSession {
  /** The number of the zone's version. */
  serialOf(zone: string): Promise<number>;
  /** The whole zone, or what has changed since `known`, whichever the server gives. @throws ChangesDoNotFit where the changes are of another zone. */
  transfer(zone: string, known: KnownZone | null): Promise<TransferReader>;
  close(): void;
}

const TYPE = { ixfr: 251, axfr: 252 } as const;
/** Without a byte for so long it has stalled. */
const IDLE_MS = 30_000;
const MAX_ID = 0x10000;
const CODES: Readonly<Record<number, string>> = { 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED: it gives the zone to nobody who asks so", 9: "NOTAUTH: it is not a server of the zone, or refuses the key" };

/** @throws FileRefused where no address answers. */
export async function openSession(addresses: readonly string[], port: number, options: { readonly key: TsigKey | null; readonly maxBytes: number }): Promise<TransferSession> {
  let reason = "its server has no address";
  for (const address of addresses) {
    try {
      return createSession(await connectTo(address, port), options);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new FileRefused(`its server cannot be reached: ${reason}`);
}

function connectTo(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setTimeout(IDLE_MS, () => socket.destroy(new FileRefused("it stopped sending")));
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

function createSession(socket: Socket, { key, maxBytes }: { readonly key: TsigKey | null; readonly maxBytes: number }): TransferSession {
  const messages = readMessages(socket);
  const nowSeconds = () => Math.floor(systemClock.now() / 1000);
  /** Calls `take` with each message of the answer until it has enough. */
  const ask = async (zone: string, type: number, known: KnownZone | null, take: (message: DnsMessage) => boolean) => {
    const id = randomInt(MAX_ID);
    const soa = { kind: "soa", mname: ".", rname: ".", serial: known?.serial ?? 0, refresh: 0, retry: 0, expire: 0, minimum: 0 } as const;
    const question = encodeDns({ id, questions: [{ name: zone, type }], ...(known && { authorities: [{ name: zone, type: DNS_TYPE.soa, ttlSeconds: 0, data: soa }] }) });
    const signed = key && signQuestion(question, key, nowSeconds());
    socket.write(withLength(signed?.bytes ?? question));
    for (let isDone = false; !isDone;) {
      const next = await messages.next();
      if (next.done === true) throw new FileRefused("its server stopped before the end of the zone");
      const bytes = signed ? signed.answer.check(next.value, nowSeconds()) : next.value;
      const decoded = decodeDns(bytes);
      if (!decoded.ok || decoded.value.id !== id || !decoded.value.isResponse) throw new FileRefused("its server's answer is no answer to what was asked");
      const { responseCode } = decoded.value;
      if (responseCode !== 0) throw new FileRefused(`its server does not give the zone: ${CODES[responseCode] ?? `code ${responseCode}`}`);
      isDone = take(decoded.value);
    }
    signed?.answer.end();
  };
  return {
    async serialOf(zone) {
      let serial: number | null = null;
      await ask(zone, DNS_TYPE.soa, null, ({ answers: [first] }) => {
        serial = first?.data.kind === "soa" ? first.data.serial : null;
        return true;
      });
      if (serial === null) throw new FileRefused("its server does not know the zone");
      return serial;
    },
    async transfer(zone, known) {
      const reader = createTransferReader(known, maxBytes);
      await ask(zone, known === null ? TYPE.axfr : TYPE.ixfr, known, ({ answers }) => {
        if (answers.length === 0) throw known === null ? new FileRefused("its server's answer has no records") : new ChangesDoNotFit("there are no changes");
        return answers.some((record) => reader.push(record));
      });
      return reader;
    },
    close: () => void socket.destroy(),
  };
}

/** Each is as long as the two bytes before it say. */
async function* readMessages(socket: Socket): AsyncGenerator<Uint8Array, void> {
  let rest = Buffer.alloc(0);
  let wanted = 2;
  try {
    for await (const chunk of socket) {
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (wanted = lengthOf(rest); rest.length >= wanted; wanted = lengthOf(rest)) {
        yield rest.subarray(2, wanted);
        rest = rest.subarray(wanted);
      }
    }
  } catch (error) {
    throw error instanceof FileRefused ? error : new FileRefused(`the connection to its server broke: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

function lengthOf(bytes: Buffer): number {
  return bytes.length < 2 ? 2 : 2 + bytes.readUInt16BE(0);
}

function withLength(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([message.length >>> 8, message.length & 0xff]), message]);
}
