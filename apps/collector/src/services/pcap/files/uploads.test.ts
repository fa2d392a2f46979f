import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createPcapsStore } from "../store/pcaps-store.ts";
import { createPcapRetentionStore } from "../store/retention-store.ts";
import { openPcapBench, reportOf } from "../testing/pcap-bench.ts";

test("an upload that ends badly moves the capture on: given up, forgotten here, gone at the probe", async () => {
  const clock = createFakeClock(Date.now());
  const bench = await openPcapBench({ clock });
  const probe = await bench.probe();
  const content = randomBytes(5000);
  const [damaged, broken, gone] = [reportOf(content), reportOf(content), reportOf(content)];
  await probe.tell(damaged, broken, gone);
  const { db } = bench.stack.database;
  const stateOf = async (id: string) => (await bench.call("GET", `/pcap/${id}`)).body.state as string;
  const becomes = (id: string, state: string) => expect.poll(async () => {
    await clock.advance(15_000);
    return stateOf(id);
  }).toBe(state);
  probe.handlers.pcap_fetch = () => ({ data: {} });
  const get = async (id: string) => (await bench.call("GET", `/pcap/${id}/download`)).status;
  expect([await get(gone.pcap_id), await get(gone.pcap_id)]).toEqual([202, 202]);
  const fetches = probe.sent("pcap_fetch").length;
  await db.updateTable("pcaps").set({ updated_at: "2026-01-01T00:00:00.000Z" }).where("id", "=", gone.pcap_id).execute();
  // Nothing has come: it is asked for again, and the probe has removed it meanwhile.
  probe.handlers.pcap_fetch = () => ({ refused: "removed to make room", reason: "no-such-file" });
  expect([await get(gone.pcap_id), probe.sent("pcap_fetch").length, await stateOf(gone.pcap_id)]).toEqual([404, fetches + 1, "expired"]);
  for (const { pcap_id: id } of [damaged, broken]) await probe.upload(id, content, { until: 1000 });
  expect([await stateOf(damaged.pcap_id), await stateOf(broken.pcap_id)]).toEqual(["uploading", "uploading"]);
  await db.updateTable("probe_files").set({ state: "failed" }).where("id", "=", damaged.pcap_id).execute();
  await becomes(damaged.pcap_id, "failed");
  // The probe went on with nothing for days.
  await db.deleteFrom("probe_files").where("id", "=", broken.pcap_id).execute();
  await becomes(broken.pcap_id, "at_probe");
});

test("files that lie on another machine do not keep those behind them from being stored", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const { db } = bench.stack.database;
  const content = randomBytes(100);
  const elsewhere = Array.from({ length: 25 }, () => reportOf(content));
  for (const { pcap_id: id } of elsewhere) expect((await probe.upload(id, content)).status).toBe(200);
  rmSync(join(bench.stack.dataDir, "files"), { recursive: true });
  await probe.tell(...elsewhere);
  await bench.stored(probe, content);
  expect((await db.selectFrom("probe_files").selectAll().where("state", "=", "received").execute()).length).toBe(25);
});

test("a lock and retention exclude each other; a deleted one's file is known no more", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const [one, two] = [await bench.stored(probe, randomBytes(100)), await bench.stored(probe, randomBytes(100))];
  const { database, tenantId } = bench.stack;
  const [pcaps, retention] = [createPcapsStore(database), createPcapRetentionStore(database)];
  let isExpired: Promise<boolean> = Promise.resolve(false);
  await pcaps.change(tenantId, one, async (trx) => {
    isExpired = retention.expire({ id: one, tenant_id: tenantId }, { detail: "", at: "" }, () => Promise.resolve());
    // Time for it to do what it should not.
    for (let looks = 0; looks < 50; looks += 1) await trx.selectFrom("pcaps").select("id").execute();
    return { locked_at: "2026-11-20T08:00:00.000Z", locked_by: "tester" };
  });
  expect([await isExpired, (await bench.call("GET", `/pcap/${one}`)).body.state, (await bench.call("GET", `/pcap/${one}/download`)).status]).toEqual([false, "ready", 200]);
  expect([...await retention.stored([one, two])].toSorted()).toEqual([one, two].toSorted());
  await database.db.updateTable("pcaps").set({ state: "uploading", stored_at: null, deleted_at: "2026-11-20T08:00:00.000Z" }).where("id", "=", two).execute();
  expect([...await retention.stored([one, two])]).toEqual([one]);
});
