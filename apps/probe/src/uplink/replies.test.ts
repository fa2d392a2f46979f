import { MESSAGE_VERSION, type Reply } from "@lanthorn/contract/uplink";
import { nextTurn } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createReplies } from "./replies.ts";

const reply = (n: number): Reply => ({ v: MESSAGE_VERSION, command_id: `c${n}`, ok: true, error: null, data: {} });

test("replies that could not be sent are kept, in order, and sent when there is a connection; of many the oldest are dropped", async () => {
  let isConnected = false;
  const sent: (string | null)[] = [];
  const replies = createReplies(async ({ command_id: id }) => {
    if (isConnected) sent.push(id);
    return isConnected;
  });
  for (let n = 0; n < 40; n += 1) replies.add(reply(n));
  await nextTurn();
  expect(sent).toEqual([]);
  isConnected = true;
  await replies.send();
  expect(sent).toEqual(Array.from({ length: 32 }, (_, n) => `c${n + 8}`));
  await replies.send();
  expect(sent).toHaveLength(32);
});
