import { createSocket } from "node:dgram";
import { once } from "node:events";
import { systemClock } from "@lanthorn/runtime";
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
  const peer = createSocket("udp4").bind({ address: "127.0.0.1", port: 0 });
  await once(peer, "listening");
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
