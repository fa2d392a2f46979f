import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeIdentity } from "../identity/identity.ts";
import { describeStatus, findStatus } from "./status-command.ts";
import { readStatus, removeStatus, type StatusReport, writeStatus } from "./status-file.ts";

const clock = createFakeClock();
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-status-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function enroll(): void {
  writeIdentity(directory, {
    probe_id: createId(), tenant_id: createId(), site_id: createId(), name: "box", collector_url: "https://c", trust: "pinned",
    mqtt_url: "mqtts://c", private_key: "", certificate: "", ca_certificate: "",
  });
}

const report = (overrides: Partial<StatusReport> = {}): StatusReport => ({
  pid: process.pid, version: "1.2.3", started_at: toInstant(clock.now() - 3_600_000), written_at: toInstant(clock.now()),
  interval_seconds: 30, probe_id: "p", site_name: "Office",
  collector: {
    url: "mqtts://c", connected: false, since: null, problem: "ECONNREFUSED", last_acknowledged_at: null, clock_offset_ms: null,
  },
  certificate_expires_at: toInstant(clock.now()), interface: { name: "lan0", up: true, problem: null, addresses: ["10.0.0.5/24"] },
  queue: { events: 12, bytes: 4096, oldest_at: toInstant(clock.now()), dropped: 0, writable: true, in_memory: 0 },
  hosts: { online: 2, known: 3 }, process: { cpu_percent: 0.2, rss_bytes: 80_000_000 }, alerts: ["disk"], decoys: [], ...overrides,
});
const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;

describe("the status", () => {
  test("of a machine that was never enrolled says how to do that", () => {
    expect(() => findStatus(directory, clock)).toThrow(code("not-enrolled"));
  });

  test("is what the running daemon wrote last", () => {
    enroll();
    writeStatus(directory, report());
    expect(findStatus(directory, clock)).toEqual(report());
    expect(statSync(join(directory, "status.json")).mode & 0o777).toBe(0o644);
  });

  test.each([
    ["of a process that is gone", { pid: 2 ** 22 + 1 }],
    ["that is older than three reports", { written_at: toInstant(Date.UTC(2025, 0, 1)) }],
  ])("%s is no status", (_, overrides) => {
    enroll();
    writeStatus(directory, report(overrides));
    expect(() => findStatus(directory, clock)).toThrow(code("not-running"));
  });

  test("that is old while its process lives is no reason to start another", () => {
    enroll();
    writeStatus(directory, report({ written_at: toInstant(Date.UTC(2025, 0, 1)) }));
    expect(() => findStatus(directory, clock)).toThrow("disk may be full");
    expect(() => findStatus(directory, clock)).not.toThrow("systemctl start");
  });

  test("that is missing, taken away, or nonsense is no status", () => {
    enroll();
    expect(() => findStatus(directory, clock)).toThrow(code("not-running"));
    for (const text of ["", "{", '{"pid":1}', "null"]) {
      writeFileSync(join(directory, "status.json"), text);
      expect(readStatus(directory)).toBeNull();
    }
    removeStatus(directory);
    removeStatus(directory);
    mkdirSync(join(directory, "status.json"));
    expect(() => findStatus(directory, clock)).toThrow(code("not-running"));
  });

  test("reads as lines that tell what is wrong", () => {
    const text = describeStatus(report({
      queue: { ...report().queue, writable: false, in_memory: 7 },
      interface: { name: "lan0", up: false, problem: "no carrier", addresses: [] },
    }), clock.now());
    for (const part of [
      "site Office", "not connected to mqtts://c: ECONNREFUSED", "2 online of 3 known", "12 events", "7 events wait in memory",
      "no carrier", "started 60 min ago",
    ]) {
      expect(text).toContain(part);
    }
  });
});
