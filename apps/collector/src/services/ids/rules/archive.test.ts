import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { archive, tarEntry } from "../testing/rules.ts";
import { unpackRules } from "./archive.ts";
import { FileRefused } from "../../../sources/file-refused.ts";

const LIMITS = { maxUnpackedBytes: 100_000, maxFiles: 5 };
const unpack = (bytes: Uint8Array) => unpackRules(bytes, "a/emerging.rules.gz", LIMITS).map(({ name, bytes: content }) => [name, Buffer.from(content).toString()]);
const tar = (...entries: readonly Buffer[]) => Buffer.concat([...entries, Buffer.alloc(1024)]);

describe("what was published", () => {
  test("is an archive, or one file, packed or not", () => {
    expect(unpack(archive({ "rules/a.rules": "one", "classification.config": "two" }))).toEqual([["a.rules", "one"], ["classification.config", "two"]]);
    expect(unpack(tar(tarEntry("./rules/", "", (head) => head.write("5", 156)), tarEntry("rules/b.rules", "")))).toEqual([["b.rules", ""]]);
    expect(unpack(gzipSync("text"))).toEqual([["emerging.rules", "text"]]);
    expect(unpack(Buffer.from("text"))).toEqual([["emerging.rules", "text"]]);
    expect(unpack(tar(tarEntry("pax", "19 mtime=1700000000\n", (head) => head.write("x", 156)), tarEntry("a.rules", "a")))).toEqual([["a.rules", "a"]]);
  });

  const typed = (type: string) => tarEntry("a.rules", "", (head) => head.write(type, 156));
  test.each<[string, Uint8Array]>([
    ["leads out of its folder", archive({ "../../etc/cron.d/a": "x" })], ["has an absolute path", archive({ "/etc/passwd": "x" })], ["has a path of another system", archive({ "..\\a": "x" })],
    ["has a symbolic link", tar(typed("2"))], ["has a hard link", tar(typed("1"))], ["has a device", tar(typed("3"))], ["has a FIFO", tar(typed("6"))],
    ["renames by an extended head", tar(tarEntry("pax", "20 path=../../etc/a\n", (head) => head.write("x", 156)), tarEntry("a", ""))],
    ["unpacks to too much", gzipSync(Buffer.alloc(LIMITS.maxUnpackedBytes + 1))], ["is packed and cut off", archive({ a: "b" }).subarray(0, 40)],
    ["has too many files", archive(Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`${n}.rules`, ""])))],
    ["has too many folders", tar(...Array.from({ length: 11 }, () => typed("5")))], ["ends in the middle of a file", tarEntry("a.rules", "a".repeat(600)).subarray(0, 700)],
    ["has a wrong sum", Buffer.concat([tarEntry("a.rules", "a").fill(7, 0, 1), Buffer.alloc(1024)])],
    ["has a size that is none", tar(tarEntry("a.rules", "", (head) => head.write("zzzzzzzzzzz\0", 124)))],
  ])("is refused where it %s", (_, bytes) => expect(() => unpack(bytes)).toThrow(FileRefused));

  test("of any bytes is taken or refused", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 700 }), fc.nat(600), (any, at) => {
      const damaged = tar(tarEntry("rules/a.rules", "alert"));
      damaged.set(any.subarray(0, Math.max(0, damaged.length - at)), at);
      try {
        unpack(damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(FileRefused);
      }
    }));
  });
});
