import { request } from "node:http";
import { connect, type TLSSocket } from "node:tls";
import { type ProbeChannel, probeTopic } from "@lanthorn/contract";
import { generate, type Packet, parser } from "mqtt-packet";
import type { ProbeIdentity } from "../system/simulated-probe.ts";
import type { AttackOrder } from "./hostile-order.ts";

/** Counts what an attack does. */
export interface Tally {
  sent(bytes: number): void;
  answer(what: string, count?: number): void;
}

/** Runs until its time is over. */
export type Attack = (order: AttackOrder, tally: Tally) => Promise<void>;

/** A probe's connection to the broker, with which any packet can be sent. */
export interface Uplink {
  write(packet: Packet): void;
  publish(channel: ProbeChannel, payload: Buffer, qos?: 1 | 2): void;
  readonly closed: Promise<void>;
  isOpen(): boolean;
  /** Bytes that the broker has not taken yet. */
  buffered(): number;
  close(): void;
}

/** Repeats `work`, so many at once, until the time is over or it was done `most` times. */
export async function repeat(
  options: { readonly seconds: number; readonly atOnce: number; readonly most: number }, work: (index: number) => Promise<void>,
): Promise<void> {
  const end = performance.now() + options.seconds * 1000;
  let begun = 0;
  await Promise.all(Array.from({ length: options.atOnce }, async () => {
    while (performance.now() < end && begun < options.most) {
      begun += 1;
      await work(begun - 1);
    }
  }));
}

/** One of 65,536 addresses of this machine: each is somebody else to the collector. */
export function loopback(network: number, index: number): string {
  return `127.${network}.${(index >> 8) & 255}.${index & 255}`;
}

/** One request on a connection of its own. @returns The status, or the code of what went wrong; the answer's text. */
export function send(
  url: string, options: {
    readonly method: string; readonly from?: string; readonly body?: string; readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<{ readonly answer: string; readonly text: string }> {
  return new Promise((resolve) => {
    const { method, from, body, headers } = options;
    const length = body === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    const sent = request(url, {
      method, agent: false, headers: { ...length, ...headers }, timeout: 5000, ...(from === undefined ? {} : { localAddress: from }),
    }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ answer: String(response.statusCode), text: Buffer.concat(chunks).toString() }));
      response.on("error", () => resolve({ answer: "cut off", text: "" }));
    });
    sent.on("timeout", () => sent.destroy(Object.assign(new Error("timeout"), { code: "no answer in 5 s" })));
    sent.on("error", (error: NodeJS.ErrnoException) => resolve({ answer: error.code ?? error.message, text: "" }));
    sent.end(body);
  });
}

/** Connects as the probe and subscribes to its acknowledgements. @returns Null where the broker does not let it in. */
export function openUplink(identity: ProbeIdentity, onPacket: (packet: Packet) => void): Promise<Uplink | null> {
  const { host, port, ca, key, certificate, tenantId, probeId } = identity;
  const topic = (channel: ProbeChannel) => probeTopic(tenantId, probeId, channel);
  const socket: TLSSocket = connect({ host, port, ca, key, cert: certificate, checkServerIdentity: () => undefined, timeout: 5000 });
  const read = parser({ protocolVersion: 4 });
  let messageId = 0;
  const nextId = () => {
    messageId = (messageId % 65_535) + 1;
    return messageId;
  };
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  const uplink: Uplink = {
    closed,
    write: (packet) => void socket.write(generate(packet)),
    publish(channel, payload, qos = 1) {
      uplink.write({ cmd: "publish", topic: topic(channel), payload, qos, retain: false, dup: false, messageId: nextId() });
    },
    isOpen: () => !socket.destroyed,
    buffered: () => socket.writableLength,
    close: () => void socket.destroy(),
  };
  socket.on("error", () => {});
  socket.on("timeout", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => void read.parse(chunk));
  read.on("error", () => socket.destroy());
  return new Promise((resolve) => {
    void closed.then(() => resolve(null));
    socket.on("secureConnect", () => uplink.write({
      cmd: "connect", protocolId: "MQTT", protocolVersion: 4, clientId: probeId, clean: true, keepalive: 60,
    }));
    read.on("packet", (packet) => {
      if (packet.cmd === "connack" && packet.returnCode === 0) {
        uplink.write({ cmd: "subscribe", messageId: nextId(), subscriptions: [{ topic: topic("acks"), qos: 1 }] });
      } else if (packet.cmd === "suback") {
        socket.setTimeout(0);
        resolve(uplink);
      }
      if (packet.cmd === "publish" && packet.qos > 0) uplink.write({ cmd: "puback", messageId: packet.messageId as number });
      onPacket(packet);
    });
  });
}
