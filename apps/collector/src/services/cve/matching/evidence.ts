import { createHash } from "node:crypto";
import { parseJson } from "@lanthorn/runtime";
import { createHost, createSoftware, type Software } from "@lanthorn/vulnerability";
import * as z from "zod";
import type { SoftwareColumns } from "../../../software/columns.ts";
import { guessedSystemCpe } from "./system-cpe.ts";

/** What a piece of software is judged by, as it is stored. */
const StoredEvidence = z.object({
  vendor: z.string(), product: z.string(), version: z.string(), edition: z.string(), distribution: z.string(), package_version: z.string(), cpe: z.string(),
  /** CPE names of the host's systems and hardware. */
  host: z.array(z.string()),
});

/** Evidence as canonical text: equal texts are judged alike. */
export interface Evidence {
  readonly text: string;
  /** SHA-256 of it, in hexadecimal. */
  readonly fingerprint: string;
}

/** A host with more systems than that lies. */
const MAX_HOST_NAMES = 8;

/** @param host As `hostCpes` gives it. */
export function toEvidence(row: SoftwareColumns, host: readonly string[]): Evidence {
  const { vendor, product, product_version: version, edition, distribution, package_version, cpe } = row;
  const text = JSON.stringify({ vendor, product, version, edition, distribution, package_version, cpe, host: [...host] } satisfies z.infer<typeof StoredEvidence>);
  return { text, fingerprint: createHash("sha256").update(text).digest("hex") };
}

/**
 * What is known of a device's system and hardware: platform conditions ask for it, and a distribution's data are those of its release.
 * @param rows All software of the device.
 * @returns CPE names, each once and sorted.
 */
export function hostCpes(rows: readonly Pick<SoftwareColumns, "cpe">[], osGuess: string): readonly string[] {
  const named = rows.map(({ cpe }) => cpe).filter((cpe) => /^cpe:(?:2\.3:|\/)[oh]:/.test(cpe));
  const guessed = named.length > 0 ? null : guessedSystemCpe(osGuess);
  return [...new Set(guessed === null ? named : [guessed])].toSorted().slice(0, MAX_HOST_NAMES);
}

/** @param text As `toEvidence` gives it. @returns The software; null for a text that another version wrote in another way. */
export function readEvidence(text: string): Software | null {
  const read = StoredEvidence.safeParse(parseJson(text));
  if (!read.success) return null;
  const { host, ...evidence } = read.data;
  return createSoftware({ ...evidence, source: "" }, createHost(host));
}

/** @param text As `toEvidence` gives it. @returns The version of the distribution's package, else of the software; empty while unknown. */
export function versionOf(text: string): string {
  const known = StoredEvidence.safeParse(parseJson(text)).data;
  return known === undefined ? "" : known.package_version || known.version;
}
