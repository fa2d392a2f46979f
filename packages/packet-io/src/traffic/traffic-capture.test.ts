import { describe, expect, test } from "vitest";
import { runInNamespace, whyNoNamespaces } from "../testing/namespace.ts";

const reason = whyNoNamespaces();
if (reason) console.warn(`packet-io traffic capture: ${reason}`);

describe.skipIf(reason !== null).each(["ring", "pcap"] as const)("a capture of all traffic by %s", (reader) => {
  const run = <T>(scenario: string, entry?: Parameters<typeof runInNamespace>[1]) => runInNamespace<T>(`${reader}-${scenario}`, entry);

  test("hands over frames in order, with the kernel's time, and says nothing more after close", async () => {
    expect(await run("order")).toEqual({
      inOrder: true, inTime: true, isLater: true, hasNanoseconds: reader === "ring", handedOver: true, dropped: 0, load: 0, afterClose: true,
    });
  });

  test("keeps no more of a frame than the snap length", async () => {
    expect(await run("snap")).toEqual([{ kept: 64, wireLength: 1514, number: 7 }]);
  });

  test("puts tags back that the kernel took off, and filters by them", async () => {
    expect(await run("tags")).toEqual({
      heads: ["8100006488b5000000010000", "88a8000788b5000000020000", "88a800078100e06488b50000", "88b500000003000000000000"],
      lengths: [[64, 64], [64, 64], [68, 68], [60, 60]], filtered: ["8100006488b5000000010000"], addresses: true,
    });
  });

  test("says which frames this host sent", async () => {
    expect(await run("direction")).toEqual({ 1: false, 2: reader === "ring" });
  });

  test("hands over only what its filter lets through", async () => {
    expect(await run("filter")).toEqual({ numbers: [2], counted: 1 });
  });

  test("is lost once when its interface goes down, and can be opened when it is up", async () => {
    expect(await run("down")).toEqual({ before: 5, losses: ["interface-down"], whileDown: "interface-down", after: 5 });
  });

  test("is lost when its interface was down for a moment only", async () => {
    expect(await run("flap")).toEqual(["capture-lost"]);
  });

  test("is lost while another one is busy", async () => {
    expect(await run("flapBeside")).toEqual({ losses: ["capture-lost"], beside: [] });
  });

  test("is lost when its interface is removed", async () => {
    expect(await run("removed")).toEqual({ losses: ["interface-missing"], again: "interface-missing" });
  });

  test("is refused with the reason's code", async () => {
    expect(await run("refused")).toEqual({
      missing: Array.from({ length: 5 }, () => "interface-missing"), tunnel: "interface-unsupported",
      filters: Array.from({ length: 3 }, () => "filter-invalid"),
    });
  });

  test("names the capability that a process lacks", async () => {
    expect(await run("noCapability", "no-raw-capability")).toEqual(["permission-denied", "permission-denied"]);
  });

  test("works where sysfs shows the interfaces of another namespace", async () => {
    expect(await run("snap", "nsenter")).toEqual([{ kept: 64, wireLength: 1514, number: 7 }]);
  });

  test("may be closed by its own reader", async () => {
    expect(await run("closeWithin")).toEqual({ blocks: 1, losses: [] });
  });
});

test.skipIf(reason !== null)("frames that the ring has no room for are counted, and the load says so before", async () => {
  const result = await runInNamespace<{ readonly sent: number; readonly loads: readonly number[] }>("overflow");
  expect(result).toMatchObject({ all: true, hasDropped: true, still: true, loads: [1, 0] });
  expect(result.sent).toBe(200_000);
});
