import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { decodeDns, type DnsFields, type DnsMessage, encodeDns } from "@lanthorn/packets";
import { createMessageSplitter, withLength } from "../messages/stream-messages.ts";

/** What a server of a test says: fields of a message, bytes, or nothing. */
export type Says = DnsFields | Uint8Array | null;

const MAX_TRIES = 10;

/** A server on loopback, of UDP and TCP on one port. */
export interface FakeServer {
  readonly port: number;
  /** All that it was asked, in order. */
  readonly asked: { readonly message: DnsMessage; readonly transport: "udp" | "tcp" }[];
  close(): Promise<void>;
}

/** @param answer Id and question are filled in where it leaves them out. */
export async function startFakeServer(answer: (message: DnsMessage, transport: "udp" | "tcp") => Says | Promise<Says>): Promise<FakeServer> {
  const asked: FakeServer["asked"] = [];
  const respond = async (bytes: Uint8Array, transport: "udp" | "tcp", send: (response: Uint8Array) => void) => {
    const result = decodeDns(Uint8Array.from(bytes));
    if (!result.ok) return;
    asked.push({ message: result.value, transport });
    const says = await answer(result.value, transport);
    if (says === null) return;
    send(says instanceof Uint8Array ? says : encodeDns({ id: result.value.id, isResponse: true, isRecursionAvailable: true, questions: result.value.questions, ...says }));
  };
  const { udp, tcp, port } = await bindBoth();
  udp.on("message", (message, { port, address }) => void respond(message, "udp", (response) => udp.send(response, port, address, () => undefined)));
  const open = new Set<Socket>();
  tcp.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", createMessageSplitter((message) => void respond(message, "tcp", (response) => socket.write(withLength(response)))));
  });
  return {
    port, asked,
    async close() {
      for (const socket of open) socket.destroy();
      await Promise.all([new Promise<void>((resolve) => void udp.close(() => resolve())), new Promise((resolve) => tcp.close(resolve))]);
    },
  };
}

/** The port that the kernel chooses for one protocol may be taken for the other one: then it chooses again. */
async function bindBoth(): Promise<{ readonly udp: UdpSocket; readonly tcp: Server; readonly port: number }> {
  for (let left = MAX_TRIES; ; left -= 1) {
    const udp = createSocket("udp4");
    const tcp = createServer();
    udp.bind(0, "127.0.0.1");
    await once(udp, "listening");
    const { port } = udp.address();
    try {
      tcp.listen(port, "127.0.0.1");
      await once(tcp, "listening");
      return { udp, tcp, port };
    } catch (error) {
      udp.close();
      if (left === 0) throw error;
    }
  }
}
