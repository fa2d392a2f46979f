import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { FileProgress, PIECE_MAX_BYTES } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { HEADER_BYTES } from "./sealed-bytes.ts";
import { fileOf, openFilesBench, refusal, sha256 } from "./testing/files-bench.ts";

describe("a file from a probe", () => {
  test("comes in pieces, is verified as a whole, and is kept once", async () => {
    const { enroll } = await openFilesBench();
    const probe = await enroll();
    const content = randomBytes(PIECE_MAX_BYTES + 5000);
    const file = fileOf(content);
    expect((await probe.begin(file)).body).toEqual({ id: file.id, state: "open", offset: 0 });
    const first = content.subarray(0, PIECE_MAX_BYTES);
    expect((await probe.piece(file.id, 0, first)).body).toEqual({ id: file.id, state: "open", offset: PIECE_MAX_BYTES });
    expect(refusal(await probe.finish(file.id))).toEqual([409, "not-whole", PIECE_MAX_BYTES]);
    // As after a restart of the probe.
    expect((await probe.begin(file)).body).toMatchObject({ state: "open", offset: PIECE_MAX_BYTES });
    await probe.piece(file.id, PIECE_MAX_BYTES, content.subarray(PIECE_MAX_BYTES));
    const done = { id: file.id, state: "received", offset: content.length };
    expect((await probe.finish(file.id)).body).toEqual(done);
    for (const again of [await probe.finish(file.id), await probe.begin(file)]) expect(FileProgress.parse(again.body)).toEqual(done);
    expect((await probe.kept(file.id)).equals(content)).toBe(true);
    expect(existsSync(`${probe.path(file.id)}.part`)).toBe(false);
  });

  test("is listed for operators, and downloaded whole by who may, which the audit log records", async () => {
    const { stack, enroll } = await openFilesBench();
    const [probe, other] = [await enroll(), await enroll()];
    const content = Buffer.from(JSON.stringify("what hosts have said"));
    const [file, begun] = [{ ...fileOf(content), kind: "transcript" }, { ...fileOf(randomBytes(10)), kind: "transcript" }];
    await probe.begin(file);
    await probe.piece(file.id, 0, content);
    await probe.finish(file.id);
    await probe.begin(begun);
    const path = `/api/v1/agents/probes/${probe.probeId}/files`;
    const listed = await stack.call("GET", path, { role: "viewer" });
    expect([listed.status, listed.body.data]).toMatchObject([200, [
      { ...file, probe_id: probe.probeId, state: "received", received: content.length }, { ...begun, state: "open", received: 0 },
    ]]);
    expect((await stack.call("GET", `/api/v1/agents/probes/${other.probeId}/files`)).body.data).toEqual([]);
    const read = await stack.call("GET", `${path}/${file.id}/content`);
    expect([read.status, read.body, read.headers["repr-digest"]])
      .toEqual([200, "what hosts have said", `sha-256=:${createHash("sha256").update(content).digest("base64")}:`]);
    expect((await stack.call("GET", `${path}/${file.id}/content`, { role: "viewer" })).status).toBe(403);
    const capture = fileOf(content);
    await other.begin(capture);
    await other.piece(capture.id, 0, content);
    await other.finish(capture.id);
    const refused = await stack.call("GET", `/api/v1/agents/probes/${other.probeId}/files/${capture.id}/content`);
    expect([refused.status, refused.body.error.details]).toEqual([403, { required: "pcap:download" }]);
    const missing = [`${path}/${begun.id}/content`, `/api/v1/agents/probes/${other.probeId}/files/${file.id}/content`];
    for (const one of missing) expect((await stack.call("GET", one)).status).toBe(404);
    for (const one of [path, `${path}/${file.id}/content`]) expect((await stack.call("GET", one, { tenantId: createId() })).status).toBe(404);
    const audited = await stack.database.db.selectFrom("audit").select(["action", "target_id", "after"])
      .where("action", "like", "probe_file.%").orderBy("id").execute();
    expect(audited.map(({ action, target_id: target, after }) => [action, target, (JSON.parse(after ?? "null") as { sha256: string }).sha256])).toEqual([
      ["probe_file.download", probe.probeId, file.sha256], ["probe_file.download.refused", other.probeId, capture.sha256],
    ]);
  });

  test("is refused for now while the disk takes nothing, and goes on when it does", async () => {
    const { stack, enroll } = await openFilesBench();
    const probe = await enroll();
    const content = randomBytes(50_000);
    const file = fileOf(content);
    await probe.begin(file);
    // A device whose every write fails as on a full disk.
    mkdirSync(join(stack.dataDir, "files", probe.probeId), { recursive: true });
    symlinkSync("/dev/full", `${probe.path(file.id)}.part`);
    const refused = await probe.piece(file.id, 0, content);
    expect([...refusal(refused), Number(refused.headers["retry-after"]) > 0]).toEqual([503, "disk-full", undefined, true]);
    expect((await probe.begin(file)).body).toMatchObject({ state: "open", offset: 0 });
    rmSync(`${probe.path(file.id)}.part`);
    expect((await probe.piece(file.id, 0, content)).status).toBe(200);
    expect((await probe.finish(file.id)).body).toMatchObject({ state: "received" });
    expect((await probe.kept(file.id)).equals(content)).toBe(true);
  });

  test("goes on from what is on the disk where that is less than what was noted", async () => {
    const { enroll } = await openFilesBench();
    const probe = await enroll();
    const content = randomBytes(30_000);
    const file = fileOf(content);
    await probe.begin(file);
    await probe.piece(file.id, 0, content.subarray(0, 20_000));
    truncateSync(`${probe.path(file.id)}.part`, HEADER_BYTES + 12_000);
    expect((await probe.begin(file)).body.offset).toBe(12_000);
    expect(refusal(await probe.piece(file.id, 20_000, content.subarray(20_000)))).toEqual([409, "wrong-offset", 12_000]);
    await probe.piece(file.id, 12_000, content.subarray(12_000));
    expect((await probe.finish(file.id)).body.state).toBe("received");
    expect((await probe.kept(file.id)).equals(content)).toBe(true);
  });

  test("that is not what its SHA-256 says is thrown away, and given up the third time", async () => {
    const { enroll } = await openFilesBench();
    const probe = await enroll();
    const content = randomBytes(1000);
    const file = { ...fileOf(content), sha256: sha256(randomBytes(8)) };
    await probe.begin(file);
    const outcomes: unknown[] = [];
    for (const _ of [1, 2, 3]) {
      await probe.piece(file.id, 0, content);
      outcomes.push(refusal(await probe.finish(file.id)));
    }
    expect(outcomes).toEqual([[409, "file-damaged", 0], [409, "file-damaged", 0], [409, "given-up", undefined]]);
    expect(refusal(await probe.begin(file))).toEqual([409, "given-up", undefined]);
    expect(refusal(await probe.piece(file.id, 0, content))).toEqual([409, "given-up", undefined]);
    expect(readdirSync(join(probe.path(file.id), ".."))).toEqual([]);
  });

  test("goes when its time is over, and so does a half one that nobody goes on with", async () => {
    const clock = createFakeClock(Date.now());
    const { stack, enroll } = await openFilesBench({ clock, files: { keep_days: 1, unfinished_hours: 24 } });
    const probe = await enroll();
    const content = randomBytes(1000);
    const [whole, half] = [fileOf(content), fileOf(content)];
    for (const file of [whole, half]) {
      await probe.begin(file);
      await probe.piece(file.id, 0, content.subarray(0, file === whole ? 1000 : 500));
    }
    await probe.finish(whole.id);
    await clock.leap(20 * 3_600_000);
    expect([existsSync(probe.path(whole.id)), existsSync(`${probe.path(half.id)}.part`)]).toEqual([true, true]);
    await clock.leap(6 * 3_600_000);
    await expect.poll(() => readdirSync(join(probe.path(whole.id), ".."))).toEqual([]);
    await expect.poll(() => stack.database.db.selectFrom("probe_files").selectAll().execute()).toEqual([]);
  });
});

describe("a probe that does harm with files", () => {
  test("is not let in without its certificate, nor once it is revoked", async () => {
    const { stack, enroll } = await openFilesBench();
    const probe = await enroll();
    const file = fileOf(randomBytes(10));
    expect((await stack.call("POST", "/api/v1/agents/files", { body: file })).status).toBe(401);
    await stack.call("POST", `/api/v1/agents/probes/${probe.probeId}/revoke`);
    expect((await probe.begin(file)).status).toBe(401);
    expect(existsSync(join(stack.dataDir, "files"))).toBe(false);
  });

  test("reaches no file of another probe, under its id neither", async () => {
    const { enroll } = await openFilesBench();
    const [one, other] = [await enroll(), await enroll()];
    const content = randomBytes(1000);
    const file = fileOf(content);
    await one.begin(file);
    await one.piece(file.id, 0, content.subarray(0, 600));
    expect((await other.piece(file.id, 600, content.subarray(600))).status).toBe(404);
    expect((await other.finish(file.id)).status).toBe(404);
    // The same id is a file of its own.
    expect((await other.begin(file)).body.offset).toBe(0);
    await other.piece(file.id, 0, randomBytes(1000));
    expect((await one.begin(file)).body.offset).toBe(600);
    await one.piece(file.id, 600, content.subarray(600));
    expect((await one.finish(file.id)).body.state).toBe("received");
  });

  test("is refused for ids that are paths, sizes that lie, pieces that overlap or are damaged, and another file under an id", async () => {
    const { stack, enroll } = await openFilesBench({ files: { max_megabytes: 1 } });
    const probe = await enroll();
    const content = randomBytes(3000);
    const file = fileOf(content);
    for (const id of ["../../ca.pem", "..", "x/y", `${file.id}/..`, `${file.id}\0`, file.id.slice(1)]) {
      expect([id, (await probe.begin({ ...file, id })).status]).toEqual([id, 400]);
      // A path of dots alone is another path, which is none.
      expect([id, (await probe.finish(encodeURIComponent(id))).status]).toEqual([id, id === ".." ? 401 : 400]);
    }
    for (const size of [0, -1, 1.5, 2 ** 53]) expect((await probe.begin({ ...file, size })).status).toBe(400);
    expect(refusal(await probe.begin({ ...file, size: 1_000_001 }))).toEqual([413, "file-too-large", undefined]);
    await probe.begin(file);
    expect(refusal(await probe.begin({ ...file, size: 3001 }))).toEqual([409, "other-file", undefined]);
    await probe.piece(file.id, 0, content.subarray(0, 2000));
    expect(refusal(await probe.piece(file.id, 0, content.subarray(0, 2000)))).toEqual([409, "wrong-offset", 2000]);
    expect(refusal(await probe.piece(file.id, 1999, content.subarray(1999)))).toEqual([409, "wrong-offset", 2000]);
    expect(refusal(await probe.piece(file.id, 2001, content.subarray(2001)))).toEqual([409, "wrong-offset", 2000]);
    expect(refusal(await probe.piece(file.id, 2000, randomBytes(1001)))).toEqual([400, "piece-too-long", 2000]);
    expect(refusal(await probe.piece(file.id, 2000, new Uint8Array(0)))).toEqual([400, "piece-too-long", 2000]);
    expect(refusal(await probe.piece(file.id, 2000, content.subarray(2000), sha256(content)))).toEqual([400, "piece-damaged", 2000]);
    expect((await probe.piece(file.id, 2000, new Uint8Array(PIECE_MAX_BYTES + 1))).status).toBe(413);
    await probe.piece(file.id, 2000, content.subarray(2000));
    expect((await probe.finish(file.id)).status).toBe(200);
    expect(refusal(await probe.piece(file.id, 0, content))).toEqual([409, "wrong-offset", 3000]);
    expect(readdirSync(join(stack.dataDir, "files"))).toEqual([probe.probeId]);
    expect(readdirSync(join(stack.dataDir, "files", probe.probeId))).toEqual([file.id]);
  });

  test("opens four files, and no more before one is finished", async () => {
    const { stack, enroll } = await openFilesBench();
    const probe = await enroll();
    const content = randomBytes(10);
    const files = Array.from({ length: 5 }, () => fileOf(content));
    for (const file of files.slice(0, 4)) expect((await probe.begin(file)).status).toBe(200);
    const refused = await probe.begin(files[4] as object);
    expect([...refusal(refused), Number(refused.headers["retry-after"]) > 0]).toEqual([429, "too-many-open", undefined, true]);
    const first = files[0] as { readonly id: string };
    await probe.piece(first.id, 0, content);
    await probe.finish(first.id);
    expect((await probe.begin(files[4] as object)).status).toBe(200);
    expect(await stack.database.db.selectFrom("probe_files").select("id").execute()).toHaveLength(5);
  });

  test("sends no more in a day, and keeps no more, than it may; a damaged file counts each time", async () => {
    const clock = createFakeClock(Date.now());
    const { enroll } = await openFilesBench({ clock, files: { day_megabytes: 1, keep_megabytes: 1 } });
    const probe = await enroll();
    const content = randomBytes(400_000);
    const send = async (file: ReturnType<typeof fileOf>) => {
      await probe.begin(file);
      await probe.piece(file.id, 0, content);
      return probe.finish(file.id);
    };
    const damaged = { ...fileOf(content), sha256: sha256(randomBytes(8)) };
    expect(refusal(await send(damaged))).toEqual([409, "file-damaged", 0]);
    expect(refusal(await probe.begin(fileOf(content)))).toEqual([429, "day-quota", undefined]);
    await send(damaged);
    await send(damaged);
    await clock.leap(25 * 3_600_000);
    expect((await send(fileOf(content))).status).toBe(200);
    expect((await send(fileOf(content))).status).toBe(200);
    await clock.leap(25 * 3_600_000);
    expect(refusal(await probe.begin(fileOf(content)))).toEqual([429, "kept-quota", undefined]);
  });

  test("that sends many pieces at once has one taken, and no more than a few wait", async () => {
    const { enroll } = await openFilesBench();
    const probe = await enroll();
    const content = randomBytes(50_000);
    const file = fileOf(content);
    await probe.begin(file);
    const answers = await Promise.all(Array.from({ length: 12 }, () => probe.piece(file.id, 0, content)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    const others = answers.filter((answer) => answer.status !== 200).map((answer) => refusal(answer)[1]);
    expect(others.every((reason) => reason === "wrong-offset" || reason === "too-many-open")).toBe(true);
    expect((await probe.finish(file.id)).status).toBe(200);
  });
});
