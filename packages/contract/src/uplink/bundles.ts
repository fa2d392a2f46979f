import * as z from "zod";
import { Sha256 } from "./files.ts";

/**
 * Files that a collector gives its probes: databases, rules, lists. A bundle is a manifest, which is signed, and parts, which the manifest
 * names by their SHA-256, so that a probe fetches only the parts that it lacks.
 */

/** How much a bundle of one kind may have. */
export interface BundleLimits {
  /** Bytes of all parts together; at most `BUNDLE_MAX_BYTES`. */
  readonly maxBytes: number;
  /** At most `BUNDLE_MAX_PARTS`. */
  readonly maxParts: number;
  /** What it is, for operators. */
  readonly text: string;
  /** Every site has one of its own, which the collector makes; else it is the deployment's, and the operator publishes it. */
  readonly isOfSite: boolean;
}

const MIB = 1024 * 1024;

/** Bytes of all parts of any bundle, and their number. A probe holds a bundle in memory while it tries it. */
export const BUNDLE_MAX_BYTES = 64 * MIB;
/** Parts of any bundle. The manifest of so many fits `BUNDLE_MANIFEST_MAX_CHARACTERS`. */
export const BUNDLE_MAX_PARTS = 2000;
/** Largest part, in bytes. */
export const BUNDLE_PART_MAX_BYTES = 16 * MIB;
/** Largest piece of a part that a collector answers with, in bytes: what a broken connection costs at most. */
export const BUNDLE_PIECE_BYTES = 256 * 1024;
/** Of the manifest's text: each part takes some 250. */
export const BUNDLE_MANIFEST_MAX_CHARACTERS = MIB;
/** Different bundles that a collector announces. */
export const BUNDLE_MAX_KINDS = 32;

/** Kinds of bundles that a collector publishes. Each has one bundle of the same name, or one for each site. */
export const BUNDLE_KINDS = {
  // Recog's 50 files have some 7 MB with their examples.
  fingerprints: { maxBytes: 16 * MIB, maxParts: 2000, text: "databases of fingerprints in the Recog format", isOfSite: false },
  // All of Emerging Threats' open rules, those that are off too, have some 25 MB.
  ids: { maxBytes: 64 * MIB, maxParts: 2000, text: "rules of intrusion detection", isOfSite: true },
  // A million names have some 10 MB, packed.
  dns: { maxBytes: 64 * MIB, maxParts: 2000, text: "names that the site's resolver blocks, and for whom", isOfSite: true },
  // 400,000 ranges of addresses have 7 MB.
  countries: { maxBytes: 16 * MIB, maxParts: 1, text: "in which country addresses are registered, which the collector makes of a feed", isOfSite: false },
} as const satisfies Readonly<Record<string, BundleLimits>>;

/** What comes before a manifest in what is signed: nothing else that is ever signed begins so. */
export const BUNDLE_SIGNATURE_CONTEXT = "lanthorn bundle manifest 1\n";

/** What a bundle is called. A probe may hear of kinds that are newer than it is. */
export const BundleName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, "must be small letters, digits and -, a letter first, 32 at most");
const BundleVersion = z.int().min(1).max(1_000_000_000);
/** Below the bundle's folder: at most one folder deep, and it leads nowhere else on any file system. */
export const BUNDLE_PATH = /^(?:[A-Za-z0-9][A-Za-z0-9_.-]{0,120}\/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,120}$/;

/** What is signed: which files a version of a bundle has. A higher version takes the place of a lower one, never the other way round. */
export const BundleManifest = z.strictObject({
  name: BundleName,
  version: BundleVersion,
  parts: z.array(z.strictObject({ path: z.string().regex(BUNDLE_PATH), sha256: Sha256, size: z.int().min(0).max(BUNDLE_PART_MAX_BYTES) }))
    .min(1).max(BUNDLE_MAX_PARTS),
});
export type BundleManifest = z.infer<typeof BundleManifest>;

/** A manifest as it was signed, with the signature and the certificate of its key, which the collector's CA has issued for this alone. */
export const SignedBundle = z.object({
  manifest: z.string().max(BUNDLE_MANIFEST_MAX_CHARACTERS).describe("The manifest in JSON, exactly as it was signed."),
  signature: z.base64().max(128).describe("Ed25519 signature of `lanthorn bundle manifest 1`, a line feed and the manifest, in Base64."),
  certificate: z.string().max(8192).describe("Certificate of the signing key, in PEM. The collector's CA has issued it for signing code."),
});
export type SignedBundle = z.infer<typeof SignedBundle>;

/** Where in a part a piece begins. */
export const BundlePieceQuery = z.object({
  offset: z.coerce.number().int().min(0).max(BUNDLE_PART_MAX_BYTES).default(0)
    .describe("Where in the part the piece begins: how many bytes of it the probe has."),
});

/** The newest version of a bundle, as it is announced to probes. */
export const BundleAnnouncement = z.object({
  name: BundleName.describe("What the bundle is called."),
  version: BundleVersion.describe("Its newest version."),
});
export type BundleAnnouncement = z.infer<typeof BundleAnnouncement>;

/** Which version of a bundle a probe uses. */
export const BundleState = z.object({
  name: BundleName.describe("What the bundle is called."),
  version: z.int().min(1).nullable().describe("The version that the probe uses. Null where it uses none of the collector's."),
  error: z.string().max(512).nullable().describe("Why the probe does not use the newest version. Null where nothing is wrong."),
});
export type BundleState = z.infer<typeof BundleState>;
