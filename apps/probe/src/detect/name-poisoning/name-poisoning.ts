import { formatMac, IP_PROTOCOL, isMulticastMac } from "@lanthorn/packets";
import { isUnlikelyName, NAME_PROTOCOLS, type NameProtocol } from "../../egress/name-questions.ts";
import { createBoundedMap } from "../../bounded-map.ts";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createNameBait } from "./name-bait.ts";
import { createAnswerers } from "./answerers.ts";
import { createNameSigns } from "./name-signs.ts";
import { type NamesHeard, readNames } from "./read-names.ts";

/** Names that programs ask for by themselves, and no host has: who answers gets their traffic. @see RFC 5214 section 8.3.2 */
const ASKED_BY_PROGRAMS: ReadonlySet<string> = new Set(["wpad", "isatap"]);
/** Answers for so many names that nobody has are no chance. */
const MIN_UNLIKELY = 2;
/** A host has its name, perhaps a second one, and that of its cluster; all the others are other hosts'. */
const MIN_NAMES = { "LLMNR": 4, "NBT-NS": 5, "mDNS": 8 } as const;
/** So many names are a hint, which is checked by a question. */
const HINT_NAMES = 3;
const MAX_PAUSE_MS = 60_000;
const MAX_LISTENERS = 512;

/** Who answers for names that he does not have: Responder, Inveigh and the like. @see README.md "Name poisoning" */
export function createNamePoisoningGuard(deps: GuardDeps): Guard {
  const { clock, incidents, settings, link } = deps;
  const bait = createNameBait(deps);
  const answerers = createAnswerers();
  const { report, isOpen } = createNameSigns(incidents);
  /** Who has said that he listens for LLMNR: a querier asks for that again and again. */
  const listeners = createBoundedMap<string, true>(MAX_LISTENERS);

  /** While an incident goes on, it is asked by time alone. */
  function hint(protocol: NameProtocol): void {
    if (!isOpen()) bait.hint(protocol);
  }
  function hearAnswer(at: GuardFrame, mac: string, heard: NamesHeard): void {
    const now = clock.monotonic();
    const unlikely = heard.names.find(({ label }) => isUnlikelyName(label));
    if (unlikely) {
      const known = answerers.addUnlikely(unlikely.label, now);
      if (known >= MIN_UNLIKELY) {
        report(at, { mac, severity: "high", why: "it answered for random names that nobody has", names: "" }, heard);
      } else bait.confirm();
      return;
    }
    const forPrograms = heard.names.find(({ label }) => ASKED_BY_PROGRAMS.has(label));
    if (forPrograms) {
      bait.confirm();
      report(at, { mac, severity: "medium", why: `it answered for "${forPrograms.label}", which programs ask for by themselves`, names: forPrograms.label }, heard);
    }
    for (const name of heard.names) hearName(at, mac, { ...heard, names: [name] });
  }

  /** One name of an answer. */
  function hearName(at: GuardFrame, mac: string, heard: NamesHeard): void {
    const { label, address } = heard.names[0] as NamesHeard["names"][number];
    const names = answerers.addName({ mac, label, address, protocol: heard.protocol, now: clock.monotonic() });
    if (names === null) return;
    if (names.length >= HINT_NAMES) hint(heard.protocol);
    // A host may have many names by Multicast DNS; where questions can be sent, they tell it from a poisoner.
    if (names.length < MIN_NAMES[heard.protocol] || (heard.protocol === "mDNS" && settings().active)) return;
    report(at, {
      mac, severity: heard.protocol === "mDNS" ? "medium" : "high",
      why: `it gave its address ${address} for ${MIN_NAMES[heard.protocol]} unrelated names that others asked for`,
      names: names.slice(0, MIN_NAMES[heard.protocol]).join(", "),
    }, heard);
  }

  return {
    name: "Name poisoning",
    onAny({ frame }) {
      if (frame.ipProtocol !== IP_PROTOCOL.igmp || !frame.sourceMac || !joinsLlmnr(frame.transportBytes)) return;
      const mac = formatMac(frame.sourceMac);
      if (!listeners.has(mac)) for (const protocol of NAME_PROTOCOLS) hint(protocol);
      listeners.put(mac, true);
    },
    onUdp(at) {
      const heard = readNames(at);
      const sourceMac = heard && at.frame.sourceMac;
      if (!sourceMac) return;
      const mac = formatMac(sourceMac);
      if (mac === link()?.mac || isMulticastMac(sourceMac)) return;
      if (heard.isAnswer) return hearAnswer(at, mac, heard);
      for (const { label } of heard.names) answerers.addQuestion(label, mac, clock.monotonic());
      // Another probe's question shows as much as ours: who answers it answers ours.
      if (!heard.names.some(({ label }) => isUnlikelyName(label))) hint(heard.protocol);
    },
    tick(now) {
      bait.tick(now, isOpen() ? Math.min(MAX_PAUSE_MS, settings().quiet_seconds * 1000 / 3) : Number.POSITIVE_INFINITY);
    },
  };
}

/** Of 224.0.0.252, for which a poisoner listens from its start: each word of the report is a group or not. @see RFC 3376 section 4.2 */
function joinsLlmnr(report: Uint8Array): boolean {
  for (let at = 4; at + 4 <= report.length && at < 64; at += 4) {
    if (report[at] === 224 && report[at + 1] === 0 && report[at + 2] === 0 && report[at + 3] === 252) return true;
  }
  return false;
}
