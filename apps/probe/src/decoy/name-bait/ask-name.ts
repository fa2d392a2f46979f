/** One question to all of a network, and what is answered to it within three seconds. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { withoutZone } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { type BaitQuestion, NAME_PROTOCOLS, type NameBaitProtocol } from "./name-protocols.ts";

/** Who answered. */
export interface NameAnswer {
  /** Without its zone. */
  readonly source: string;
  readonly sourcePort: number;
  /** What it gave for the name. */
  readonly given: string;
}

/** From where it is asked. */
export interface BaitNetwork {
  /** IPv4, or IPv6 without its zone. */
  readonly address: string;
  /** Null for IPv6, and for a network without one. */
  readonly broadcast: string | null;
  /** The interface of an address of IPv6; null for IPv4. */
  readonly zone: string | null;
}

const ANSWER_WITHIN_MS = 3000;
/** Datagrams of one question that are read; a flood of more says nothing new. */
const MAX_DATAGRAMS = 64;
/** Those who answered one question. */
const MAX_ANSWERERS = 16;

/** @param onAnswer Called once for each who answers for the name. @returns When no more is taken. @throws Error as node:dgram does, where it cannot be asked from there. */
export async function askName(protocol: NameBaitProtocol, question: BaitQuestion, { network, onAnswer, clock, stop }: {
  readonly network: BaitNetwork; readonly onAnswer: (answer: NameAnswer) => void; readonly clock: Pick<Clock, "after">; readonly stop: Promise<unknown>;
}): Promise<void> {
  const { port, groups, timeToLive, encode, readAnswer } = NAME_PROTOCOLS[protocol];
  const { broadcast, zone } = network;
  const [type, address] = zone === null ? ["udp4", network.address] as const : ["udp6", `${network.address}%${zone}`] as const;
  const group = groups && (zone === null ? groups.ipv4 : `${groups.ipv6}%${zone}`);
  const target = group ?? broadcast;
  if (target === null) return;
  const answered = new Set<string>();
  let left = MAX_DATAGRAMS;
  const hear = (socket: Socket) => socket.on("error", () => undefined).on("message", (datagram, { address: sender, port: sourcePort }) => {
    const source = withoutZone(sender);
    left -= 1;
    if (left < 0 || answered.size >= MAX_ANSWERERS || answered.has(source)) return;
    const given = readAnswer(datagram, question);
    if (given === null) return;
    answered.add(source);
    onAnswer({ source, sourcePort, given });
  });
  const sockets = [await openSocket(type, { address }), ...(protocol === "mdns" && group !== null ? await listenToGroup(type, { group, port, address }) : [])];
  try {
    for (const socket of sockets) hear(socket);
    const [asking] = sockets;
    if (group === null) asking?.setBroadcast(true);
    else {
      asking?.setMulticastInterface(zone === null ? address : `::%${zone}`);
      asking?.setMulticastTTL(timeToLive);
      asking?.setMulticastLoopback(false);
    }
    for (const bytes of encode(question)) asking?.send(bytes, port, target);
    await Promise.race([new Promise((resolve) => void clock.after(ANSWER_WITHIN_MS, () => resolve(null))), stop]);
  } finally {
    for (const socket of sockets) socket.close();
  }
}

async function openSocket(type: "udp4" | "udp6", { address, port = 0, reuseAddr = false }: { readonly address: string; readonly port?: number; readonly reuseAddr?: boolean }): Promise<Socket> {
  const socket = createSocket({ type, reuseAddr });
  try {
    socket.bind({ address, port, exclusive: true });
    await once(socket, "listening");
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** What is answered to all. Bound to the group alone, so that it takes nothing from the machine's own responder. @returns None where another program keeps the port for itself. */
async function listenToGroup(type: "udp4" | "udp6", { group, port, address }: { readonly group: string; readonly port: number; readonly address: string }): Promise<readonly Socket[]> {
  try {
    const socket = await openSocket(type, { address: group, port, reuseAddr: true });
    const zone = group.indexOf("%");
    if (zone < 0) socket.addMembership(group, address);
    else socket.addMembership(group.slice(0, zone), `::${group.slice(zone)}`);
    return [socket];
  } catch {
    return [];
  }
}
