import { Socket } from "node:dgram";
import { systemClock } from "@lanthorn/runtime";
import { expect, test, vi } from "vitest";
import { createAnswerLimits } from "./answer-limits.ts";
import { listenForDatagrams } from "./listen-datagrams.ts";
import { createTransferTable } from "./transfers.ts";

test("from port 0 nothing is taken, for nothing can be answered there", async () => {
  const bind = vi.spyOn(Socket.prototype, "bind");
  const failures: unknown[] = [];
  let read = 0;
  const listener = await listenForDatagrams("127.0.0.1", 0, {
    read(_, caller) {
      read += 1;
      caller.answer(Buffer.from("x"));
    },
    callWitness: () => ({ onStep: () => undefined, onPassword: () => undefined, onEvidence: () => undefined }), isBait: () => false, limits: createAnswerLimits(), transfers: createTransferTable(systemClock),
    onFailure: (error) => void failures.push(error), randomBytes: (octets) => Buffer.alloc(octets), clock: systemClock,
  });
  const socket = bind.mock.contexts[0] as Socket;
  bind.mockRestore();
  for (const port of [0, 9]) socket.emit("message", Buffer.from("question"), { address: "127.0.0.1", family: "IPv4", port, size: 8 });
  expect([read, failures]).toEqual([1, []]);
  await listener.close();
});
