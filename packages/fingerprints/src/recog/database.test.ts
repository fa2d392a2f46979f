import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkRecogExamples } from "./check-examples.ts";
import { createRecogDatabase } from "./database.ts";
import { readRecogFile } from "./read-database.ts";
import { readRecogFolder } from "./read-folder.ts";

const DOORBELL = `<?xml version="1.0"?>
<fingerprints matches="doorbell.banner" protocol="doorbell" preference="0.9">
  <fingerprint pattern="^Dingdong v([\\d.]+)(?: on (\\w+))?$" flags="REG_ICASE" certainty="0.5">
    <description>
      Dingdong with
      a version
    </description>
    <example service.version="1.2" service.cpe23="cpe:/a:acme:dingdong:1.2">Dingdong v1.2</example>
    <example _encoding="base64" service.version="3" os.product="Bellix">
      RElOR0RPTkcgdjMg
      b24gQmVsbGl4
    </example>
    <example _filename="old.txt" service.version="0.9"/>
    <param pos="0" name="service.vendor" value="Acme &amp; Sons"/>
    <param pos="1" name="service.version"/>
    <param pos="2" name="os.product"/>
    <param pos="0" name="service.cpe23" value="cpe:/a:acme:dingdong:{service.version}"/>
    <param pos="0" name="os.cpe23" value="cpe:/o:acme:bellix:{os.version}"/>
    <param pos="0" name="hw.product" value="Bell {hw.model}"/>
    <param pos="0" name="_tmp.note" value="x"/>
  </fingerprint>
  <fingerprint pattern="Bell(?&lt;a&gt;x)\\k&lt;a&gt;"><description>refused</description></fingerprint>
  <fingerprint pattern="^Dingdong"><description>any</description><example>Dingdong&#13;&#10;</example></fingerprint>
</fingerprints>`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-recog-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function fileOf(text: string) {
  const read = readRecogFile(text, { name: "doorbell", readExample: () => null });
  if (!read.ok) throw new Error(read.reason);
  return read.file;
}

describe("a Recog database", () => {
  test("answers with the first fingerprint that matches, its texts, groups and what they fill in", () => {
    const database = createRecogDatabase(fileOf(DOORBELL));
    expect(database.match("dingdong V2.0")).toEqual({
      description: "Dingdong with a version",
      certainty: 0.5,
      index: 0,
      parameters: {
        "service.protocol": "doorbell",
        "service.vendor": "Acme & Sons",
        "service.version": "2.0",
        "service.cpe23": "cpe:/a:acme:dingdong:2.0",
        // What is not known is a dash in a CPE; elsewhere the parameter is left out.
        "os.cpe23": "cpe:/o:acme:bellix:-",
      },
    });
    expect(database.match("Dingdong")).toMatchObject({ description: "any", certainty: 0.85, index: 2 });
    expect(database.match("ding")).toBe(null);
  });

  test("says which of its fingerprints cannot be used, and why", () => {
    const database = createRecogDatabase(fileOf(DOORBELL));
    expect(database.size).toBe(2);
    expect(database.refused).toEqual([{ index: 1, pattern: "Bell(?<a>x)\\k<a>", reason: "\\k is not supported at 12" }]);
  });

  test("is checked by its own examples: plain, base64, and in files", () => {
    writeFileSync(join(folder, "doorbell.xml"), DOORBELL);
    mkdirSync(join(folder, "doorbell"));
    writeFileSync(join(folder, "doorbell/old.txt"), "Dingdong v0.8");
    const [file] = readRecogFolder(folder);
    const report = file && checkRecogExamples(file);
    expect(report).toMatchObject({ fingerprints: 2, examples: 4, right: 3, missing: 0 });
    expect(report?.wrong).toEqual([
      {
        matches: "doorbell.banner", description: expect.anything() as unknown, text: "Dingdong v0.8",
        reason: 'service.version is "0.8", not "0.9"',
      },
    ]);
  });

  test("reads no example from outside its folder", () => {
    writeFileSync(join(folder, "secret.txt"), "Dingdong v0.9");
    writeFileSync(join(folder, "doorbell.xml"), DOORBELL.replace("old.txt", "../secret.txt"));
    const [file] = readRecogFolder(folder);
    expect(file && checkRecogExamples(file)).toMatchObject({ examples: 3, missing: 1 });
  });

  test("is refused when it is no XML, no database, too large or has entities of its own", () => {
    const refused = (text: string) => readRecogFile(text, { name: "x", readExample: () => null });
    expect(refused("<a/>")).toEqual({ ok: false, reason: "it has no <fingerprints>" });
    expect(refused("")).toMatchObject({ ok: false });
    expect(refused('<!DOCTYPE x [<!ENTITY a "b">]><fingerprints/>')).toEqual({ ok: false, reason: "it declares a document type" });
    expect(refused(" ".repeat(3 * 1024 * 1024))).toEqual({ ok: false, reason: "it is larger than 2 MiB" });
    expect(refused(`<fingerprints>${'<fingerprint pattern="a"/>'.repeat(2501)}</fingerprints>`))
      .toEqual({ ok: false, reason: "it has more than 2500 fingerprints" });
    expect(refused(`<fingerprints><fingerprint pattern="${"a".repeat(2049)}"/></fingerprints>`))
      .toEqual({ ok: false, reason: "fingerprint 1: its pattern is longer than 2048 characters" });
    expect(refused('<fingerprints><fingerprint pattern="a" flags="REG_ODD"/></fingerprints>'))
      .toEqual({ ok: false, reason: "fingerprint 1: its flag REG_ODD is unknown" });
    expect(refused("<fingerprints><fingerprint/></fingerprints>")).toEqual({ ok: false, reason: "fingerprint 1: it has no pattern" });
    expect(refused('<fingerprints><fingerprint pattern="a"><param name="b" pos="x"/></fingerprint></fingerprints>').ok).toBe(false);
  });

  const COSTLY: readonly (readonly [string, string])[] = [
    ["needs our own matcher", "^(?:[a,]+)+$"], ["needs some steps of V8's", "(?:a|[b-d]|[e-h])[b-h]"],
    ["is filed under what is in the text", "aaab|aaab|aaab|aaab|aaab"], ["has many ways", `${"a?".repeat(60)}${"a".repeat(60)}[b-c]`],
  ];
  test.each(COSTLY)("is asked a text within a budget for all of its patterns together, and says that it is cut short: each %s", (_, pattern) => {
    const fingerprints = Array.from({ length: 2000 }, () => `<fingerprint pattern="${pattern}"/>`);
    const database = createRecogDatabase(fileOf(`<fingerprints>${fingerprints.join("")}</fingerprints>`));
    let cut = 0;
    const before = process.cpuUsage();
    expect(database.match(`${"a,".repeat(1000)}${"a".repeat(2000)}-`, () => (cut += 1))).toBe(null);
    // A budget for each of them took seconds.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(500);
    expect(cut).toBe(1);
  });

  test("refuses what is beyond the memory that all patterns of a file may take", () => {
    const fingerprints = Array.from({ length: 100 }, () => '<fingerprint pattern="(?:a|bb){4000}"/>');
    const database = createRecogDatabase(fileOf(`<fingerprints>${fingerprints.join("")}<fingerprint pattern="b"/></fingerprints>`));
    expect(database.refused.length).toBeGreaterThan(50);
    expect(database.refused.at(-1)).toMatchObject({ reason: "the patterns of its file are too large together" });
  });

  test("names the file that cannot be read", () => {
    expect(() => readRecogFolder(join(folder, "none"))).toThrow(expect.objectContaining({ code: "data-unreadable" }));
    expect(() => readRecogFolder(folder)).toThrow(expect.objectContaining({ code: "data-invalid" }));
    writeFileSync(join(folder, "a.xml"), "<a>");
    expect(() => readRecogFolder(folder)).toThrow(expect.objectContaining({ code: "data-invalid" }));
  });
});
