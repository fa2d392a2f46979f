import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUNDLE_KINDS } from "@lanthorn/contract/uplink";
import { ProbeError } from "../errors.ts";
import { type BundleFiles, findDifference, MANIFEST, MAX_FILES, parseManifest, sha256 } from "../bundles/manifest.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_TOTAL_BYTES = BUNDLE_KINDS.fingerprints.maxBytes;

interface SourceOptions {
  /** Expected SHA-256 of the manifest, which vouches for all the rest. */
  readonly sha256: string | null;
  readonly fetch: typeof fetch;
}

/**
 * Reads databases from a folder or from below a URL. Below a URL there must be a `SHA256SUMS`; in a folder there may be one.
 * Without an expected checksum, a URL must be `https:`.
 * @returns What the manifest names; without one, the folder's `.xml` files.
 * @throws ProbeError `fingerprints-unavailable` or `fingerprints-refused`.
 */
export async function readSource(from: string, options: SourceOptions): Promise<BundleFiles> {
  const isUrl = /^https?:\/\//i.test(from);
  if (isUrl && !from.toLowerCase().startsWith("https:") && options.sha256 === null) {
    throw new ProbeError(
      "insecure-url", "http can be changed in transit: use https, or give the checksum of SHA256SUMS with --sha256",
    );
  }
  const budget = { left: MAX_TOTAL_BYTES };
  const read = isUrl ? readUrl(from, options, budget) : readFolder(from, budget);
  const manifest = await read(MANIFEST);
  if (manifest === null) {
    if (isUrl || options.sha256 !== null) throw new ProbeError("fingerprints-unavailable", `there is no ${MANIFEST} at ${from}`);
    return readAll(listFolder(from), read, from);
  }
  if (options.sha256 !== null && sha256(manifest) !== options.sha256.toLowerCase()) {
    throw new ProbeError("fingerprints-refused", `${MANIFEST} at ${from} has the checksum ${sha256(manifest)}, not the one given`);
  }
  const sums = parseManifest(manifest.toString("utf8"));
  if (typeof sums === "string") throw new ProbeError("fingerprints-refused", `${MANIFEST} at ${from} cannot be used: ${sums}`);
  const files = await readAll([...sums.keys()], read, from);
  const difference = findDifference(files, sums);
  if (difference !== null) throw new ProbeError("fingerprints-refused", `at ${from}, ${difference}`);
  return files;
}

type Read = (name: string) => Promise<Buffer | null>;

async function readAll(names: readonly string[], read: Read, from: string): Promise<BundleFiles> {
  const files = new Map<string, Buffer>();
  for (const name of names.toSorted()) {
    const bytes = await read(name);
    if (!bytes) throw new ProbeError("fingerprints-unavailable", `there is no ${name} at ${from}`);
    files.set(name, bytes);
  }
  return files;
}

function listFolder(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^[A-Za-z0-9][A-Za-z0-9_.-]*\.xml$/.test(entry.name));
    if (names.length > 0 && names.length <= MAX_FILES) return names.map((entry) => entry.name);
  } catch (cause) {
    throw new ProbeError("fingerprints-unavailable", `cannot read ${folder}`, { cause });
  }
  throw new ProbeError("fingerprints-unavailable", `there are no .xml files in ${folder}, or too many`);
}

function readFolder(folder: string, budget: { left: number }): Read {
  return (name) => Promise.resolve().then(() => {
    const path = join(folder, name);
    try {
      spend(budget, statSync(path).size, folder);
      return readFileSync(path);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw cause instanceof ProbeError ? cause : new ProbeError("fingerprints-unavailable", `cannot read ${path}`, { cause });
    }
  });
}

function readUrl(from: string, options: SourceOptions, budget: { left: number }): Read {
  const base = from.endsWith("/") ? from : `${from}/`;
  return async (name) => {
    const url = new URL(name, base);
    try {
      const response = await options.fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
      if (response.status === 404) return null;
      if (!response.ok) throw new ProbeError("fingerprints-unavailable", `${url.href} answers ${response.status}`);
      const parts: Uint8Array[] = [];
      for await (const part of response.body ?? []) {
        spend(budget, part.length, from);
        parts.push(part);
      }
      return Buffer.concat(parts);
    } catch (cause) {
      throw cause instanceof ProbeError ? cause : new ProbeError("fingerprints-unavailable", `cannot fetch ${url.href}`, { cause });
    }
  };
}

function spend(budget: { left: number }, bytes: number, from: string): void {
  budget.left -= bytes;
  if (budget.left < 0) {
    throw new ProbeError("fingerprints-refused", `the databases at ${from} are larger than ${MAX_TOTAL_BYTES / 1024 / 1024} MiB`);
  }
}
