import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Finding } from "../intrusions/finding.ts";
import { createEveIntake, type EveIntake } from "./eve-intake.ts";
import { createPositionStore } from "./position-store.ts";
import { alertLine, statsLine } from "./testing/eve-lines.ts";

let directory: string;
let db: Database.Database;
let found: number[];
let isWritable: boolean;
let intake: EveIntake | null;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-eve-"));
  db = new Database(":memory:");
  [found, isWritable, intake] = [[], true, null];
});
afterEach(async () => {
  await intake?.close();
  db.close();
  rmSync(directory, { recursive: true });
});

/** Ten times faster than the daemon. */
const clock = {
  ...systemClock, after: (ms: number, task: () => void) => systemClock.after(ms / 10, task), every: (ms: number, task: () => void) => systemClock.every(ms / 10, task),
};
function open(paths: { readonly file?: string; readonly socket?: string }): EveIntake {
  intake = createEveIntake({
    paths: { file: null, socket: null, ...paths }, positions: createPositionStore(db), clock, log: silentLog,
    report({ rule }: Finding) {
      if (isWritable) found.push(rule.id);
      return isWritable;
    },
  });
  return intake;
}
const alert = (id: number) => `${alertLine({}, { signature_id: id })}\n`;
const finds = (...ids: readonly number[]) => expect.poll(() => found).toEqual(ids);

test("alerts of a file are reported once, over a restart too, and drops are known", async () => {
  const path = join(directory, "eve.json");
  writeFileSync(path, "");
  const first = open({ file: path });
  await expect.poll(() => first.state().file?.status).toBe("reading");
  appendFileSync(path, `${alert(1)}nonsense\n${statsLine(100, 7)}\n${alert(2)}`);
  await finds(1, 2);
  expect(first.state()).toMatchObject({ alerts: 2, malformed: 1, lost: 0, drops: { packets: 100, kernelDropped: 7 } });
  await first.close();
  appendFileSync(path, alert(3));
  open({ file: path });
  await finds(1, 2, 3);
});

test("what cannot be written down is reported later, and its place in the file is not passed before", async () => {
  const path = join(directory, "eve.json");
  writeFileSync(path, "");
  const first = open({ file: path });
  await expect.poll(() => first.state().file?.status).toBe("reading");
  isWritable = false;
  appendFileSync(path, alert(1));
  await expect.poll(() => first.state().alerts).toBe(1);
  await first.close();
  expect(found).toEqual([]);
  isWritable = true;
  writeFileSync(join(directory, "mark"), "");
  const second = open({ file: path });
  appendFileSync(path, alert(2));
  await finds(1, 2);
  expect(second.state().alerts).toBe(2);
});

test("alerts over a socket are reported, and a Suricata that comes back is heard", async () => {
  const path = join(directory, "eve.sock");
  const { state } = open({ socket: path });
  await expect.poll(() => state().socket?.status).toBe("listening");
  await expect.poll(() => statSync(path).mode & 0o777).toBe(0o666);
  for (const id of [1, 2]) {
    const socket = connect(path);
    socket.write(alert(id).slice(0, 50));
    socket.end(alert(id).slice(50));
    await finds(...[1, 2].slice(0, id));
  }
  await expect.poll(() => state().socket?.connections).toBe(0);
});

test("a socket that a killed process left is taken over; what another listens at, or is no socket, is left alone", async () => {
  const path = join(directory, "eve.sock");
  const other = createServer(() => undefined);
  await new Promise<void>((resolve) => void other.listen(path, resolve));
  const { state } = open({ socket: path });
  await expect.poll(() => state().socket?.problem).toContain("another process listens");
  await new Promise<void>((resolve) => void other.close(() => resolve()));
  await expect.poll(() => state().socket?.status).toBe("listening");
  await intake?.close();
  writeFileSync(path, "mine");
  const again = open({ socket: path });
  await expect.poll(() => again.state().socket?.problem).toContain("is no socket");
});
