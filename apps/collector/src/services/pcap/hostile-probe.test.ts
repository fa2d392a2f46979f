import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { openPcapBench, reportOf } from "./testing/pcap-bench.ts";

test("100,000 records are bounded, counted, and said once; what people asked for, locked or deleted stays", async () => {
  const bench = await openPcapBench({ pcap: { keep_records: 500 } });
  const probe = await bench.probe();
  const kept = await bench.stored(probe, randomBytes(1000));
  const locked = reportOf(randomBytes(3));
  await probe.tell(locked);
  await bench.call("POST", `/pcap/${locked.pcap_id}/lock`, { body: {} });
  probe.handlers.pcap_start = () => ({ data: {} });
  const asked = (await bench.call("POST", "/pcap", { body: {} })).body.id as string;
  const deleted = reportOf(randomBytes(3));
  await probe.tell(deleted);
  expect((await bench.call("DELETE", `/pcap/${deleted.pcap_id}`)).status).toBe(204);
  const full = Array.from({ length: 16 }, () => createId());
  for (let batch = 0; batch < 200; batch += 1) {
    await probe.tell(...Array.from({ length: 500 }, () => reportOf(Buffer.from("x"), { alert_ids: batch === 0 ? full : [] })));
  }
  const { db } = bench.stack.database;
  const count = async (table: "pcaps" | "pcap_links") =>
    (await db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow()).total;
  expect(await count("pcaps")).toBe(503);
  expect(await count("pcap_links")).toBeLessThanOrEqual(503 * 96);
  await probe.tell(deleted);
  expect((await bench.call("GET", `/pcap/${deleted.pcap_id}`)).status).toBe(404);
  expect((await bench.call("GET", `/pcap/${asked}`)).body).toMatchObject({ state: "recording", requested_by: "tester" });
  for (const id of [kept, locked.pcap_id]) expect((await bench.call("GET", `/pcap/${id}`)).status).toBe(200);
  expect((await bench.events("error")).filter(({ data }) => data["code"] === "pcap-quota")).toHaveLength(1);
  const quota = await db.selectFrom("pcap_quotas").selectAll().executeTakeFirstOrThrow();
  expect([quota.day_records, quota.refused]).toEqual([502, 100_000 - 499]);
});

test("a capture that is reported again and again has the links of the last report alone, and so often a day only", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const { db } = bench.stack.database;
  const report = reportOf(Buffer.from("x"));
  const addresses = (n: number) => ({ ips: Array.from({ length: 16 }, (_, index) => `10.0.${n}.${index}`), macs: [`02:00:00:00:00:${(n + 16).toString(16)}`] });
  for (let n = 0; n < 41; n += 1) await probe.tell(...Array.from({ length: 500 }, () => ({ ...report, ...addresses(n) })));
  const links = await db.selectFrom("pcap_links").select("value").execute();
  const { day_updates: updates, refused } = await db.selectFrom("pcap_quotas").selectAll().executeTakeFirstOrThrow();
  expect([links.length, updates, refused]).toEqual([17, 20_000, 499]);
  expect(new Set(links.map(({ value }) => value))).toEqual(new Set([...addresses(40).ips, ...addresses(40).macs]));
});

test("ids of other probes and of what was requested of them are theirs", async () => {
  const bench = await openPcapBench();
  const [victim, thief] = [await bench.probe(), await bench.probe()];
  const content = randomBytes(5000);
  victim.handlers.pcap_start = () => ({ data: {} });
  const stored = await bench.stored(victim, content, { alert_ids: [createId()] });
  const asked = (await bench.call("POST", "/pcap", { body: { probe_id: victim.probeId } })).body.id as string;
  const before = [(await bench.call("GET", `/pcap/${stored}`)).body, (await bench.call("GET", `/pcap/${asked}`)).body];
  const lies = randomBytes(700);
  for (const id of [stored, asked]) {
    await thief.tell(reportOf(lies, { pcap_id: id, state: "failed", alert_ids: [createId()] }), reportOf(lies, { pcap_id: id }));
    await thief.upload(id, lies);
  }
  // What the thief really has is stored after that, so that all of it was looked at.
  const own = await bench.stored(thief, lies);
  expect([(await bench.call("GET", `/pcap/${stored}`)).body, (await bench.call("GET", `/pcap/${asked}`)).body]).toEqual(before);
  expect((await bench.call("GET", `/pcap/${stored}/download`)).raw.equals(content)).toBe(true);
  expect((await bench.call("GET", "/pcap")).body.meta.total).toBe(3);
  expect((await bench.call("GET", `/pcap/${own}`)).body.probe_id).toBe(thief.probeId);
});

test("too many bytes are refused at the door, and what is there is within its quota", async () => {
  const bench = await openPcapBench({ files: { max_megabytes: 1, keep_megabytes: 1.5 } });
  const probe = await bench.probe();
  const large = randomBytes(1_000_001);
  const report = reportOf(large);
  await probe.tell(report);
  expect((await probe.upload(report.pcap_id, large)).status).toBe(413);
  const { state, detail } = (await bench.call("GET", `/pcap/${report.pcap_id}`)).body;
  expect([state, detail]).toEqual(["at_probe", expect.stringContaining("files.max_megabytes")]);
  // Files of which nothing is said wait within the probe's quota; what became captures counts no more.
  const [one, two, three] = [randomBytes(900_000), randomBytes(500_000), randomBytes(500_000)];
  await bench.stored(probe, one);
  expect((await probe.upload(createId(), two)).status).toBe(200);
  expect((await probe.upload(createId(), three)).status).toBe(200);
  expect((await probe.upload(createId(), randomBytes(600_000))).status).toBe(429);
});

test("hostile texts are stored and shown without doing harm", async () => {
  const bench = await openPcapBench();
  const probe = await bench.probe();
  const hostile = "\u0000\u001B[2J\u202E'; drop table pcaps; --\uD800";
  const report = reportOf(Buffer.from("x"), { detail: hostile, file_name: `../../${hostile}`, filter: hostile, interfaces: [hostile] });
  await probe.tell(report);
  const { body } = await bench.call("GET", `/pcap/${report.pcap_id}`);
  expect(body.file_name).toMatch(/^[\w.+-]+$/);
  expect(body.filter).not.toContain("\u0000");
  // Not what a probe may say: it is refused as a whole, and goes on.
  await probe.tell({ ...report, pcap_id: "../../etc/passwd" }, { ...report, pcap_id: createId(), size_bytes: -1 }, reportOf(Buffer.from("y")));
  expect((await bench.call("GET", "/pcap")).body.meta.total).toBe(2);
});

test("two probes that send at once, one after a restart of its connection, are both stored", async () => {
  const bench = await openPcapBench();
  const probes = [await bench.probe(), await bench.probe()];
  const contents = [randomBytes(3_000_000), randomBytes(2_000_000)];
  const reports = contents.map((content) => reportOf(content));
  await Promise.all(probes.map(async (probe, index) => {
    const [report, content] = [reports[index] ?? reportOf(Buffer.from("")), contents[index] ?? Buffer.from("")];
    await probe.tell(report);
    await probe.upload(report.pcap_id, content, { until: 1_500_000 });
    await probe.upload(report.pcap_id, content);
  }));
  for (const [index, { pcap_id: id }] of reports.entries()) {
    await expect.poll(async () => (await bench.call("GET", `/pcap/${id}`)).body.state).toBe("ready");
    expect((await bench.call("GET", `/pcap/${id}/download`)).raw.equals(contents[index] ?? Buffer.from(""))).toBe(true);
  }
  const parts = readdirSync(join(bench.stack.dataDir, "files"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(parts).toEqual([]);
});
