import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatAnswer } from "./answer.ts";
import { formatFrame } from "./commands/watch.ts";
import { createSessionStore } from "./session.ts";

test("a table's columns are as wide as their widest cell", () => {
  const answer = { json: [], table: { heading: ["NAME", "ID"], rows: [["a", "1"], ["longer name", "2"]] } };
  expect(formatAnswer(answer, false)).toBe("NAME         ID\na            1\nlonger name  2");
});

test("a table that is wider than the screen goes on below, broken behind blanks and commas, with nothing cut off", () => {
  const rows = [["10.0.0.10", "Hewlett Packard Enterprise", "22,80,443,3306,5432"], ["10.0.0.9", "HP", "22"]];
  const table = { heading: ["IP", "VENDOR", "OPEN PORTS"], rows };
  expect(formatAnswer({ json: [], table }, false, 38).split("\n")).toEqual([
    "IP         VENDOR        OPEN PORTS", "10.0.0.10  Hewlett       22,80,443,", "           Packard       3306,5432",
    "           Enterprise", "10.0.0.9   HP            22",
  ]);
  // A column that may be left out is, where it has no room even so.
  expect(formatAnswer({ json: [], table: { ...table, keptColumns: 2 } }, false, 20).split("\n")[0]).toBe("IP         VENDOR");
  // What cannot be broken stays whole.
  expect(formatAnswer({ json: [], table }, false, 10)).toContain("10.0.0.10  Hewlett");
});

test("a name with an escape sequence in it does not reach the terminal", () => {
  const answer = { json: [], table: { heading: ["NAME"], rows: [["\u001B[2Jevil\r"]] } };
  expect(formatAnswer(answer, false)).toBe("NAME\n?[2Jevil?");
  expect(formatAnswer({ ...answer, notes: ["Protocols: \u001B]0;evil\u0007 3", "two\nlines"] }, false)).toBe("NAME\n?[2Jevil?\n\nProtocols: ?]0;evil? 3\n\ntwo\nlines");
});

test("an empty list says so to people and is a list to programs", () => {
  const answer = { json: [], table: { heading: ["NAME"], rows: [] } };
  expect([formatAnswer(answer, false), formatAnswer(answer, true)]).toEqual(["none", "[]"]);
});

test("a frame becomes one line of what says most, without what is empty", () => {
  const frame = {
    event: "host_found" as const, timestamp: "2026-11-20T08:15:30.250Z", id: "01939f6e-2a10-7c3e-8f00-000000000001", seq: 4,
    data: { ip: "10.0.0.7", mac: "00:1b:63:a4:02:11", hostname: "", vendor: "Apple, Inc.\n", addresses: [] },
  };
  expect(formatFrame(frame).slice(10)).toBe("host_found           10.0.0.7  00:1b:63:a4:02:11  Apple, Inc.?");
});

test("a login is kept for its owner only, and what is no login is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "session-"));
  const path = join(folder, "deep", "session.json");
  const store = createSessionStore(path);
  expect(() => store.read()).toThrow(expect.objectContaining({ code: "not-logged-in" }));
  const session = { url: "http://127.0.0.1:8080", username: "admin", access_token: "t", expires_at: 5, ca: null };
  store.write(session);
  expect([store.read(), statSync(path).mode & 0o777]).toEqual([session, 0o600]);
  writeFileSync(path, '{"url":');
  expect(() => store.read()).toThrow(expect.objectContaining({ code: "not-logged-in" }));
  rmSync(folder, { recursive: true });
});
