import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { decodeDns, type DnsFields, type DnsMessage, encodeDns } from "@lanthorn/packets";
import { createMessageSplitter, withLength } from "../messages/stream-messages.ts";

/** A client's question: by UDP, and then by TCP where `tcp` is set. */
export interface Ask extends DnsFields {
  readonly tcp?: boolean;
  /** The client's address, for UDP. */
  readonly from?: string;
}

/** @returns What came back. @throws Error for what is no message. */
export async function ask(port: number, { tcp = false, from = "127.0.0.1", ...fields }: Ask): Promise<DnsMessage> {
  const query = encodeDns({ id: 4711, isRecursionDesired: true, ...fields });
  const result = decodeDns(tcp ? await askByTcp(port, query) : await askByUdp(port, query, from));
  if (!result.ok) throw new Error(`no message: ${result.code} at ${result.offset}`);
  return result.value;
}

async function askByUdp(port: number, query: Uint8Array, from: string): Promise<Uint8Array> {
  const socket = createSocket("udp4");
  socket.bind(0, from);
  socket.send(query, port, "127.0.0.1");
  const [message] = (await once(socket, "message")) as [Buffer];
  socket.close();
  return Uint8Array.from(message);
}

function askByTcp(port: number, query: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(withLength(query)));
    socket.on("error", reject);
    socket.on("data", createMessageSplitter((message) => {
      resolve(Uint8Array.from(message));
      socket.destroy();
    }));
  });
}
