import { ipv4Bytes, ipv4Number } from "@lanthorn/packets";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { type Link, ownAddressFor } from "../../capture/link.ts";
import type { Exclusions } from "../../egress/exclusions.ts";
import type { OpenScanLink } from "../../probing/scan-link.ts";
import type { AnswerClaims } from "../../search/answer-claims.ts";
import { findWay, type WayDeps } from "../../routed/find-way.ts";
import type { ScanPlan } from "../scan-plan.ts";
import type { RunReport } from "../scan-report.ts";
import { openScanRun, type ScanRun } from "./scan-run.ts";

/** What opening a run needs of the probe. */
export interface OpenRunDeps extends WayDeps {
  readonly link: () => Link | null;
  /** Null where no frames of one's own can be sent, as where a capture file stands in for the interface. */
  readonly openScanLink: OpenScanLink | null;
  readonly exclusions: () => Exclusions;
  /** The most that a scan may send. */
  readonly framesPerSecond: number;
  /** The most while hosts are looked for. */
  readonly searchFramesPerSecond: number;
  /** Addresses where hosts are known to be. */
  readonly online: () => ReadonlySet<number>;
  /** As of `NeighborSearchDeps`. */
  readonly claims?: AnswerClaims;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** @returns A run with frames of its own for the plan; null where it needs none, or none can be sent. */
export function openRunFor(deps: OpenRunDeps, plan: ScanPlan, report: RunReport, signal: AbortSignal): ScanRun | null {
  const link = deps.link();
  const isSweepOnly = plan.isGentle && plan.tcpPorts.length === 0 && plan.routed.length + plan.neighbors6.length === 0;
  if (!deps.openScanLink || !link || isSweepOnly) return null;
  const { openScanLink } = deps;
  try {
    return openScanRun({
      ...deps, signal, report, mac: link.mac, tcpPorts: plan.tcpPorts, udpPorts: plan.udpPorts, expected: deps.online(),
      own: link.own.map(({ bytes }) => bytes), searchesRanges: !plan.isGentle, neighbors6: plan.neighbors6,
      routed: plan.routed.map((range) => ({ ...range, findWay: () => findWay(range.first, deps) })),
      openLink: (book) => openScanLink(deps.exclusions, book),
      ranges: plan.ranges.flatMap(({ first, count }) => {
        const own = ownAddressFor(link, ipv4Bytes(first));
        return own ? [{ first, count, ownIp: ipv4Number(own) }] : [];
      }),
    });
  } catch (error) {
    deps.log.warn({ reason: describeError(error) }, "scanning without frames of its own");
    return null;
  }
}
