import type { Scan } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createScansBench, type FakeProbe, type ScansBench } from "./testing/bench.ts";

let bench: ScansBench;
let probe: FakeProbe;
beforeEach(async () => {
  bench = await createScansBench();
  probe = await bench.addProbe();
});
afterEach(() => bench.stop());

const order = { target: "192.0.2.0/24", profile: "discovery" };
const head = (scan: Scan) => ({ scan_id: scan.id, target: scan.target, profile: scan.profile });
const counts = { hosts_total: 254, hosts_up: 3, ports_open: 0 };
const complete = (scan: Scan) => ({ type: "scan_complete", data: { ...head(scan), ...counts, duration_seconds: 12.5 } }) as const;
const cancelled = (scan: Scan) => ({ type: "scan_cancelled", data: { ...head(scan), ...counts, duration_seconds: 12.5 } }) as const;
const running = async () => {
  const scan = await bench.started(order);
  await bench.reply(probe, bench.sent("scan_start")[0]?.id ?? "");
  await bench.tell(probe, { type: "scan_started", data: { ...head(scan), hosts_total: 254 } });
  return scan;
};
/** Time passes, and the probe is heard. */
const wait = async (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 30) {
    await bench.clock.advance(Math.min(30, seconds - passed) * 1000);
    await bench.send(probe, "status", { state: "online", version: "1", run_id: probe.runId, at: bench.now() });
  }
};

describe("nothing runs for ever: a scan", () => {
  test("that is queued fails when the probe has not answered in time, also over a restart of the collector", async () => {
    const scan = await bench.started(order);
    await wait(30);
    expect((await bench.read(scan.id)).status).toBe("queued");
    await bench.restart();
    await wait(20);
    expect(await bench.read(scan.id)).toMatchObject({ status: "failed", error: "the probe did not answer within 40 s" });
    expect(await bench.logged()).toEqual(["scan_failed"]);
  });

  test("that runs is kept over a restart of the collector, and goes on", async () => {
    const scan = await running();
    await bench.restart();
    await wait(60);
    expect((await bench.read(scan.id)).status).toBe("running");
    await bench.tell(probe, complete(scan));
    expect((await bench.read(scan.id)).status).toBe("completed");
  });

  test("of a probe that was started again fails with the reason, if the probe's queue says no better", async () => {
    const scan = await running();
    probe.runId = createId();
    await bench.connect(probe);
    await wait(20);
    expect((await bench.read(scan.id)).status).toBe("running");
    await wait(20);
    expect(await bench.read(scan.id)).toMatchObject({ status: "failed", error: "the probe was restarted" });
  });

  test("that ended before the probe was restarted ends as the probe's queue says", async () => {
    const scan = await running();
    probe.runId = createId();
    await bench.connect(probe);
    await bench.tell(probe, complete(scan));
    await wait(120);
    expect((await bench.read(scan.id)).status).toBe("completed");
    expect(await bench.logged()).toEqual(["scan_started", "scan_complete"]);
  });

  test("goes on when its probe connects anew in the same run", async () => {
    const scan = await running();
    await bench.connect(probe);
    await wait(120);
    expect((await bench.read(scan.id)).status).toBe("running");
  });

  test("of which nothing is heard for an hour fails; what the probe says later still counts", async () => {
    const scan = await running();
    await wait(3500);
    await bench.tell(probe, { type: "scan_progress", data: { ...head(scan), progress: 0.1, ...counts } });
    await wait(3500);
    expect((await bench.read(scan.id)).status).toBe("running");
    await wait(200);
    expect(await bench.read(scan.id)).toMatchObject({ status: "failed", error: "the probe reported nothing about the scan for an hour" });
    await bench.tell(probe, { type: "scan_progress", data: { ...head(scan), progress: 0.2, ...counts } });
    expect(await bench.read(scan.id)).toMatchObject({ status: "running", progress: 0.2, error: null, finished_at: null });
    await bench.tell(probe, complete(scan));
    expect(await bench.read(scan.id)).toMatchObject({ status: "completed", error: null });
  });

  test("of a revoked probe fails", async () => {
    const scan = await running();
    await bench.server.db.updateTable("probes").set({ revoked_at: bench.now() }).execute();
    await bench.clock.advance(10_000);
    expect(await bench.read(scan.id)).toMatchObject({ status: "failed", error: "the probe was revoked" });
  });

  test("that the probe says to have failed has failed for that reason, and nothing changes it", async () => {
    const scan = await running();
    await bench.tell(probe, { type: "scan_failed", data: { ...head(scan), reason: "network is down" } });
    await bench.tell(probe, complete(scan));
    expect(await bench.read(scan.id)).toMatchObject({ status: "failed", error: "network is down", hosts_up: 3 });
  });

  test("is forgotten long after it ended, with what it found", async () => {
    const scan = await running();
    await bench.tell(probe, { type: "scan_results", data: { scan_id: scan.id, hosts: [{ ip: "192.0.2.9", mac: "" }] } }, complete(scan));
    bench.clock.jump(31 * 86_400_000);
    await bench.clock.advance(10_000);
    expect(await bench.server.db.selectFrom("scans").select("id").execute()).toEqual([]);
    expect(await bench.server.db.selectFrom("scan_hosts").select("ip").execute()).toEqual([]);
  });
});

describe("a scan that is cancelled", () => {
  test("is so at once; the probe gets the order, and its results until then stay", async () => {
    const scan = await running();
    const answer = await bench.cancel(scan.id);
    expect([answer.status, answer.body]).toEqual([200, { ...(await bench.read(scan.id)), status: "cancelled", finished_at: bench.now() }]);
    expect(bench.sent("scan_cancel")).toMatchObject([{ data: { scan_id: scan.id } }]);
    await bench.tell(probe, { type: "scan_results", data: { scan_id: scan.id, hosts: [{ ip: "192.0.2.9", mac: "" }] } }, cancelled(scan));
    expect(await bench.read(scan.id)).toMatchObject({ status: "cancelled", hosts_up: 3, error: null });
    expect((await bench.results(scan.id)).data).toHaveLength(1);
    expect((await bench.server.db.selectFrom("audit").select("action").orderBy("id").execute()).map(({ action }) => action)).toEqual([
      "scan.start", "scan.cancel",
    ]);
    expect((await bench.cancel(scan.id)).status).toBe(200);
    expect(bench.sent("scan_cancel")).toHaveLength(1);
  });

  test("while its probe is away is sent to the probe when it returns, until it has answered", async () => {
    const scan = await running();
    bench.publishFault = new Error("away");
    expect((await bench.cancel(scan.id)).status).toBe(200);
    bench.publishFault = null;
    await bench.connect(probe);
    await bench.connect(probe);
    const [first, second] = bench.sent("scan_cancel");
    expect([first?.data, first?.id]).toEqual([{ scan_id: scan.id }, second?.id]);
    await bench.reply(probe, first?.id ?? "");
    await bench.connect(probe);
    expect(bench.sent("scan_cancel")).toHaveLength(2);
    expect((await bench.read(scan.id)).status).toBe("cancelled");
  });

  test("stays so whatever the probe says later; one that has ended cannot be", async () => {
    const scan = await running();
    await bench.cancel(scan.id);
    await bench.tell(probe, { type: "scan_progress", data: { ...head(scan), progress: 0.9, ...counts } }, complete(scan));
    expect((await bench.read(scan.id)).status).toBe("cancelled");
    const again = await bench.started(order);
    await bench.tell(probe, complete(again));
    expect((await bench.cancel(again.id)).error.code).toBe("CONFLICT");
    expect((await bench.cancel(createId())).status).toBe(404);
  });

  test("before the probe has answered never runs, even if the answer comes", async () => {
    const scan = await bench.started(order);
    await bench.cancel(scan.id);
    await bench.reply(probe, bench.sent("scan_start")[0]?.id ?? "");
    await wait(120);
    expect((await bench.read(scan.id)).status).toBe("cancelled");
    expect(await bench.logged()).toEqual([]);
  });
});
