import { randomBytes } from "node:crypto";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { openPcapBench, type PcapBench, type RecordingProbe, reportOf } from "../testing/pcap-bench.ts";

/** The probe is back, as after a restart. */
const comeBack = ({ stack }: PcapBench, probe: RecordingProbe) => stack.ingest.receive({
  tenantId: stack.tenantId, probeId: probe.probeId, channel: "status", retained: false,
  payload: Buffer.from(JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at: new Date().toISOString() })),
});
const heardDeletions = async ({ stack }: PcapBench) => (await stack.database.db.selectFrom("pcaps").select("id").where("deletion_heard", "=", 1).execute()).length;

test("a deletion that the probe refuses for now is sent again until it is done", async () => {
  const clock = createFakeClock(Date.now());
  const bench = await openPcapBench({ clock });
  const probe = await bench.probe();
  const report = reportOf(randomBytes(100));
  await probe.tell(report);
  probe.handlers.pcap_delete = () => ({ refused: "the traffic process is being started again", reason: "not-now" });
  expect((await bench.call("DELETE", `/pcap/${report.pcap_id}`)).status).toBe(204);
  await expect.poll(() => probe.sent("pcap_delete").length).toBe(1);
  // An older probe does not say what its refusal means.
  probe.handlers.pcap_delete = () => ({ refused: "8 commands are already running" });
  const goOn = (times: number) => expect.poll(async () => {
    await clock.advance(1000);
    return probe.sent("pcap_delete").length;
  }).toBe(times);
  await goOn(2);
  expect(await heardDeletions(bench)).toBe(0);
  probe.handlers.pcap_delete = () => ({ data: { deleted: true } });
  await goOn(3);
  await expect.poll(() => heardDeletions(bench)).toBe(1);
});

test("a probe that is back hears of its deletions one after the other, however often it comes back", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const reports = Array.from({ length: 30 }, () => reportOf(randomBytes(10)));
  await probe.tell(...reports);
  const { db } = bench.stack.database;
  await db.updateTable("pcaps").set({ deleted_at: new Date().toISOString() }).execute();
  for (let times = 0; times < 20; times += 1) await comeBack(bench, probe);
  await expect.poll(() => probe.sent("pcap_delete").length).toBe(1);
  // It does not answer: nothing else is asked of it meanwhile.
  const asked = async () => (await db.selectFrom("pcap_commands").selectAll().execute()).length;
  expect(await asked()).toBe(1);
  probe.handlers.pcap_delete = () => ({ data: { deleted: true } });
  await probe.answer(probe.sent("pcap_delete")[0]?.id ?? "", { deleted: true });
  await expect.poll(() => heardDeletions(bench)).toBe(30);
  expect(new Set(probe.sent("pcap_delete").map(({ data }) => data["pcap_id"])).size).toBe(30);
});
