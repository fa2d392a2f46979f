import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { unpackDebianPackages } from "../lab/debian-packages.ts";

/** The environment in which a process believes that it is another time. @param offset As `-2d` or `+600s`. */
export type OtherTime = (offset: string) => Readonly<Record<string, string>>;

/** @returns Null where libfaketime cannot be had: that is said, for the tests that are left out. */
export async function findOtherTime(): Promise<OtherTime | null> {
  try {
    const { root } = await unpackDebianPackages(["libfaketime"]);
    const libraries = readdirSync(join(root, "usr/lib")).map((triplet) => join(root, "usr/lib", triplet, "faketime/libfaketime.so.1"));
    const library = libraries.find((path) => existsSync(path));
    if (library === undefined) throw new Error(`no libfaketime.so.1 in ${root}`);
    // Timers go on as ever: only the time of day is another.
    return (offset) => ({ LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: "1" });
  } catch (error) {
    console.warn(`SKIPPED: tests with a wrong clock need libfaketime, which cannot be fetched: ${String(error)}`);
    return null;
  }
}
