import { describe, expect, test } from "vitest";
import { runInNamespace, whyNoNamespaces } from "../testing/namespace.ts";

const reason = whyNoNamespaces();
if (reason) console.warn(`packet-io injector: ${reason}`);

describe.skipIf(reason !== null)("an injector", () => {
  test("sends 10,000 frames in order, loses none, and never goes faster than asked", async () => {
    const result = await runInNamespace<{ tookMs: number }>("paced");
    expect(result).toMatchObject({ inOrder: true, arrived: 10_000, counters: { droppedByKernel: 0, droppedByReader: 0 } });
    expect(result.tookMs).toBeGreaterThan(490);
  });

  test("refuses frames that cannot be sent, after those before them, and everything after close", async () => {
    expect(await runInNamespace("refusedFrames")).toEqual({
      empty: "send-failed",
      short: "send-failed",
      long: "send-failed",
      second: "send-failed",
      none: null,
      closed: "send-failed",
      arrived: [1, 3],
    });
  });

  test("says that its interface is down or gone, and works again when it is back up", async () => {
    expect(await runInNamespace("sendWhileDown")).toEqual({ whileDown: "interface-down", after: 2, whileGone: "interface-missing" });
  });
});
