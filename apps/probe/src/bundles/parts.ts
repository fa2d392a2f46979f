import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { BundleManifest, SignedBundle } from "@lanthorn/contract/uplink";
import { parseJson, readTextFile } from "@lanthorn/runtime";
import { writeFileAtomically } from "../atomic-file.ts";
import { digestOf } from "./digest.ts";

/** What has come of a version in `<data_dir>/<name>/parts`, until all has: kept over restarts. */
export interface BundleParts {
  /** Begins a version, or goes on with it: parts of others go. */
  begin(signed: SignedBundle, manifest: BundleManifest): void;
  /** The signed manifest, as it was saved; undefined where no version was begun. */
  signed(): unknown;
  /** Where a whole part is; null where it is not here or damaged. */
  find(digest: string): Promise<string | null>;
  /** How many bytes of an unfinished part are here. */
  size(digest: string): number;
  /** Without waiting for the disk: what a power cut spoils, the checksum shows. */
  append(digest: string, piece: Uint8Array): void;
  /** Ends a part. @returns False where it is not what its SHA-256 says; it is removed then. */
  finish(digest: string): Promise<boolean>;
  remove(): void;
}

const SIGNED = "signed.json";
const UNFINISHED = ".part";

/** @param name The bundle's. */
export function openBundleParts(dataDir: string, name: string): BundleParts {
  const home = join(dataDir, name, "parts");
  const whole = (digest: string) => join(home, digest);
  const unfinished = (digest: string) => `${whole(digest)}${UNFINISHED}`;
  return {
    begin(signed, { parts }) {
      mkdirSync(home, { recursive: true, mode: 0o755 });
      const wanted = new Set([SIGNED, ...parts.flatMap(({ sha256 }) => [sha256, `${sha256}${UNFINISHED}`])]);
      for (const entry of readdirSync(home)) if (!wanted.has(entry)) rmSync(join(home, entry), { recursive: true });
      writeFileAtomically(join(home, SIGNED), JSON.stringify(signed), { mode: 0o644, durable: true });
    },
    signed: () => parseJson(readTextFile(join(home, SIGNED)) ?? ""),
    find: async (digest) => (existsSync(whole(digest)) && await digestOf(whole(digest)) === digest ? whole(digest) : null),
    size: (digest) => statSync(unfinished(digest), { throwIfNoEntry: false })?.size ?? 0,
    append: (digest, piece) => appendFileSync(unfinished(digest), piece, { mode: 0o644 }),
    async finish(digest) {
      const isRight = await digestOf(unfinished(digest)) === digest;
      if (isRight) renameSync(unfinished(digest), whole(digest));
      else rmSync(unfinished(digest), { force: true });
      return isRight;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}
