import type { RestClient } from "@lanthorn/client";
import type { Scan, ScanProfileName } from "@lanthorn/contract";
import { type Clock, pause } from "@lanthorn/runtime";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { findSiteId } from "../site-id.ts";
import { describeRemarks, hostsTable, type ScanView } from "./scan-view.ts";

/** `site` is a name or an id, and may be left out where the tenant has one site. */
export interface ScanOptions {
  readonly profile: string;
  readonly site?: string;
  readonly watch: boolean;
}

/**
 * Most scans are over within seconds. With the results these are fifty requests in the first minute and forty in others, of the sixty that
 * the least allowed may make.
 */
const FIRST_LOOKS = { count: 8, everyMs: 1000 } as const;
const LOOK_EVERY_MS = 3000;
/** What is learned of hosts is not the scan's. */
const WHAT_THEY_ARE = "To identify them: lanthorn devices list. One of them with its evidence: lanthorn devices show ADDRESS.";
/** More hosts than a screen has lines. */
const HOSTS_DRAWN = 200;

/**
 * Starts a scan; with `watch`, stays until it has ended and shows who answered.
 * @throws CliError `ended` when the scan that is watched has not completed.
 */
export async function startScan({ rest }: Connection, target: string, { profile, site, watch }: ScanOptions, deps: {
  readonly clock: Pick<Clock, "after">;
  /** Where it is said how far the scan is, line by line. */
  readonly note: (line: string) => void;
  /** Where it is drawn instead; null without a terminal. */
  readonly view: ScanView | null;
  /** Settles when the scan that is watched is to be ended. */
  readonly stopped: () => Promise<unknown>;
}): Promise<Answer> {
  // The collector says which profiles it knows: an older command starts a newer collector's scans, too.
  const scan = await rest.startScan({ target, profile: profile as ScanProfileName, ...(site === undefined ? {} : { site_id: await findSiteId(rest, site) }) });
  if (!watch) return { json: scan, text: `the scan ${scan.id} of ${scan.target} is ${scan.status}` };
  const ended = await watchScan(rest, scan, deps);
  if (ended.status !== "completed") throw new CliError("ended", `the scan of ${ended.target} ${describe(ended)}`);
  const hosts = await collect((query) => rest.listScanResults(ended.id, query));
  return {
    json: { ...ended, hosts },
    table: hostsTable(hosts),
    notes: [...describeRemarks(ended), describeEnd(ended), ...(hosts.length === 0 ? [] : [WHAT_THEY_ARE])],
  };
}

async function watchScan(rest: RestClient, started: Scan, { clock, note, view, stopped }: Parameters<typeof startScan>[3]): Promise<Scan> {
  let scan = started;
  let said = "";
  const cancelled = stopped().then(() => rest.cancelScan(started.id));
  for (let look = 0; scan.status === "queued" || scan.status === "running"; look += 1) {
    const line = describe(scan);
    if (view) view.draw(scan, (await rest.listScanResults(scan.id, { per_page: HOSTS_DRAWN })).data);
    else if (line !== said) note(`the scan of ${scan.target} ${line}`);
    said = line;
    const pauseMs = look < FIRST_LOOKS.count ? FIRST_LOOKS.everyMs : LOOK_EVERY_MS;
    scan = await Promise.race([pause(clock, pauseMs), cancelled]) ?? await rest.readScan(started.id);
  }
  view?.clear();
  return scan;
}

function describe(scan: Scan): string {
  const words: Readonly<Record<Scan["status"], string>> = {
    queued: "waits for the probe",
    running: `is at ${Math.round(scan.progress * 100)} %, ${scan.hosts_up} of ${scan.hosts_total} addresses answered`,
    completed: "is complete",
    failed: `failed: ${scan.error ?? "reason unknown"}`,
    cancelled: "was cancelled",
  };
  return words[scan.status];
}

function describeEnd(scan: Scan): string {
  const answered = `${scan.hosts_up} of ${scan.hosts_total} addresses answered`;
  return `The scan ${describe(scan)}: ${answered}, ${scan.ports_open} open ports, ${describeDuration(scan)}.`;
}

function describeDuration({ started_at, finished_at }: Scan): string {
  return `${((Date.parse(finished_at ?? "") - Date.parse(started_at ?? "")) / 1000).toFixed(1)} s`;
}
