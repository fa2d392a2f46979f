import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";

/** An NVD of so many CVEs on loopback, of which some were modified at a time of their own. */
export interface NvdSource {
  total: number;
  /** How many of a hundred have configurations. */
  configuredPercent: number;
  /** Milliseconds since the epoch, for each CVE that was modified since. */
  readonly modified: number[];
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

export function createNvdSource(total: number): NvdSource {
  const source: NvdSource = {
    total, configuredPercent: 60, modified: [],
    handle(request, response) {
      const query = new URL(request.url ?? "", "http://nvd").searchParams;
      const [from, until] = [query.get("lastModStartDate"), query.get("lastModEndDate")];
      const all = from === null || until === null ? source.total
        : source.modified.filter((at) => at >= Date.parse(from) && at <= Date.parse(until)).length;
      const start = Number(query.get("startIndex"));
      const count = Math.max(0, Math.min(Number(query.get("resultsPerPage")), all - start));
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(nvdPage(start, count, all, source.configuredPercent)));
    },
  };
  return source;
}

/** A page as NVD writes it. */
export function nvdPage(start: number, count: number, total: number, configuredPercent: number): string {
  const vulnerabilities = Array.from({ length: count }, (_, index) => ({
    cve: {
      id: `CVE-2026-${10_000 + start + index}`, sourceIdentifier: "cve@example.org",
      ...((start + index) % 100 < configuredPercent && { configurations: [] }),
    },
  }));
  return JSON.stringify({ resultsPerPage: count, startIndex: start, totalResults: total, format: "NVD_CVE", version: "2.0", vulnerabilities });
}
