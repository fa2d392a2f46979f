import { createFakeClock, createId, toInstant } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createIngestBench } from "../testing/bench.ts";
import { createInFlight } from "./in-flight.ts";

test("the oldest that is not done says how long things wait", async () => {
  const clock = createFakeClock();
  const inFlight = createInFlight({ clock });
  expect([inFlight.count(), inFlight.oldestMs()]).toEqual([0, 0]);
  const first = inFlight.begin();
  await clock.advance(2000);
  const second = inFlight.begin();
  await clock.advance(1000);
  expect([inFlight.count(), inFlight.oldestMs()]).toEqual([2, 3000]);
  first();
  first();
  expect([inFlight.count(), inFlight.oldestMs()]).toEqual([1, 1000]);
  second();
  expect([inFlight.count(), inFlight.oldestMs()]).toEqual([0, 0]);
});

test("a batch is measured, and so is what is refused", async () => {
  const bench = await createIngestBench();
  const [probe, queueId, at] = [await bench.addProbe(), createId(), toInstant(bench.clock.now())];
  await bench.clock.advance(5000);
  await bench.send(probe, "events", {
    v: 1, queue_id: queueId, after: 0, sent_at: toInstant(bench.clock.now() - 3000),
    events: [
      { seq: 1, type: "error", occurred_at: at, data: { code: "note", message: "" } },
      { seq: 2, type: "nonsense", occurred_at: at, data: {} },
    ],
  });
  await bench.send(probe, "events", "{");
  expect(bench.measured).toEqual([{ stored: 1, rejected: 1, seconds: 0, ageSeconds: 3 }, "unreadable-event", "not-a-batch"]);
  expect(bench.ingest.waiting()).toEqual({ messages: 0, oldestMs: 0 });
  await bench.close();
});
