import { MAX_HOST_SOFTWARE, type ProbeEvent } from "@lanthorn/contract/uplink";
import type { HostSoftware } from "@lanthorn/fingerprints";

/** Which software of hosts was reported, over all scans: what says the same again is not sent again. */
export interface ReportedSoftware {
  /** Whether a source says something of a host that it did not say when this was last called. */
  isNews(host: string, software: HostSoftware): boolean;
}

/** Of hosts and sources; what was learned longest ago makes room, and is reported once more when it is seen again. Some megabytes. */
const MAX_REMEMBERED = 10_000;

/** Remembers nothing yet: after a start, what is found is reported once. */
export function createReportedSoftware(): ReportedSoftware {
  const known = new Map<string, string>();
  return {
    isNews(host, { source, ...software }) {
      const [key, text] = [`${host} ${source}`, JSON.stringify(software)];
      const isNews = known.get(key) !== text;
      known.delete(key);
      known.set(key, text);
      const [oldest] = known.keys();
      if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
      return isNews;
    },
  };
}

/** What one scan finds out of hosts' own software. */
export interface SoftwareRecord {
  note(ip: string, software: readonly HostSoftware[]): void;
  /** @returns What is news of what was found since the last time. */
  take(occurredAt: string): readonly ProbeEvent[];
}

/** @param deps.macAt Empty where none was seen. */
export function createSoftwareRecord(deps: { readonly macAt: (ip: string) => string; readonly reported: ReportedSoftware }): SoftwareRecord {
  const found = new Map<string, Map<string, HostSoftware>>();
  return {
    note(ip, software) {
      if (software.length === 0) return;
      const sources = found.get(ip) ?? new Map<string, HostSoftware>();
      found.set(ip, sources);
      for (const one of software) sources.set(one.source, one);
    },
    take(occurredAt) {
      const events = [...found].flatMap(([ip, sources]) => {
        const mac = deps.macAt(ip);
        const news = [...sources.values()].filter((one) => deps.reported.isNews(mac || ip, one));
        return Array.from({ length: Math.ceil(news.length / MAX_HOST_SOFTWARE) }, (_, index): ProbeEvent => ({
          type: "host_software", occurred_at: occurredAt,
          data: { ip, mac, software: news.slice(index * MAX_HOST_SOFTWARE, (index + 1) * MAX_HOST_SOFTWARE) },
        }));
      });
      found.clear();
      return events;
    },
  };
}
