import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, silentLog, watchLoop } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FINGERPRINTS } from "../bundles/names.ts";
import { openBundleStore } from "../bundles/store.ts";
import { createDatabaseThread, type DatabaseThread } from "./database-thread.ts";
import { toFinding } from "./finding.ts";

/** A busy machine stands still for longer than 20 ms by itself. */
const HANG_MS = 500;
const BELL = '<fingerprint pattern="^Bell (\\d+)$"><param pos="0" name="service.product" value="Bell"/></fingerprint>';
const finding = toFinding({ service: "ftp", texts: [{ kind: "ftp", text: "Bell 1" }] });
const hostile = toFinding({ service: "ftp", texts: [{ kind: "ftp", text: `${"a".repeat(1000)}!` }] });

let dataDir: string;
let databases: DatabaseThread;
let broken: string[];
let said: { level: string; about: unknown }[];
const clock = createFakeClock(0);
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-ask-"));
  const store = openBundleStore(dataDir, FINGERPRINTS);
  const note = (level: string) => (about: unknown) => void said.push({ level, about });
  [said, broken] = [[], []];
  databases = createDatabaseThread({
    dataDir, version: () => store.versions().current, clock, onBroken: (reason) => void broken.push(reason),
    log: { ...silentLog, warn: note("warn"), error: note("error") },
  });
});
afterEach(() => {
  databases.close();
  rmSync(dataDir, { recursive: true });
});

const install = (fingerprints: string) => openBundleStore(dataDir, FINGERPRINTS).install(new Map([
  ["ftp_banners.xml", Buffer.from(`<fingerprints matches="ftp.banner">${fingerprints}</fingerprints>`)],
]));

describe("databases of fingerprints in a thread of their own", () => {
  test("add to a finding, before and after they were let go and when another version holds", async () => {
    expect(await databases.consult(finding)).toBe(finding);
    install(BELL);
    expect((await databases.consult(finding)).version).toBe("Bell");
    await clock.advance(31_000);
    expect((await databases.consult(finding)).version).toBe("Bell");
    install(BELL.replace('value="Bell"', 'value="Other"'));
    expect((await databases.consult(finding)).version).toBe("Other");
    expect(said).toEqual([]);
  });

  test.each([
    ["many costly patterns", '<fingerprint pattern="^(?:a+)+$"/>'.repeat(2000), hostile],
    ["as much XML as a file may have", `<fingerprint pattern="^[a-z]{1,9}(?i:b)$">${"<param pos='0' name='a' value='b'/>".repeat(20)}</fingerprint>`
      .repeat(2400), finding],
  ])("leave the loop alone while they are read and asked: %s", async (_, fingerprints, asked) => {
    install(fingerprints);
    const stop = watchLoop();
    expect(await databases.consult(asked)).toBe(asked);
    expect(await databases.consult(asked)).toBe(asked);
    expect(stop()).toBeLessThan(HANG_MS);
  });

  test("say once that a file is too slow, and which", async () => {
    install('<fingerprint pattern="^(?:a+)+$"/>'.repeat(2000) + BELL);
    for (let time = 0; time < 3; time += 1) await databases.consult(hostile);
    expect(said).toEqual([{ level: "warn", about: { name: "ftp_banners", reason: expect.anything() as unknown } }]);
    // Who is no trouble is answered as before.
    expect((await databases.consult(finding)).version).toBe("Bell");
  });

  test("are given up when they do not answer in time, until another version holds", async () => {
    install(BELL);
    const waiting = databases.consult(finding);
    await clock.advance(20_000);
    expect(await waiting).toBe(finding);
    expect(await databases.consult(finding)).toBe(finding);
    expect(said.map(({ level }) => level)).toEqual(["error"]);
    // It had answered nothing: who keeps versions goes back to the one before.
    expect(broken).toEqual([expect.any(String)]);
    install(BELL.replace('value="Bell"', 'value="Other"'));
    expect((await databases.consult(finding)).version).toBe("Other");
  });

  test("are not taken back when they have answered before: a busy machine is not their fault", async () => {
    install(BELL);
    expect((await databases.consult(finding)).version).toBe("Bell");
    const waiting = databases.consult(finding);
    await clock.advance(20_000);
    expect(await waiting).toBe(finding);
    expect([said.map(({ level }) => level), broken]).toEqual([["error"], []]);
  });

  test("resolve what waits when they are closed", async () => {
    install(BELL);
    const waiting = databases.consult(finding);
    databases.close();
    expect(await waiting).toBe(finding);
  });
});
