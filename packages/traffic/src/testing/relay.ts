/** Records what a real client and a real server say to each other. For tests only. */
import { spawn } from "node:child_process";
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { waitFor } from "../../../../test/lab/wait-for.ts";
import type { Turn } from "./conversation.ts";

/**
 * Stands between a client and a server on loopback.
 * @param port Of the server.
 * @param use Lets the client connect to the port that it is given, and ends when the client is through.
 * @returns What was said on each connection, in order.
 */
export async function recordThrough(port: number, use: (port: number) => Promise<unknown>): Promise<Turn[][]> {
  const conversations: Turn[][] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const turns: Turn[] = [];
    conversations.push(turns);
    const upstream = connect(port, "127.0.0.1");
    for (const [side, from, to] of [[0, client, upstream], [1, upstream, client]] as const) {
      open.add(from);
      from.on("data", (bytes: Buffer) => {
        turns.push({ side, bytes: new Uint8Array(bytes) });
        to.write(bytes);
      });
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => open.delete(from));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  try {
    await use(typeof address === "object" && address ? address.port : 0);
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, "close");
  }
  return conversations;
}

/** As `recordThrough`, of datagrams. @param use Ends when the client is through. */
export async function recordDatagrams(port: number, use: (port: number) => Promise<unknown>): Promise<Turn[][]> {
  const conversations = new Map<number, { readonly turns: Turn[]; readonly upstream: DatagramSocket }>();
  const server = createSocket("udp4");
  server.on("message", (bytes, from) => {
    const known = conversations.get(from.port);
    const { turns, upstream } = known ?? { turns: [], upstream: createSocket("udp4") };
    if (!known) {
      conversations.set(from.port, { turns, upstream });
      upstream.on("message", (answer) => {
        turns.push({ side: 1, bytes: new Uint8Array(answer) });
        server.send(answer, from.port, "127.0.0.1");
      });
    }
    turns.push({ side: 0, bytes: new Uint8Array(bytes) });
    upstream.send(bytes, port, "127.0.0.1");
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await use(server.address().port);
  } finally {
    for (const { upstream } of conversations.values()) upstream.close();
    server.close();
  }
  return [...conversations.values()].map(({ turns }) => turns);
}

/** Starts a program that answers on a port. @returns What stops it. */
export async function startUntil(path: string, args: readonly string[], env: Readonly<Record<string, string>>, isReady: () => Promise<boolean>): Promise<() => Promise<void>> {
  // A process group of its own: smbd ends all of its group when it ends.
  const child = spawn(path, args, { env: { ...process.env, ...env }, stdio: "ignore", detached: true });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  await waitFor(`${path} to answer`, async () => (await isReady()) || child.exitCode !== null || null);
  if (child.exitCode !== null) throw new Error(`${path} ended with ${child.exitCode}`);
  return async () => {
    child.kill("SIGTERM");
    await ended;
  };
}

/** @returns Whether somebody takes connections. */
export async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise((resolve) => {
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
