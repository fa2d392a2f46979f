import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { expect } from "vitest";
import { CLIENT } from "./opened.ts";

/** A step of a conversation: what must have come before, and what is then said. */
export type Turn = readonly [expected: RegExp, said: string | Uint8Array];

/** @returns A connected client. Errors end it and nothing else. */
export async function connectTo(port: number, from = CLIENT): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  socket.on("error", () => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Says each line when what it waits for has come. @returns All that came, a character for each byte, once `until` has come too. */
export async function converse(socket: Duplex, turns: readonly Turn[], until: RegExp): Promise<string> {
  let [all, unread] = ["", ""];
  socket.on("data", (bytes: Buffer) => {
    all += bytes.toString("latin1");
    unread += bytes.toString("latin1");
  });
  for (const [expected, said] of turns) {
    await expect.poll(() => unread).toMatch(expected);
    unread = "";
    socket.write(said);
  }
  await expect.poll(() => unread).toMatch(until);
  socket.destroy();
  return all;
}
