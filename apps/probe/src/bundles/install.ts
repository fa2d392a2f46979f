import { readFileSync } from "node:fs";
import { ProbeError } from "../errors.ts";
import { type BundleFiles, sha256 } from "./manifest.ts";
import { openBundleParts } from "./parts.ts";
import { checkOffer, readSignedBundle } from "./signed.ts";
import { openBundleStore } from "./store.ts";

/** A kind of bundle that this probe has a use for. */
export interface BundleKind {
  /** What the bundle is called, as in the contract's `BUNDLE_KINDS`; its folder in the data directory too. */
  readonly name: string;
  /** The most that a version may have, in bytes. */
  readonly maxBytes: number;
  /**
   * Tries files as what uses them does. It runs in a process of its own, so it may take seconds.
   * @throws ProbeError for files that cannot be used.
   */
  readonly check: (files: BundleFiles, dataDir: string) => Promise<void>;
}

/**
 * Puts the version that was fetched in the place of the one that is used, when all of it is here, signed, as its checksums say, and its
 * kind's own check has taken it. A kill at any moment leaves the old version or the new one.
 * @param deps.caCertificate Of the CA that was pinned at enrollment, in PEM.
 * @throws ProbeError `bundle-unavailable` where a part is missing, `bundle-refused`, or as the kind's check.
 * @returns The version's number.
 */
export async function installBundle({ name, maxBytes, check }: BundleKind, deps: {
  readonly dataDir: string; readonly caCertificate: string;
}): Promise<number> {
  const { dataDir } = deps;
  const store = openBundleStore(dataDir, name);
  const parts = openBundleParts(dataDir, name);
  const manifest = readSignedBundle(parts.signed(), { ...deps, name });
  await checkOffer(manifest, { store, maxBytes });
  const here = store.paths();
  const files = new Map<string, Buffer>();
  for (const part of manifest.parts) {
    const bytes = [here.get(part.sha256), await parts.find(part.sha256)].flatMap((path) => readOrNothing(path ?? null))
      .find((read) => sha256(read) === part.sha256);
    if (!bytes) throw new ProbeError("bundle-unavailable", `${part.path} of the bundle ${name} is not here: it is to be fetched again`);
    files.set(part.path, bytes);
  }
  await check(files, dataDir);
  store.install(files, manifest.version);
  parts.remove();
  return manifest.version;
}

function readOrNothing(path: string | null): readonly Buffer[] {
  if (path === null) return [];
  try {
    return [readFileSync(path)];
  } catch {
    return [];
  }
}
