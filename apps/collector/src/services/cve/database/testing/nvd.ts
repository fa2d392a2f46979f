import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CveImport } from "../import-types.ts";

/** The moment at which tests import. */
export const NOW = Date.UTC(2026, 0, 10);

/** What of a record a test cares about. */
export interface Sample {
  readonly id: string;
  readonly description?: string;
  readonly modified?: string;
  readonly isRejected?: boolean;
  readonly score?: number;
  readonly cpes?: readonly string[];
  readonly weakness?: string;
}

/** A record in NVD's form. */
export function nvdRecord({ id, description = `A fault of ${id}.`, modified = "2026-01-01T00:00:00.000", isRejected = false, score = 5, cpes = [], weakness = "CWE-79" }: Sample): object {
  return {
    cve: {
      id, sourceIdentifier: "cve@example.org", published: "2025-12-01T10:00:00.000", lastModified: modified,
      vulnStatus: isRejected ? "Rejected" : "Analyzed",
      descriptions: [{ lang: "es", value: "Una falla." }, { lang: "en", value: description }],
      metrics: {
        cvssMetricV31: [{
          source: "nvd@nist.gov", type: "Primary",
          cvssData: { version: "3.1", vectorString: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L", baseScore: score, baseSeverity: score >= 9 ? "CRITICAL" : "MEDIUM" },
        }],
      },
      weaknesses: [{ source: "nvd@nist.gov", type: "Primary", description: [{ lang: "en", value: weakness }] }],
      ...(cpes.length > 0 && {
        configurations: [{ nodes: [{ operator: "OR", negate: false, cpeMatch: cpes.map((criteria) => ({ vulnerable: true, criteria })) }] }],
      }),
      references: [{ url: `https://example.org/${id}`, source: "cve@example.org", tags: ["Vendor Advisory"] }],
    },
  };
}

/** Records one a line. */
export const jsonLines = (samples: readonly Sample[]): string => samples.map((sample) => `${JSON.stringify(nvdRecord(sample))}\n`).join("");

/** A page of NVD's API. */
export const apiPage = (samples: readonly Sample[], claimed = samples.length): string => JSON.stringify({
  resultsPerPage: claimed, startIndex: 0, totalResults: claimed, format: "NVD_CVE", version: "2.0", timestamp: "2026-01-10T00:00:00.000",
  vulnerabilities: samples.map(nvdRecord),
});

/** CISA's catalog, in which CVEs are known to be exploited. */
export const kevCatalog = (ids: readonly string[]): string => JSON.stringify({
  title: "CISA Catalog", catalogVersion: "2026.01.01", count: ids.length,
  vulnerabilities: ids.map((cveID) => ({
    cveID, vendorProject: "Example", product: "Thing", vulnerabilityName: "A fault", dateAdded: "2026-01-01", shortDescription: "It is used.", requiredAction: "Update.",
    dueDate: "2026-01-22", knownRansomwareCampaignUse: "Known", notes: "", cwes: [],
  })),
});

/** Many records, each of a product of its own among a hundred. */
export const manySamples = (count: number, changes: Partial<Sample> = {}): readonly Sample[] => Array.from({ length: count }, (_, index) => ({
  id: `CVE-2025-${10_000 + index}`, score: 4 + index % 6, cpes: [`cpe:2.3:a:example:product${index % 100}:${index}:*:*:*:*:*:*:*`],
  description: `A buffer overflow number ${index} in product${index % 100} lets anybody read memory.`, ...changes,
}));

/** A folder of feed files and of the database. */
export interface CveFolder {
  readonly path: string;
  /** Where the database is. */
  readonly directory: string;
  /** Writes a file. @returns Its path. */
  write(name: string, content: string | Uint8Array): string;
  /** An import of one feed of such files. */
  wish(...files: readonly string[]): CveImport;
  remove(): void;
}

/** @returns A fresh folder, in which nothing was imported. */
export function createCveFolder(): CveFolder {
  const path = mkdtempSync(join(tmpdir(), "cve-"));
  const directory = join(path, "cve");
  return {
    path, directory,
    write(name, content) {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    wish: (...files) => ({
      directory, now: NOW, acceptsDrop: false,
      feeds: files.map((file) => ({ name: file, format: null, isWhole: true, files: [{ name: file.slice(path.length + 1), path: file }] })),
    }),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
