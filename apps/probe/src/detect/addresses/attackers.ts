import { formatIp } from "@lanthorn/packets";
import type { GuardDeps } from "../guard.ts";
import { createBoundedMap } from "../../bounded-map.ts";
import type { Sign } from "../incidents/sign.ts";
import type { Binding } from "./binding.ts";
import { bindingText } from "./binding-table.ts";
import { macText } from "./mac-number.ts";
import { type Role, type Roles, SEVERITY_OF } from "./roles/roles.ts";

/** A false claim: of what it was said, and by whom. */
export interface FalseClaim {
  readonly binding: Binding;
  /** The MAC that the address was claimed for, and the one that the frame came from. */
  readonly mac: number;
  readonly source: number;
  readonly packet: Uint8Array | null;
}

/** A claim of an address that nobody has, or that kept a host from it. */
export interface Lie {
  readonly address: Uint8Array;
  readonly vlanId: number;
  readonly source: number | null;
  readonly packet: Uint8Array;
}

/** Who makes false claims, each one incident with all its victims. */
export interface Attackers {
  /** It was found out that the claim is false. */
  accuse(claim: FalseClaim, now: number): void;
  /**
   * Counts another claim of somebody accused.
   * @returns `unknown` for one that should be checked: nobody is accused, or the last check is long ago.
   */
  repeats(claim: FalseClaim, now: number): "known" | "new-victim" | "unknown";
  /** Somebody answers for addresses that nobody has, or keeps hosts from taking any. @param lie.source Null where it takes another MAC each time. */
  reportLie(lie: Lie): void;
  /** Whether somebody does so under another MAC each time. */
  isLinkDenied(length: number): boolean;
  /** Whether an incident is open about it. */
  isAccused(source: number, length: number): boolean;
  /** The false claim of this address turned out to be right. */
  clear(source: number, binding: Binding): void;
  /** Reports what was repeated. */
  tick(): void;
}

interface Attacker {
  readonly source: number;
  readonly kind: "arp_spoofing" | "ndp_spoofing";
  readonly victims: Map<Binding, { checkedAt: number; readonly text: string; readonly mac: string }>;
  last: FalseClaim;
  worst: Role;
  worstText: string;
  isDirty: boolean;
}

const MAX_ATTACKERS = 64;
const MAX_VICTIMS = 16;
/** Of what cannot be laid to one MAC. */
const LINK_SUBJECT = "link";
/** Who took over an address for good is not accused for ever. */
const RECHECK_MS = 60_000;
const ROLE_TEXT: Readonly<Record<Role, string>> = { gateway: " (gateway)", server: " (server)", host: "" };
const ROLES: readonly Role[] = ["host", "server", "gateway"];

const kindOf = (length: number) => (length === 4 ? "arp_spoofing" : "ndp_spoofing");
const idOf = (source: number, length: number) => `${kindOf(length)} ${source}`;

/**
 * @param deps.roles Say how bad it is.
 * @param deps.hasAddress Whether a MAC is known to have an address of its own. Those that have none may be forged, and are one incident.
 */
export function createAttackers(deps: Pick<GuardDeps, "incidents"> & {
  readonly roles: Roles;
  readonly hasAddress: (mac: number) => boolean;
}): Attackers {
  const { incidents, roles } = deps;
  const attackers = createBoundedMap<string, Attacker>(MAX_ATTACKERS);
  const create = (claim: FalseClaim): Attacker => {
    const kind = kindOf(claim.binding.key.length);
    const attacker: Attacker = { source: claim.source, kind, victims: new Map(), last: claim, worst: "host", worstText: "", isDirty: true };
    attackers.put(idOf(claim.source, claim.binding.key.length), attacker);
    return attacker;
  };
  /** What is part of a storm makes that worse: one attack is one incident. */
  const report = (attacker: Attacker) => {
    const sign = { ...signOf(attacker), mayBeForged: !deps.hasAddress(attacker.source) };
    const storm = [sign.subject, "link"].find((subject) => incidents.isOpen("arp_storm", subject));
    incidents.report(storm === undefined ? sign : { ...sign, kind: "arp_storm", subject: storm });
    // An exception for one victim's address is none for the others.
    const ip = bindingText(attacker.last.binding);
    if (ip !== sign.ip && storm === undefined && !incidents.isOpen(sign.kind, sign.subject)) incidents.report({ ...sign, ip });
  };
  return {
    accuse(claim, now) {
      const { binding, source } = claim;
      const role = roles.roleOf(binding);
      const attacker = attackers.get(idOf(source, binding.key.length)) ?? create(claim);
      attacker.last = claim;
      const text = bindingText(binding);
      if (attacker.victims.has(binding) || attacker.victims.size < MAX_VICTIMS) {
        attacker.victims.set(binding, { checkedAt: now, text: `${text}${ROLE_TEXT[role]}`, mac: macText(binding.mac) });
      }
      if (attacker.worstText === "" || ROLES.indexOf(role) > ROLES.indexOf(attacker.worst)) {
        attacker.worst = role;
        attacker.worstText = text;
      }
      attacker.isDirty = false;
      report(attacker);
    },
    repeats({ source, binding }, now) {
      const attacker = attackers.get(idOf(source, binding.key.length));
      const victim = attacker?.victims.get(binding);
      const isFresh = victim !== undefined && now - victim.checkedAt < RECHECK_MS;
      const isOpen = incidents.isOpen(kindOf(binding.key.length), macText(source));
      if (attacker && (isFresh || isOpen)) attacker.isDirty = true;
      if (victim) return isFresh ? "known" : "unknown";
      if (!isOpen) return "unknown";
      const isFull = attacker !== undefined && attacker.victims.size >= MAX_VICTIMS;
      return isFull && ROLES.indexOf(roles.roleOf(binding)) <= ROLES.indexOf(attacker.worst) ? "known" : "new-victim";
    },
    reportLie: (lie) => incidents.report({ ...lieSign(lie), mayBeForged: lie.source === null || !deps.hasAddress(lie.source) }),
    isLinkDenied: (length) => incidents.isOpen(kindOf(length), LINK_SUBJECT),
    isAccused: (source, length) => incidents.isOpen(kindOf(length), macText(source)),
    clear(source, binding) {
      const id = idOf(source, binding.key.length);
      const attacker = attackers.get(id);
      if (!attacker?.victims.delete(binding) || attacker.victims.size > 0) return;
      attackers.delete(id);
      incidents.end(attacker.kind, macText(source));
    },
    tick() {
      for (const attacker of attackers.values()) {
        if (!attacker.isDirty) continue;
        attacker.isDirty = false;
        report(attacker);
      }
    },
  };
}

function signOf({ source, victims, last, kind, worst, worstText }: Attacker): Sign {
  const [mac, claimed] = [macText(source), macText(last.mac)];
  const expectedMacs = [...new Set([...victims.values()].map((victim) => victim.mac))].filter((owner) => owner !== mac);
  const named = `${worstText}${ROLE_TEXT[worst]}`;
  return {
    kind, subject: mac, severity: SEVERITY_OF[worst], ip: worstText, mac, expectedMacs, vlanId: last.binding.vlanId === 0 ? null : last.binding.vlanId,
    detail: `${mac} claims ${victims.size > 1 ? `${victims.size} addresses of others, such as ${named}` : named}, while ${expectedMacs[0] ?? "its owner"} has it. `
      + `Hosts that believe this send their traffic to the wrong device, which can read and change it. Find the switch port of ${mac} and disconnect it. If `
      + "the device may do this, add an exception for it.",
    facts: { victims: [...victims.values()].map(({ text }) => text).join(", "), ...(claimed === mac ? {} : { claimed_mac: claimed, ethernet_source: mac }) },
    packet: last.packet,
  };
}

function lieSign({ address, vlanId, source, packet }: Lie): Sign {
  const [mac, ip] = [source === null ? "" : macText(source), formatIp(address)];
  const who = source === null ? "Somebody, under another MAC address each time," : mac;
  const where = source === null ? "that these frames come from and disconnect who sends them" : `of ${mac} and disconnect it`;
  return {
    kind: kindOf(address.length), subject: source === null ? LINK_SUBJECT : mac, severity: "medium", ip, mac, vlanId: vlanId === 0 ? null : vlanId,
    facts: { denied: "yes" }, packet,
    detail: `${who} answers for addresses that nobody has, ${ip} among them. So it keeps hosts from taking an address, or draws their traffic to itself. Find the `
      + `switch port ${where}. If the device may do this, add an exception for it.`,
  };
}
