import type { EventData, ProbeEvent } from "@lanthorn/contract/uplink";
import { deviceClaims } from "@lanthorn/fingerprints";
import { type Clock, toInstant } from "@lanthorn/runtime";
import type { SaidFact } from "../hosts/facts.ts";
import { type FactsTaker, portFacts, serviceFacts, serviceSoftware } from "../hosts/service-facts.ts";
import type { Nameable } from "../naming/reverse-names.ts";
import { createRoutedHosts } from "../routed/routed-hosts.ts";
import type { Remark, ScanReport } from "./scan-report.ts";
import type { BegunScan } from "./scans-store.ts";
import { createSoftwareRecord, type ReportedSoftware } from "./software-reports.ts";

/** What one scan has found, and the events that report it to the collector. */
export interface ScanRecord {
  /** Where the scan's work reports. */
  readonly report: ScanReport;
  /** How many addresses answered, and how many ports are open. */
  readonly counts: { readonly hosts_up: number; readonly ports_open: number };
  /** @param maxHosts The other hosts stay for the next time. @returns What was found since the last time. */
  take(maxHosts?: number): readonly ProbeEvent[];
  /** DNS calls an address so. */
  noteName(ip: string, name: string): void;
  /** Takes what all open ports of a host say together, once all of them are known. */
  notePortsTogether(): void;
}

/** What a record needs to know of hosts, and where it leaves what it learns of them. */
export interface ScanRecordDeps {
  readonly clock: Pick<Clock, "now">;
  /** Empty where none was seen. */
  readonly macAt: (address: string) => string;
  /** What services, open ports and a device's ways say of hosts. */
  readonly facts: Pick<FactsTaker, "noteAt" | "noteRole">;
  readonly reported: ReportedSoftware;
  /** Who is at these addresses is reported now, if not yet: the collector keeps no port of a device that it does not know. */
  readonly announce: (addresses: readonly string[]) => void;
  /** A scan saw a host behind a router. */
  readonly onRouted: (ip: string) => void;
  /** As of `createRoutedHosts`. */
  readonly wantName: (host: Nameable) => boolean;
  /** A part of a scan was not done. */
  readonly onFault: (code: string, message: string) => void;
}

/** The contract's limit for one event. */
const HOSTS_IN_EVENT = 256;
const UNKNOWN = { service: "", version: "", banner: "" } as const;

/** Everything that was found is kept until `take` takes it. */
export function createScanRecord({ scan_id }: Pick<BegunScan, "scan_id">, deps: ScanRecordDeps): ScanRecord {
  const routed = createRoutedHosts(deps);
  const software = createSoftwareRecord(deps);
  /** What was found at each open port. */
  const open = new Map<string, string>();
  const hosts: EventData<"scan_results">["hosts"] = [];
  let ports: ProbeEvent[] = [];
  /** Remarks whose device is not known yet. */
  let unplaced: Remark[] = [];
  let hostsUp = 0;

  const now = () => toInstant(deps.clock.now());
  const learn = (ip: string, facts: readonly SaidFact[]) => {
    deps.facts.noteAt(ip, facts);
    routed.learn(ip, facts);
  };
  const takePorts = () => {
    const found = ports.map((event): ProbeEvent => (
      event.type === "port_found" ? { ...event, data: { ...event.data, mac: deps.macAt(event.data.ip) } } : event
    ));
    ports = [];
    // What runs on a host comes of its ports, so that who it is has been announced with them.
    const withPorts = new Set(found.flatMap((event) => (event.type === "port_found" ? [event.data.ip] : [])));
    if (withPorts.size > 0) deps.announce([...withPorts]);
    return [...found, ...software.take(now())];
  };
  const report: ScanReport = {
    host({ ip, mac, isRouted }) {
      hostsUp += 1;
      hosts.push({ ip, mac });
      if (!isRouted) return;
      routed.add(ip);
      deps.onRouted(ip);
    },
    port({ ip, protocol, port }, finding) {
      open.set(`${ip} ${protocol} ${port}`, finding ? `${finding.service} ${finding.version}`.trim() : "");
      if (finding?.claims && finding.keys) {
        learn(ip, serviceFacts(port, { claims: finding.claims, keys: finding.keys }));
        software.note(ip, serviceSoftware(port, finding.claims));
      }
      const { service, version, banner } = finding ?? UNKNOWN;
      const named = finding?.software === undefined ? {} : { software: finding.software };
      ports.push({
        type: "port_found", occurred_at: now(), data: { ip, mac: "", port, protocol, state: "open", service, version, banner, scan_id, ...named },
      });
    },
    facts: (ip, verdicts) => learn(ip, deviceClaims(Object.values(verdicts))),
    fault: deps.onFault,
    counts: (ip, counts) => void hosts.push({ ip, mac: "", port_counts: counts }),
    remark(remark) {
      unplaced.push(remark);
      ports.push({ type: "scan_remark", occurred_at: now(), data: { ...remark, scan_id } });
    },
  };
  return {
    report,
    get counts() {
      return { hosts_up: hostsUp, ports_open: open.size };
    },
    take(maxHosts = Number.POSITIVE_INFINITY) {
      // A host that just spoke is in the table by now.
      const some = hosts.splice(0, maxHosts);
      for (const host of some) if (host.mac === "") host.mac = deps.macAt(host.ip);
      const found = takePorts();
      const results = Array.from({ length: Math.ceil(some.length / HOSTS_IN_EVENT) }, (_, index): ProbeEvent => ({
        type: "scan_results", occurred_at: now(), data: { scan_id, hosts: some.slice(index * HOSTS_IN_EVENT, (index + 1) * HOSTS_IN_EVENT) },
      }));
      unplaced = unplaced.filter((remark) => !deps.facts.noteRole(remark));
      // A host's counts say that all of its ports have been reported: they come behind them.
      return [...routed.take(), ...found, ...results];
    },
    noteName: (ip, name) => routed.noteName(ip, name),
    notePortsTogether() {
      for (const [ip, facts] of portFacts(open)) learn(ip, facts);
    },
  };
}
