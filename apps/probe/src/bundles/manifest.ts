import { createHash } from "node:crypto";
import { BUNDLE_MAX_PARTS, BUNDLE_PATH } from "@lanthorn/contract/uplink";

/** Files of one version of a bundle by name, at most one folder deep: databases as `.xml`, and examples in `<database>/<name>`. */
export type BundleFiles = ReadonlyMap<string, Buffer>;

/** File name of the manifest, in the folder of its version. */
export const MANIFEST = "SHA256SUMS";
/** Files of one bundle, without the manifest. */
export const MAX_FILES = BUNDLE_MAX_PARTS;

/** In lower-case hexadecimal; text as UTF-8. @see FIPS 180-4 */
export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** As `sha256sum` writes it, sorted by name: the same files always give the same text. */
export function writeManifest(files: BundleFiles): string {
  return [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, bytes]) => `${sha256(bytes)}  ${name}\n`).join("");
}

/**
 * Reads what `sha256sum` has written.
 * @returns Checksums by name, or what is wrong: a line that is none, a name that leads elsewhere, none or too many of them.
 */
export function parseManifest(text: string): ReadonlyMap<string, string> | string {
  const sums = new Map<string, string>();
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const [, sum = "", name = ""] = /^([0-9a-f]{64}) [ *](?:\.\/)?(.+?)\r?$/.exec(line) ?? [];
    if (!BUNDLE_PATH.test(name)) return `its line ${JSON.stringify(line.slice(0, 100))} is not a checksum and a file's name`;
    sums.set(name, sum);
  }
  if (sums.size === 0 || sums.size > MAX_FILES) return `it names ${sums.size} files, not 1 to ${MAX_FILES}`;
  return sums;
}

/** @returns What differs, or null. */
export function findDifference(files: BundleFiles, sums: ReadonlyMap<string, string>): string | null {
  for (const [name, sum] of sums) {
    const bytes = files.get(name);
    if (!bytes) return `${name} is missing`;
    if (sha256(bytes) !== sum) return `the checksum of ${name} differs`;
  }
  return null;
}
