import * as z from "zod";
import { Id, Instant } from "../../values.ts";
import { IdsSuppression, MAX_IDS_SUPPRESSIONS } from "./suppressions.ts";

/**
 * The bundle `ids`: what the probes of one site look for. Each site has its own. Its parts:
 *
 * - `ids.json`: `IdsBundleIndex`
 * - `suppressions.json`: a list of `IdsSuppression`
 * - `classification.config`, `reference.config`, `threshold.config`: as Suricata reads them; each may be missing
 * - `rules/<name>.rules`: the rules that are enabled, with what was modified in them, in order of these names
 */

/** Parts that are no rules. */
export const IDS_BUNDLE_FILES = {
  index: "ids.json", suppressions: "suppressions.json", classification: "classification.config", references: "reference.config", thresholds: "threshold.config",
} as const;
/** Where the parts with rules are. */
export const IDS_BUNDLE_RULES = "rules/";

const Variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/), z.string().max(4096)).refine((named) => Object.keys(named).length <= 128, "at most 128");

/** What a bundle of rules says of itself. */
export const IdsBundleIndex = z.object({
  v: z.literal(1),
  site_id: Id,
  built_at: Instant,
  /** How many rules its parts have. */
  rules: z.int().min(0).max(1_000_000),
  /** Variables of rules that differ from the engine's own, without the dollar sign. */
  addresses: Variables,
  ports: Variables,
});
export type IdsBundleIndex = z.infer<typeof IdsBundleIndex>;

/** A bundle of rules as it was read. Bytes are the caller's, not copies. */
export interface IdsBundle {
  readonly index: IdsBundleIndex;
  readonly suppressions: readonly IdsSuppression[];
  /** In the order in which they are read. */
  readonly rules: readonly Uint8Array[];
  /** Null where it has none. */
  readonly classification: Uint8Array | null;
  readonly references: Uint8Array | null;
  readonly thresholds: Uint8Array | null;
}

/**
 * Reads the parts of a bundle whose manifest and digests have been verified.
 * @param files By path.
 * @returns What it has, or in words what is wrong with it. It never throws.
 */
export function readIdsBundle(files: ReadonlyMap<string, Uint8Array>): { readonly ok: true; readonly bundle: IdsBundle } | { readonly ok: false; readonly message: string } {
  const index = IdsBundleIndex.safeParse(jsonOf(files.get(IDS_BUNDLE_FILES.index)));
  if (!index.success) return { ok: false, message: `${IDS_BUNDLE_FILES.index} is missing or not of this version` };
  const suppressions = readIdsSuppressions(files.get(IDS_BUNDLE_FILES.suppressions));
  if (!suppressions) return { ok: false, message: `${IDS_BUNDLE_FILES.suppressions} is missing or cannot be read` };
  const rules = [...files].filter(([path]) => path.startsWith(IDS_BUNDLE_RULES)).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => bytes);
  const partOf = (path: string) => files.get(path) ?? null;
  return {
    ok: true,
    bundle: {
      index: index.data, suppressions, rules, classification: partOf(IDS_BUNDLE_FILES.classification), references: partOf(IDS_BUNDLE_FILES.references),
      thresholds: partOf(IDS_BUNDLE_FILES.thresholds),
    },
  };
}

/** Reads the part with suppressions alone. @returns Null for what is none. */
export function readIdsSuppressions(bytes: Uint8Array | undefined): readonly IdsSuppression[] | null {
  const read = z.array(IdsSuppression).max(MAX_IDS_SUPPRESSIONS).safeParse(jsonOf(bytes));
  return read.success ? read.data : null;
}

function jsonOf(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
