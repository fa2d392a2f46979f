import type { Severity } from "@lanthorn/contract/uplink";
import { formatIp, formatMac, type Frame, isMulticastMac } from "@lanthorn/packets";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createDoubleTags } from "./double-tags.ts";
import { createKnownTrunks } from "./known-trunks.ts";
import { readTrunkTalk, type TrunkTalk } from "./trunk-talk.ts";

const KIND = "vlan_hopping";
/** A port speaks DTP each 30 s; one that missed three is gone. */
const GONE_MS = 100_000;
/** The first frame of a tunnel of VLANs may come before the answer to it. */
const ANSWERED_WITHIN_MS = 1500;
/** Frames that wait for an answer with two tags; more come from somebody who forges their senders. */
const MAX_WAITING = 64;

interface Waiting {
  readonly dueAt: number;
  readonly mac: string;
  readonly outer: number;
  readonly inner: number;
  readonly ip: string;
  readonly packet: Uint8Array;
  isReported: boolean;
}

/** Frames that get a host into VLANs that are not its own: two tags, a trunk that it negotiates. @see README.md "VLAN hopping" */
export function createVlanHoppingGuard(deps: GuardDeps): Guard {
  const { clock, incidents, learning } = deps;
  const known = createKnownTrunks(deps.learned, clock.monotonic());
  const doubleTags = createDoubleTags({ tunnels: known.tunnels, isLearning: () => learning.isOn(), onNew: reportTunnel });
  /** By sender and outer VLAN. */
  const waiting = new Map<string, Waiting>();

  function hearTags({ captured, frame }: GuardFrame, mac: string): void {
    const now = clock.monotonic();
    if (!doubleTags.isForged(frame, now)) return;
    const [outer, inner] = frame.vlanTags.filter(({ vlanId }) => vlanId !== 0).map(({ vlanId }) => vlanId);
    if (outer === undefined || inner === undefined) return;
    const key = `${mac} ${outer}`;
    const first = waiting.get(key);
    if (first?.isReported === true) return reportTags(first);
    if (first || waiting.size >= MAX_WAITING) return;
    waiting.set(key, { dueAt: now + ANSWERED_WITHIN_MS, mac, outer, inner, ip: sourceOf(frame), packet: captured.bytes.slice(), isReported: false });
  }

  function reportTags({ mac, outer, inner, ip, packet }: Waiting): void {
    incidents.report({
      kind: KIND, subject: mac, severity: "medium", ip, mac, vlanId: outer, facts: { outer_vlan: String(outer), inner_vlan: String(inner) }, packet,
      detail: `${mac} sends frames with two VLAN tags, ${outer} and ${inner} inside, which nobody answers with two tags. Where ${outer} is a trunk's native VLAN, the first switch takes it off `
        + `and the frame gets into VLAN ${inner}. Find the host, and tag the native VLAN on trunks or give it a VLAN without hosts.`,
    });
  }

  function reportTunnel(outer: number, frame: Frame): void {
    incidents.report({
      kind: KIND, subject: `vlan ${outer}`, severity: "info", ip: "", mac: "", vlanId: outer, facts: { outer_vlan: String(outer) }, packet: frame.bytes,
      detail: `VLAN ${outer} is new and carries other VLANs: for minutes hosts have answered each other in it with two tags. It is taken for a tunnel from now on. Check that somebody has set it up.`,
    });
  }

  function hearTalk(at: GuardFrame, mac: string, talk: TrunkTalk): void {
    const now = clock.monotonic();
    if (known.isPort(mac)) return known.touch(mac, now);
    const other = known.alive(now, GONE_MS);
    // A mirror port shows several ports of one switch.
    if (learning.isOn() && (other === null || known.isOfMaker(mac))) return known.learn(mac, now);
    const isReplaced = known.hasPorts() && other === null && known.isOfMaker(mac);
    if (isReplaced) known.learn(mac, now);
    const severity: Severity = isReplaced ? "info" : talk.protocol === "VTP" ? "high" : "medium";
    incidents.report({
      kind: KIND, subject: mac, severity, ip: "", mac, expectedMacs: other === null ? [] : [other], vlanId: null, facts: factsOf(talk), packet: at.captured.bytes,
      detail: isReplaced
        ? `The switch port that speaks ${talk.protocol} here is another one of the same maker: the probe or its switch was moved or replaced.`
        : `${mac}, which is no known switch port, speaks ${talk.protocol}. ${talk.protocol === "VTP" ? "Switches of its domain may take over its VLANs and lose their own." : "A port that takes its offer becomes a trunk, and the host is in every VLAN."} `
          + "Find the host, and set its port to access mode without negotiation.",
    });
  }

  return {
    name: "VLAN hopping",
    onLink(at) {
      const { sourceMac, vlanTags } = at.frame;
      if (!sourceMac || isMulticastMac(sourceMac)) return;
      if (vlanTags.length > 1) return hearTags(at, formatMac(sourceMac));
      const talk = readTrunkTalk(at.frame);
      const mac = talk === null ? "" : formatMac(sourceMac);
      if (talk !== null && mac !== deps.link()?.mac) hearTalk(at, mac, talk);
    },
    tick(now) {
      for (const [key, frame] of waiting) {
        const isExcused = !frame.isReported && doubleTags.isAnswered(frame.mac, frame.outer, now);
        if (isExcused || known.tunnels.has(frame.outer)) waiting.delete(key);
        else if (!frame.isReported && now >= frame.dueAt) {
          frame.isReported = true;
          reportTags(frame);
        } else if (frame.isReported && !incidents.isOpen(KIND, frame.mac) && now - frame.dueAt > GONE_MS) waiting.delete(key);
      }
    },
  };
}

function sourceOf({ sourceIp }: Frame): string {
  return sourceIp ? formatIp(sourceIp) : "";
}

function factsOf(talk: TrunkTalk): Readonly<Record<string, string>> {
  const domain = talk.domain === "" ? {} : { domain: talk.domain };
  if (talk.protocol === "DTP") return { protocol: "DTP", mode: talk.mode, ...domain };
  return { protocol: "VTP", ...(talk.revision === null ? {} : { revision: String(talk.revision) }), ...domain };
}
