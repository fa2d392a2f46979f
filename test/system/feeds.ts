import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryCommand } from "../lab/run-command.ts";
import { COLLECTOR, type Collector } from "./deployment.ts";

/** A record in the form of NVD's API: all versions of a product before one are vulnerable. */
export function nvdRecord(id: string, product: string, before: string, score: number, description = `A flaw in ${product} before ${before}.`) {
  return {
    cve: {
      id, published: "2020-01-01T00:00:00.000", lastModified: "2020-01-02T00:00:00.000", vulnStatus: "Analyzed",
      descriptions: [{ lang: "en", value: description }],
      metrics: {
        cvssMetricV31: [{
          source: "nvd@nist.gov", type: "Primary",
          cvssData: { version: "3.1", vectorString: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", baseScore: score, baseSeverity: score >= 7 ? "HIGH" : "MEDIUM" },
        }],
      },
      configurations: [{ nodes: [{ operator: "OR", negate: false, cpeMatch: [{ vulnerable: true, criteria: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`, versionEndExcluding: before }] }] }],
      references: [{ url: `https://example.org/${id}`, tags: ["Vendor Advisory"] }],
    },
  };
}

/** Records as NVD's API answers with them. */
export function nvdFile(vulnerabilities: readonly ReturnType<typeof nvdRecord>[]) {
  return { format: "NVD_CVE", version: "2.0", resultsPerPage: vulnerabilities.length, startIndex: 0, totalResults: vulnerabilities.length, vulnerabilities };
}

/** Imports files of feeds by the collector's own command; the daemon takes them up by itself, soon after. @param files Their contents by their names. @throws {Error} It failed, or had something to say. */
export async function importFeeds({ dataDir }: Pick<Collector, "dataDir">, files: Readonly<Record<string, unknown>>): Promise<void> {
  const paths = Object.entries(files).map(([name, content]) => {
    const path = join(dataDir, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  });
  const { code, stderr } = await tryCommand(process.execPath, [COLLECTOR, "feeds", "import", "--json", ...paths], { env: { LANTHORN_DATA_DIR: dataDir } });
  if (code !== 0 || stderr !== "") throw new Error(`the import of feeds ended with ${code}: ${stderr}`);
}
