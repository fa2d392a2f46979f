/** Our engine over a capture, with alerts as eve.json writes them. */
import { APPLICATION_LIMITS, APPLICATIONS, buildRuleBase, createIds, type IdsAlert, parseRules, type Rule } from "@lanthorn/ids";
import { LINK_TYPE } from "@lanthorn/packets";
import { createAnalyzer } from "@lanthorn/traffic";
import { type CapturedFrame, framesOf } from "./capture-frames.ts";
import type { EveAlert } from "./checks.ts";
import { MACHINE_CLASSES } from "./machine-classes.ts";
import type { CaseSettings } from "./settings.ts";

/** Alerts, and the rules that were refused, in words. */
export interface EngineRun {
  readonly alerts: readonly EveAlert[];
  readonly refused: readonly string[];
}

/** An engine with its rules loaded. */
export interface LoadedEngine {
  readonly rules: readonly Rule[];
  /** Refused by the parser or by the engine, in words. */
  readonly refused: readonly string[];
  frame(frame: CapturedFrame): void;
  /** All flows end. */
  flush(): void;
}

const PROTOCOLS: Readonly<Record<number, string>> = { 1: "ICMP", 6: "TCP", 17: "UDP", 58: "IPv6-ICMP", 47: "GRE", 132: "SCTP" };

/** Reads rules and makes an engine of them, ready for frames. */
export function loadEngine(rules: Uint8Array, settings: CaseSettings, onAlert: (alert: IdsAlert) => void): LoadedEngine {
  const parsed = parseRules(rules, { addresses: settings.addresses, ports: settings.ports, classes: MACHINE_CLASSES ?? new Map() });
  const base = runToEnd(buildRuleBase(parsed.rules, APPLICATIONS));
  const ids = createIds({ base, onAlert, limits: { streamDepth: settings.streamDepth, isMidstream: settings.isMidstream, isOneSided: settings.isOneSided, application: { ...APPLICATION_LIMITS, bodyBytes: settings.responseBody } } });
  const analyzer = createAnalyzer({ random: () => 0.5, onFlow: () => {}, onMessage: null, watch: ids.watch });
  return {
    rules: parsed.rules, refused: [...parsed.refusals, ...base.refusals].map(({ id, keyword, reason }) => `rule ${id ?? "without sid"}: ${keyword}: ${reason}`),
    // Ethernet goes the way that it goes in the probe.
    frame({ bytes, at, linkType }) {
      if (linkType === LINK_TYPE.ethernet) analyzer.placedFrame(bytes, 0, bytes.length, bytes.length, at);
      else analyzer.frame(bytes, bytes.length, at, linkType);
    },
    flush: () => analyzer.flush(),
  };
}

/** Loads rules and reads a whole capture. */
export function runEngine({ rules, capture, settings }: { readonly rules: Uint8Array; readonly capture: Uint8Array; readonly settings: CaseSettings }): EngineRun {
  return runFrames(rules, framesOf(capture), settings);
}

/** The same for frames. */
export function runFrames(rules: Uint8Array, frames: readonly CapturedFrame[], settings: CaseSettings): EngineRun {
  const alerts: EveAlert[] = [];
  const engine = loadEngine(rules, settings, (alert) => void alerts.push(eveOf(alert, settings)));
  for (const frame of frames) engine.frame(frame);
  engine.flush();
  return { alerts, refused: engine.refused };
}

function runToEnd<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** @see https://docs.suricata.io/en/latest/output/eve/eve-json-format.html */
export function eveOf(alert: IdsAlert, { isIps }: Pick<CaseSettings, "isIps">): EveAlert {
  const { rule, source, destination, application, direction, flow } = alert;
  const isBlocked = rule.action.startsWith("reject") || (isIps && alert.wouldBlock);
  return {
    event_type: "alert", src_ip: source.ip, dest_ip: destination.ip, proto: PROTOCOLS[flow.protocol] ?? String(flow.protocol), direction: direction === "to-server" ? "to_server" : "to_client",
    ...(source.port >= 0 && { src_port: source.port, dest_port: destination.port }), ...(application !== "" && { app_proto: application }),
    alert: {
      action: isBlocked ? "blocked" : "allowed", gid: rule.gid, signature_id: rule.id, rev: rule.revision, signature: rule.message, category: rule.class?.description ?? "", severity: rule.priority,
    },
    [application]: alert.fields,
  };
}
