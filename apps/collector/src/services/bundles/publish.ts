import { createHash, createPrivateKey, sign } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUNDLE_KINDS, BUNDLE_PART_MAX_BYTES, BUNDLE_PATH, BUNDLE_SIGNATURE_CONTEXT, type BundleLimits, type BundleManifest } from "@lanthorn/contract";
import type { Authority } from "../../certificates/authority.ts";
import { CollectorError } from "../../errors.ts";
import type { Publication } from "./store.ts";

/**
 * Signs a version of a bundle. The key is made for this version and forgotten; the CA, which every probe has pinned since its enrollment,
 * certifies it for signing code and for nothing else. So no further key has to be kept, handed to probes or changed.
 */
export async function createPublication(
  authority: Pick<Authority, "issueToSigner">, bundle: { readonly name: string; readonly version: number; readonly files: ReadonlyMap<string, Buffer> },
): Promise<Publication> {
  const { name, version, files } = bundle;
  const listed = [...files].map(([path, bytes]) => ({ path, sha256: createHash("sha256").update(bytes).digest("hex"), size: bytes.length }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const manifest: BundleManifest = { name, version, parts: listed };
  const text = JSON.stringify(manifest);
  const { key, certificate } = await authority.issueToSigner();
  const signature = sign(null, Buffer.from(`${BUNDLE_SIGNATURE_CONTEXT}${text}`), createPrivateKey(key)).toString("base64");
  return {
    manifest, signed: { manifest: text, signature, certificate },
    parts: new Map(listed.map(({ path, sha256 }) => [sha256, files.get(path) as Buffer])),
  };
}

/**
 * How much a bundle of this kind may have.
 * @throws CollectorError `bundle-refused` for a kind that is not in the contract's table, or that every site has of its own.
 */
export function limitsOf(kind: string): BundleLimits {
  const limits = Object.entries(BUNDLE_KINDS).find(([name]) => name === kind)?.[1];
  if (!limits) throw new CollectorError("bundle-refused", `${kind} is not a kind of bundle; known kinds: ${Object.keys(BUNDLE_KINDS).join(", ")}`);
  if (limits.isOfSite) throw new CollectorError("bundle-refused", `${kind} is made by the collector for each site: it is not published by hand`);
  return limits;
}

/**
 * Reads a folder as it is to be at the probes, at most one folder deep; hidden files stay here.
 * @throws CollectorError `bundle-refused` for one that is empty, too large, or has a name that a probe would refuse.
 */
export function readBundleFolder(folder: string, { maxBytes, maxParts }: BundleLimits): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  let bytes = 0;
  const add = (path: string): void => {
    if (!BUNDLE_PATH.test(path)) throw new CollectorError("bundle-refused", `${path} in ${folder} has a name that probes do not accept`);
    const { size } = statSync(join(folder, path));
    bytes += size;
    if (size > BUNDLE_PART_MAX_BYTES) throw new CollectorError("bundle-refused", `${path} in ${folder} has more than ${BUNDLE_PART_MAX_BYTES} bytes`);
    if (bytes > maxBytes || files.size >= maxParts) {
      throw new CollectorError("bundle-refused", `${folder} has more than ${maxParts} files or ${maxBytes} bytes`);
    }
    files.set(path, readFileSync(join(folder, path)));
  };
  try {
    for (const entry of entriesOf(folder)) {
      if (entry.isFile()) add(entry.name);
      else if (entry.isDirectory()) {
        for (const inner of entriesOf(join(folder, entry.name))) if (inner.isFile()) add(`${entry.name}/${inner.name}`);
      }
    }
  } catch (cause) {
    if (cause instanceof CollectorError) throw cause;
    throw new CollectorError("bundle-refused", `cannot read ${folder}`, { cause });
  }
  if (files.size === 0) throw new CollectorError("bundle-refused", `there is no file in ${folder}`);
  return files;
}

function entriesOf(folder: string) {
  return readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith(".") && name !== "SHA256SUMS");
}
