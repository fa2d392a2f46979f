import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Requirements } from "./cases.ts";

/** The release that is compared with: its alerts are what ours must be. */
export const REFERENCE_VERSION = "7.0.10";

/** What a default build of the reference has, by the names that cases use. */
const FEATURES: ReadonlySet<string> = new Set(["HAVE_LIBJANSSON", "HAVE_NSS", "HAVE_JA3", "HAVE_JA4", "JA3", "JA4", "RUST", "TLS", "PCRE_JIT", "HTTP2_DECOMPRESSION"]);

/** Why what is required cannot be had, or `null` where it can. @param folder That the names of files are relative to. */
export function unmetRequirement(required: Requirements, folder: string): string | null {
  const order = (version: string) => compareVersions(REFERENCE_VERSION, version);
  const { "min-version": least, "lt-version": below, "gt-version": above, version } = required;
  if (least !== undefined && order(least) < 0) return `version ${least} or later`;
  if (below !== undefined && order(below) >= 0) return `a version before ${below}`;
  if (above !== undefined && order(above) <= 0) return `a version behind ${above}`;
  if (version !== undefined && !REFERENCE_VERSION.startsWith(version)) return `version ${version}`;
  const feature = required.features?.find((name) => !FEATURES.has(name));
  if (feature !== undefined) return `the feature ${feature}`;
  const file = required.files?.find((name) => !existsSync(resolve(folder, name)));
  if (file !== undefined) return `the file ${file}`;
  if (required.script !== undefined) return "a script";
  if (required.env !== undefined) return "an environment";
  return null;
}

/** @returns Below 0 where `a` is the older one. Parts that one lacks are 0. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let place = 0; place < Math.max(left.length, right.length); place += 1) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function partsOf(version: string): number[] {
  return version.split("-")[0]?.split(".").map((part) => Number.parseInt(part, 10) || 0) ?? [];
}
