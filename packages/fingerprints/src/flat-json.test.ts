import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readFlatJson } from "./flat-json.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-flat-json-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  const path = join(folder, "file.json");
  writeFileSync(path, text);
  const entries: [unknown, unknown][] = [];
  const parse = (bytes: Buffer, start: number, end: number): unknown => JSON.parse(`"${bytes.toString("utf8", start, end)}"`);
  const whole = readFlatJson(path, ({ bytes, ...at }) => {
    entries.push([parse(bytes, at.keyStart, at.keyEnd), parse(bytes, at.valueStart, at.valueEnd)]);
  });
  return { whole, object: Object.fromEntries(entries) as unknown };
}

describe("reading a flat JSON object in pieces", () => {
  test("gives what JSON.parse gives, whatever is escaped and however long it is", () => {
    const escapes = { quote: 'a"b', backslash: "a\\", both: '\\"', line: "a\nb", unicode: "Ü\u{1f642}\u2028" };
    const object = { plain: "a", ...escapes, empty: "", long: "x".repeat(200_000), last: "z" };
    expect(read(JSON.stringify(object, null, 1))).toEqual({ whole: true, object });
    expect(read(JSON.stringify(object))).toEqual({ whole: true, object });
  });

  test("gives every entry when texts lie across the pieces in which the file is read", () => {
    const object = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, '\\"é'.repeat(index % 17)]));
    expect(read(JSON.stringify(object))).toEqual({ whole: true, object });
  });

  test("tells that a file ends in the middle", () => {
    const text = JSON.stringify({ a: "b", c: "d" });
    expect(read(text.slice(0, text.indexOf("d"))).whole).toBe(false);
    expect(read(text.slice(0, text.indexOf(":", 6))).whole).toBe(false);
    expect(read('{"a": "b').whole).toBe(false);
  });

  test("fails with the file system's error when there is no file", () => {
    expect(() => readFlatJson(join(folder, "none"), () => {})).toThrow(expect.objectContaining({ code: "ENOENT" }));
  });
});
