import { describe, expect, test } from "vitest";
import { runInNamespace, whyNoNamespaces } from "../testing/namespace.ts";

const reason = whyNoNamespaces();
if (reason) console.warn(`packet-io capture: ${reason}`);

describe.skipIf(reason !== null)("a capture", () => {
  test("hands over frames in order, with the kernel's time, in batches of at most 32, and leaves them alone afterwards", async () => {
    const result = await runInNamespace<{ largestBatch: number; counters: unknown }>("order");
    expect(result).toMatchObject({ inOrder: true, inTime: true });
    expect(result.counters).toEqual({ frames: 3000, droppedByKernel: 0, droppedByInterface: 0, droppedByReader: 0 });
    expect(result.largestBatch).toBeLessThanOrEqual(32);
  });

  test("keeps no more of a frame than the snap length, and tells its length on the wire", async () => {
    expect(await runInNamespace("snapLength")).toEqual([{ kept: 64, wireLength: 1514, number: 7 }]);
  });

  test("hands over only what its filter lets through", async () => {
    expect(await runInNamespace("filter")).toEqual([1, 3]);
  });

  test("leaves out what somebody else reads, and does not count it", async () => {
    expect(await runInNamespace("leftOut")).toEqual({
      numbers: [1, 3, 5], counters: { frames: 3, droppedByKernel: 0, droppedByInterface: 0, droppedByReader: 0 },
    });
  });

  test("sees the frames that this host sends, unless its filter leaves out their sender", async () => {
    expect(await runInNamespace("ownFrames")).toEqual({ all: [1, 2, 3], others: [3] });
  });

  test("counts what a slow reader loses, and lets the rest of the process run", async () => {
    const result = await runInNamespace<{
      readonly handled: number;
      readonly sent: number;
      readonly otherTurns: number;
      readonly mostBetweenTurns: number;
      readonly isInOrder: boolean;
      readonly counters: { readonly droppedByReader: number };
    }>("slowReader");
    expect(result.handled).toBe(result.sent);
    expect(result.isInOrder).toBe(true);
    expect(result.otherTurns).toBeGreaterThan(10);
    expect(result.mostBetweenTurns).toBeLessThan(512);
    expect(result.counters.droppedByReader).toBeGreaterThan(0);
  });

  test("is silent after close, which may be called twice", async () => {
    expect(await runInNamespace("close")).toEqual({ frames: 10, counted: 10, losses: [] });
  });

  test("is lost once when its interface goes down, after the frames that came before, and can be opened when it is up", async () => {
    expect(await runInNamespace("down")).toEqual({ before: 5, losses: ["interface-down"], whileDown: "interface-down", after: 5 });
  });

  test("notices that it went deaf when the interface was down for a moment only", async () => {
    expect(await runInNamespace("flap")).toEqual(["capture-lost"]);
  });

  test("is lost when its interface is removed", async () => {
    expect(await runInNamespace("removed")).toEqual({ losses: ["interface-missing"], again: "interface-missing" });
  });

  test("is refused with the reason's code", async () => {
    expect(await runInNamespace("refused")).toEqual({
      missing: Array.from({ length: 7 }, () => "interface-missing"),
      tunnel: "interface-unsupported",
      filters: Array.from({ length: 7 }, () => "filter-invalid"),
      sendMissing: "interface-missing",
    });
  });

  test("names the capability that a process lacks", async () => {
    const denied = { capture: "permission-denied", injector: "permission-denied" };
    expect(await runInNamespace("noCapability", "no-raw-capability")).toEqual(denied);
  });

  test("works where sysfs shows the interfaces of another namespace", async () => {
    expect(await runInNamespace("snapLength", "nsenter")).toEqual([{ kept: 64, wireLength: 1514, number: 7 }]);
  });
});
