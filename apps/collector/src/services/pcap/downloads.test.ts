import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { addKey, openKeyring } from "../../sealing/keyring.ts";
import { resealAll } from "../../sealing/reseal-store.ts";
import { openPcapBench, type PcapBench, reportOf, sha256 } from "./testing/pcap-bench.ts";

const CONTENT = Buffer.concat([Buffer.from("what hosts have said ".repeat(10_000)), randomBytes(7)]);

/** Where a capture lies. */
const pathOf = ({ stack }: PcapBench, id: string) => join(stack.dataDir, "captures", id.slice(34, 36), id);

describe("a download", () => {
  test("gives the file and ranges of it, with its SHA-256 as tag", async () => {
    const bench = await openPcapBench();
    const id = await bench.stored(await bench.probe(), CONTENT, { file_name: '../../x"\r\ny.pcapng' });
    const get = (headers: Record<string, string> = {}) => bench.call("GET", `/pcap/${id}/download`, { headers });
    const whole = await get();
    const tag = `"${sha256(CONTENT)}"`;
    expect([whole.status, whole.raw.equals(CONTENT)]).toEqual([200, true]);
    expect(whole.headers).toMatchObject({
      "content-type": "application/octet-stream", "content-length": String(CONTENT.length), etag: tag, "accept-ranges": "bytes",
      "content-disposition": 'attachment; filename="_.._x_y.pcapng"',
    });
    const size = CONTENT.length;
    const ranges: readonly [string, number, number][] = [
      ["bytes=0-0", 0, 1], ["bytes=65535-65536", 65_535, 65_537], [`bytes=${size - 3}-`, size - 3, size], ["bytes=-10", size - 10, size],
      [`bytes=100-${size * 2}`, 100, size], ["bytes=65536-131071", 65_536, 131_072], [`bytes=-${size * 2}`, 0, size],
    ];
    for (const [range, from, to] of ranges) {
      const part = await get({ range });
      expect([range, part.status, part.headers["content-range"], part.headers["content-length"]])
        .toEqual([range, 206, `bytes ${from}-${to - 1}/${size}`, String(to - from)]);
      expect(part.raw.equals(CONTENT.subarray(from, to))).toBe(true);
    }
    for (const range of ["bytes=5-2", "bytes=0-1,5-6", "lines=1-2", "bytes=x", "bytes=-"]) expect([range, (await get({ range })).status]).toEqual([range, 200]);
    for (const range of [`bytes=${size}-`, "bytes=-0", "bytes=999999999999-"]) {
      const refused = await get({ range });
      expect([range, refused.status, refused.headers["content-range"]]).toEqual([range, 416, `bytes */${size}`]);
    }
    expect((await get({ range: "bytes=0-0", "if-range": tag })).status).toBe(206);
    expect((await get({ range: "bytes=0-0", "if-range": '"another"' })).status).toBe(200);
  });

  test("needs its own scope, and a reason where the site demands it; each one and each failed try is audited", async () => {
    const bench = await openPcapBench();
    const id = await bench.stored(await bench.probe(), CONTENT);
    const path = `/pcap/${id}/download`;
    for (const role of ["viewer", "operator"] as const) expect((await bench.call("GET", path, { role })).status).toBe(403);
    const set = await bench.call("PUT", `/pcap/settings/${bench.stack.siteId}`, { body: { require_reason: true } });
    expect([set.status, set.body.require_reason, set.body.evidence]).toEqual([200, true, true]);
    const refused = await bench.call("GET", path);
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, "reason"]);
    expect((await bench.call("GET", `${path}?reason=case%207`)).status).toBe(200);
    expect((await bench.call("GET", path, { headers: { "x-reason": "case 8", range: "bytes=1-2" } })).status).toBe(206);
    expect((await bench.call("GET", `/pcap/${createId()}/download`)).status).toBe(404);
    const hash = sha256(CONTENT);
    expect((await bench.audited("pcap.download")).map(({ target_id: target, after }) => [target, after])).toEqual([
      [id, expect.objectContaining({ sha256: hash, reason: "case 7" })], [id, expect.objectContaining({ sha256: hash, reason: "case 8", from: 1, to: 3 })],
    ]);
    const other = await bench.probe();
    const report = reportOf(CONTENT);
    await other.tell(report);
    other.handlers.pcap_fetch = () => ({ refused: "busy", reason: "not-now" });
    expect((await bench.call("GET", `/pcap/${report.pcap_id}/download?reason=case%209`)).status).toBe(503);
    expect((await bench.audited("pcap.download.refused")).map(({ after }) => [after?.["sha256"], after?.["status"], after?.["reason"]]))
      .toEqual([[hash, 403, null], [hash, 403, null], [hash, 400, null], [undefined, 404, null], [hash, 503, "case 9"]]);
    for (const [method, path, action] of [["DELETE", `/pcap/${id}`, "delete"], ["POST", `/pcap/${id}/lock`, "lock"], ["POST", "/pcap", "start"], ["POST", "/pcap/export", "export"], ["POST", "/pcap/watch", "watch"]] as const) {
      expect([action, (await bench.call(method, path, { role: "viewer", ...(method === "POST" && { body: {} }) })).status]).toEqual([action, 403]);
      expect((await bench.audited(`pcap.${action}.refused`)).map(({ after }) => [action, after?.["status"]])).toEqual([[action, 403]]);
    }
  });

  test("of a file at the probe has it sent, and says how far it is", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const report = reportOf(CONTENT);
    await probe.tell(report);
    const get = () => bench.call("GET", `/pcap/${report.pcap_id}/download`);
    probe.handlers.pcap_fetch = () => ({ data: {} });
    const first = await get();
    expect([first.status, Number(first.headers["retry-after"]) > 0, first.body]).toEqual([
      202, true, { id: report.pcap_id, state: "uploading", size_bytes: CONTENT.length, received_bytes: 0 },
    ]);
    await probe.upload(report.pcap_id, CONTENT, { until: 1000 });
    expect((await get()).body.received_bytes).toBe(1000);
    expect(probe.sent("pcap_fetch").map(({ data }) => data)).toEqual([{ pcap_id: report.pcap_id }]);
    await probe.upload(report.pcap_id, CONTENT);
    await expect.poll(async () => (await get()).status).toBe(200);
  });
});

describe("what is on the disk", () => {
  test("is not what was sent; a changed, swapped or cut file is noticed", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const [one, two] = [await bench.stored(probe, CONTENT), await bench.stored(probe, Buffer.from(CONTENT))];
    const [path, other] = [pathOf(bench, one), pathOf(bench, two)];
    const sealed = readFileSync(path);
    expect([sealed.includes("hosts"), sealed.equals(readFileSync(other)), statSync(path).mode & 0o777]).toEqual([false, false, 0o600]);
    const files = readdirSync(bench.stack.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files) expect([name, readFileSync(join(parentPath, name)).includes("what hosts have said")]).toEqual([name, false]);
    const readable = async (headers: Record<string, string> = {}) =>
      bench.call("GET", `/pcap/${one}/download`, { headers }).then(({ status, raw }) => status < 300 && raw.length > 0, () => false);
    expect(await readable()).toBe(true);
    const flipped = Buffer.from(sealed);
    flipped[70_000] = (flipped[70_000] ?? 0) ^ 1;
    writeFileSync(path, flipped);
    expect([await readable(), await readable({ range: "bytes=65536-65540" }), await readable({ range: "bytes=0-10" })]).toEqual([false, false, true]);
    const chunk = 65_536 + 16;
    writeFileSync(path, Buffer.concat([sealed.subarray(chunk, 2 * chunk), sealed.subarray(0, chunk), sealed.subarray(2 * chunk)]));
    expect(await readable()).toBe(false);
    writeFileSync(path, readFileSync(other));
    expect(await readable()).toBe(false);
    writeFileSync(path, sealed);
    expect(await readable()).toBe(true);
    truncateSync(path, 2 * chunk);
    expect((await bench.call("GET", `/pcap/${one}/download`)).status).toBe(404);
    rmSync(path);
    expect((await bench.call("GET", `/pcap/${one}/download`)).status).toBe(404);
  });

  test("stays as it is when the sealing key is rotated, and is read with the new key alone", async () => {
    const keys = mkdtempSync(join(tmpdir(), "lanthorn-keys-"));
    onTestFinished(() => rmSync(keys, { recursive: true }));
    const bench = await openPcapBench({ keyring: openKeyring(keys, undefined) });
    const id = await bench.stored(await bench.probe(), CONTENT);
    const before = readFileSync(pathOf(bench, id));
    for (const _ of [1, 2, 3]) {
      addKey(keys);
      expect(await resealAll(bench.stack.database.db, bench.stack.sealing)).toBeGreaterThan(0);
    }
    expect(readFileSync(pathOf(bench, id)).equals(before)).toBe(true);
    expect((await bench.call("GET", `/pcap/${id}/download`)).raw.equals(CONTENT)).toBe(true);
  });

  test("goes when its time is over or its room is needed, the oldest first; locked evidence stays", async () => {
    const clock = createFakeClock(Date.now());
    const bench = await openPcapBench({ clock, pcap: { keep_days: 2, keep_megabytes: 1, keep_locked_megabytes: 1 } });
    const probe = await bench.probe();
    const stored = async (bytes: number) => {
      const content = randomBytes(bytes);
      const report = reportOf(content);
      await probe.tell(report);
      await probe.upload(report.pcap_id, content);
      await expect.poll(async () => {
        await clock.advance(1000);
        return (await bench.call("GET", `/pcap/${report.pcap_id}`)).body.state;
      }).toBe("ready");
      return report.pcap_id;
    };
    const stateOf = async (id: string) => (await bench.call("GET", `/pcap/${id}`)).body.state as string;
    const first = await stored(400_000);
    expect((await bench.call("POST", `/pcap/${first}/lock`, { body: { reason: "case 7" } })).body.lock).toMatchObject({ by: "tester", reason: "case 7" });
    const [second, third] = [await stored(400_000), await stored(400_000)];
    const fourth = await stored(400_000);
    await expect.poll(() => stateOf(second)).toBe("expired");
    expect([await stateOf(first), await stateOf(third), await stateOf(fourth)]).toEqual(["ready", "ready", "ready"]);
    expect((await bench.call("GET", `/pcap/${second}/download`)).status).toBe(404);
    expect((await bench.call("POST", `/pcap/${third}/lock`, { body: {} })).status).toBe(200);
    expect((await bench.call("POST", `/pcap/${fourth}/lock`, { body: {} })).status).toBe(409);
    expect((await bench.call("GET", `/pcap/settings/${bench.stack.siteId}`)).body.usage)
      .toEqual({ files: 1, bytes: 400_000, locked_files: 2, locked_bytes: 800_000 });
    await clock.leap(3 * 86_400_000);
    await expect.poll(() => stateOf(fourth)).toBe("expired");
    expect([await stateOf(first), await stateOf(third)]).toEqual(["ready", "ready"]);
    expect((await bench.audited("pcap.expire")).map(({ target_id: id, actor_name: by, before }) => [id, by, before?.["sha256"]]))
      .toEqual([second, fourth].map((id) => [id, "retention", expect.stringMatching(/^[\da-f]{64}$/)]));
    const left = readdirSync(join(bench.stack.dataDir, "captures"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(new Set(left.map(({ name }) => name))).toEqual(new Set([first, third]));
  });

  test("that no row knows is removed after a day, and nothing else", async () => {
    const clock = createFakeClock(Date.now());
    const bench = await openPcapBench({ clock });
    const home = join(bench.stack.dataDir, "captures");
    const probe = await bench.probe();
    const content = randomBytes(1000);
    const report = reportOf(content);
    await probe.tell(report);
    await probe.upload(report.pcap_id, content);
    await expect.poll(async () => {
      await clock.advance(1000);
      return (await bench.call("GET", `/pcap/${report.pcap_id}`)).body.state;
    }).toBe("ready");
    const folder = join(home, report.pcap_id.slice(34, 36));
    const other = `00000000${report.pcap_id.slice(8)}`;
    const orphans = [other, `${other}.${createId()}.part`];
    for (const name of orphans) writeFileSync(join(folder, name), "x");
    writeFileSync(join(folder, "README"), "x");
    await clock.leap(2 * 86_400_000);
    await expect.poll(() => readdirSync(folder).toSorted()).toEqual([report.pcap_id, "README"].toSorted());
  });
});

describe("deletion and locks", () => {
  test("a locked capture that lies at the probe is sent for, and counted before it comes", async () => {
    const bench = await openPcapBench({ pcap: { keep_locked_megabytes: 1 } });
    const probe = await bench.probe();
    const [one, two] = [reportOf(CONTENT, { size_bytes: 700_000 }), reportOf(CONTENT, { size_bytes: 700_000 })];
    await probe.tell(one, two);
    probe.handlers.pcap_fetch = () => ({ data: {} });
    expect((await bench.call("POST", `/pcap/${one.pcap_id}/lock`, { body: {} })).status).toBe(200);
    expect((await bench.call("POST", `/pcap/${two.pcap_id}/lock`, { body: {} })).status).toBe(409);
    await expect.poll(async () => (await bench.call("GET", `/pcap/${one.pcap_id}`)).body.state).toBe("uploading");
    expect(probe.sent("pcap_fetch").map(({ data }) => data)).toEqual([{ pcap_id: one.pcap_id }]);
  });

  test("a deleted capture is gone here and at the probe, also one that is away, and does not come back", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const id = await bench.stored(probe, CONTENT);
    await bench.call("POST", `/pcap/${id}/lock`, { body: {} });
    expect((await bench.call("DELETE", `/pcap/${id}`)).status).toBe(409);
    await bench.call("POST", `/pcap/${id}/unlock`);
    expect((await bench.call("DELETE", `/pcap/${id}`, { role: "viewer" })).status).toBe(403);
    probe.handlers.pcap_delete = () => ({ refused: "busy", reason: "not-now" });
    expect((await bench.call("DELETE", `/pcap/${id}`)).status).toBe(204);
    expect([(await bench.call("GET", `/pcap/${id}`)).status, readdirSync(join(pathOf(bench, id), ".."))]).toEqual([404, []]);
    await expect.poll(() => probe.sent("pcap_delete").length).toBe(1);
    await probe.tell(reportOf(CONTENT, { pcap_id: id }));
    expect((await bench.call("GET", "/pcap")).body.data).toEqual([]);
    // The probe could not do it: it hears of it again when it is back.
    probe.handlers.pcap_delete = () => ({ data: { deleted: true } });
    await bench.stack.ingest.receive({
      tenantId: bench.stack.tenantId, probeId: probe.probeId, channel: "status", retained: false,
      payload: Buffer.from(JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at: new Date().toISOString() })),
    });
    await expect.poll(() => probe.sent("pcap_delete").length).toBe(2);
    const hash = sha256(CONTENT);
    for (const action of ["pcap.lock", "pcap.unlock", "pcap.delete"]) {
      expect((await bench.audited(action)).map(({ target_id: target, before }) => [action, target, before?.["sha256"]])).toEqual([[action, id, hash]]);
    }
  });
});
