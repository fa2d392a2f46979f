import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createFakeClock, systemClock } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { createTransferTable } from "./transfers.ts";

let transfers = createTransferTable(systemClock);
afterEach(() => {
  transfers.close();
  transfers = createTransferTable(systemClock);
});

function open(peer: string, more: Partial<Parameters<typeof transfers.open>[0]> = {}) {
  let ends = 0;
  const transfer = transfers.open({ address: "127.0.0.1", peer, peerPort: 9, mayBegin: () => true, read: () => undefined, onEnd: () => void (ends += 1), onFailure: (error) => expect(error).toBe(null), ...more });
  return { transfer, ends: () => ends };
}

async function bindPeer(address: string): Promise<Socket> {
  const peer = createSocket("udp4").bind({ address, port: 0 });
  await once(peer, "listening");
  return peer;
}

/** A transfer whose peer is there. @returns What has it send a datagram, and waits until that was read. */
async function openProven(peer: Socket) {
  const { address, port: peerPort } = peer.address();
  let onRead: () => void = () => undefined;
  const opened = open(address, { peerPort, read: () => onRead() });
  const first = once(peer, "message") as Promise<[Buffer, { readonly port: number }]>;
  opened.transfer?.send(Buffer.from("first"));
  const [, { port }] = await first;
  const say = () => new Promise<void>((resolve) => {
    onRead = resolve;
    peer.send("x", port, "127.0.0.1");
  });
  await say();
  return { ...opened, say };
}

test("one that goes on for ever ends after ten minutes", async () => {
  const clock = createFakeClock();
  transfers = createTransferTable(clock);
  const peer = await bindPeer("127.0.4.1");
  const { say, ends } = await openProven(peer);
  for (let round = 0; round < 42; round += 1) {
    await clock.advance(14_000);
    await say();
  }
  expect(ends()).toBe(0);
  await clock.advance(12_000);
  expect(ends()).toBe(1);
  peer.close();
});

test("where all go on, the oldest of the peer that has most makes room", async () => {
  const peers = await Promise.all(Array.from({ length: 9 }, (_, index) => bindPeer(`127.0.4.${index + 1}`)));
  const all: { readonly peer: Socket; readonly ends: () => number }[] = [];
  for (const [index, peer] of peers.entries()) for (let count = 0; count < (index === 4 ? 8 : 7); count += 1) all.push({ peer, ends: (await openProven(peer)).ends });
  expect(all.length).toBe(64);
  expect(open("192.0.2.1").transfer).not.toBeNull();
  const greedy = all.filter(({ peer }) => peer === peers[4]);
  expect(greedy.map(({ ends }) => ends())).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
  expect(all.filter(({ ends }) => ends() > 0).length).toBe(1);
  for (const peer of peers) peer.close();
});

test("those that nobody goes on with make room, the oldest first; of one peer there are eight", () => {
  const all = Array.from({ length: 65 }, (_, index) => open(`192.0.2.${index}`));
  expect(all.map(({ transfer }) => transfer !== null)).toEqual(Array.from({ length: 65 }, () => true));
  expect([all[0]?.ends(), all[1]?.ends()]).toEqual([1, 0]);
  transfers.close();
  expect(Array.from({ length: 9 }, () => open("192.0.2.1").transfer !== null).indexOf(false)).toBe(8);
});

test("what the end of one throws is that one's alone", () => {
  const failures: unknown[] = [];
  const error = new Error("no room on the disk");
  open("192.0.2.1", { onEnd: () => { throw error; }, onFailure: (given) => void failures.push(given) });
  const { ends } = open("192.0.2.2");
  transfers.close();
  expect([failures, ends()]).toEqual([[error], 1]);
});

test("each datagram is answered once, and in no more octets than it has", async () => {
  const peer = await bindPeer("127.0.0.1");
  const answers: string[] = [];
  peer.on("message", (bytes) => answers.push(bytes.toString()));
  const asked: number[] = [];
  const { transfer } = open("127.0.0.1", {
    peerPort: peer.address().port,
    mayBegin: (octets) => asked.push(octets) === 1,
    read(bytes) {
      for (const answer of ["too long for it", bytes.toString().toUpperCase(), "b"]) transfer?.send(Buffer.from(answer));
    },
  });
  for (const begin of ["first", "second"]) transfer?.send(Buffer.from(begin));
  const [, { port }] = await once(peer, "message") as [Buffer, { readonly port: number }];
  peer.send("abc", port, "127.0.0.1");
  await expect.poll(() => answers).toEqual(["first", "ABC"]);
  expect(asked).toEqual([5, 6]);
  peer.close();
});
