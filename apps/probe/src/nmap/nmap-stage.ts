import type { OpenPort } from "../identify/identify.ts";
import type { NmapFindings } from "./host-findings.ts";
import type { NmapOrder, ScanWithNmap } from "./scan-with-nmap.ts";
import { mergeFindings } from "./merge-findings.ts";
import type { PortFinding } from "../identify/finding.ts";

/** nmap, as a scan of the profile `deep` uses it. */
export interface NmapScanner {
  /** Why it cannot be used, in words; else null. */
  readonly problem: () => string | null;
  readonly run: ScanWithNmap;
}

/** The part of a `deep` scan that comes after our own: nmap's, at what was found open. */
export interface NmapStage {
  noteOpen(openPort: OpenPort): void;
  noteFinding(openPort: OpenPort, finding: PortFinding): void;
  /** @throws As `ScanWithNmap`. */
  run(): Promise<void>;
  /** 0 to 1. */
  readonly progress: number;
}

/** @param deps.onPort An open port of which nmap says more than we knew. */
export function createNmapStage(deps: Pick<NmapOrder, "isGentle" | "exclusions" | "signal" | "onFault"> & {
  readonly scanner: NmapScanner;
  readonly onPort: (openPort: OpenPort, finding: PortFinding) => void;
  readonly onFindings: (findings: NmapFindings) => void;
}): NmapStage {
  const known = new Map<string, Map<number, PortFinding | null>>();
  const portsAt = (ip: string) => {
    const ports = known.get(ip) ?? new Map<number, PortFinding | null>();
    known.set(ip, ports);
    return ports;
  };
  let progress = 0;
  return {
    noteOpen({ ip, protocol, port }) {
      if (protocol === "tcp" && !portsAt(ip).has(port)) portsAt(ip).set(port, null);
    },
    noteFinding({ ip, protocol, port }, finding) {
      if (protocol === "tcp") portsAt(ip).set(port, finding);
    },
    async run() {
      if (known.size === 0) return;
      const { isGentle, exclusions, signal, onFault } = deps;
      await deps.scanner.run({
        hosts: [...known].map(([ip, ports]) => ({ ip, ports: [...ports.keys()] })), isGentle, exclusions, signal, onFault,
        onProgress(done) {
          progress = done;
        },
        onFindings(findings) {
          const ports = portsAt(findings.ip);
          for (const { port, finding } of findings.ports) {
            const own = ports.get(port);
            const merged = mergeFindings(own ?? null, finding);
            const isNew = own === undefined || own === null || own.service !== merged.service
              || own.version !== merged.version || own.banner !== merged.banner
              || JSON.stringify(own.software ?? null) !== JSON.stringify(merged.software ?? null);
            if (isNew) deps.onPort({ ip: findings.ip, protocol: "tcp", port }, merged);
          }
          deps.onFindings(findings);
        },
      });
    },
    get progress() {
      return progress;
    },
  };
}
