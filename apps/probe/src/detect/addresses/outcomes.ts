import type { Binding, Contender } from "./binding.ts";
import type { BindingTable } from "./binding-table.ts";
import { bindingText } from "./binding-table.ts";
import type { Attackers } from "./attackers.ts";
import type { CheckOutcome } from "./conflicts/checks.ts";
import type { GuardDeps } from "../guard.ts";
import { macText } from "./mac-number.ts";
import { type Roles, SEVERITY_OF } from "./roles/roles.ts";
import type { SavedBindings } from "./saved-bindings.ts";

/** What outcomes of checks change. */
export interface OutcomeDeps extends Pick<GuardDeps, "incidents" | "settings" | "learning"> {
  readonly table: BindingTable;
  readonly roles: Roles;
  readonly attackers: Attackers;
  readonly saved: SavedBindings;
}

const MAX_MEMBERS = 8;
/** So many changes of the claimer within this are no failover and its end. */
const FLAPS = 4;
const FLAPPING_MS = 20_000;

/** Draws the consequences of a check: an incident, another owner, or a member more. */
export function applyOutcome(deps: OutcomeDeps, { conflict, rival, verdict }: CheckOutcome, now: number): void {
  const { binding, owner } = conflict;
  switch (verdict) {
    case "spoofed":
    case "virtual-taken":
      accuse(deps, binding, rival, now);
      break;
    case "owner-spoofs":
      setOwner(deps, binding, rival.mac, now);
      accuse(deps, binding, owner, now);
      break;
    case "duplicate":
      reportDuplicate(deps, binding, rival);
      break;
    case "duplicate-over":
      deps.incidents.end("duplicate_ip", bindingText(binding));
      if (owner.answers === 0 && rival.answers > 0) setOwner(deps, binding, rival.mac, now);
      break;
    case "shared":
      share(deps, binding, rival, now);
      break;
    case "moved":
      moveTo(deps, binding, rival, now);
  }
}

/** An attacker that wears the owner's MAC as Ethernet source is known by the MAC that it claims. */
export function accusedSource(binding: Pick<Binding, "mac">, { mac, source }: Pick<Contender, "mac" | "source">): number {
  return source === binding.mac ? mac : source;
}

function accuse({ attackers }: OutcomeDeps, binding: Binding, { mac, source, packet }: Contender, now: number): void {
  attackers.accuse({ binding, mac, source: accusedSource(binding, { mac, source }), packet }, now);
}

/**
 * One device with two MACs. An attacker can forge the answer that shows it: of a gateway only the learning period adds one, and it is
 * reported even then.
 */
function share(deps: OutcomeDeps, binding: Binding, rival: Contender, now: number): void {
  binding.sharedAt = now;
  binding.sharedWith = rival.mac;
  if (binding.members.includes(rival.mac)) return;
  const isGateway = deps.roles.roleOf(binding) === "gateway";
  if (isGateway && !deps.settings().roaming_gateways) reportTwin(deps, binding, rival);
  if (isGateway && !deps.learning.isOn()) return;
  addMembers(binding, rival.mac);
  deps.saved.save(binding, now);
}

function setOwner({ table, saved }: OutcomeDeps, binding: Binding, mac: number, now: number): void {
  table.setOwner(binding, mac);
  table.trust(binding, now);
  saved.save(binding, now);
}

/** Another MAC shares the address with its owner. */
export function addMember(saved: SavedBindings, binding: Binding, mac: number, now: number): void {
  addMembers(binding, mac);
  saved.save(binding, now);
}

function addMembers(binding: Binding, ...macs: readonly number[]): void {
  binding.members = [...new Set([...macs, ...binding.members])].slice(0, MAX_MEMBERS);
}

function moveTo(deps: OutcomeDeps, binding: Binding, rival: Contender, now: number): void {
  const before = binding.mac;
  const wasTrusted = binding.isTrusted;
  if (wasTrusted) addMembers(binding, before, rival.mac);
  setOwner(deps, binding, rival.mac, now);
  deps.attackers.clear(accusedSource({ mac: before }, rival), binding);
  const recent = binding.changes.filter((at) => now - at <= FLAPPING_MS);
  if (recent.length >= FLAPS && !deps.roles.isSleepProxy(before) && !deps.roles.isSleepProxy(rival.mac)) reportFlapping(deps, binding, before, rival);
  else if (wasTrusted && deps.roles.roleOf(binding) === "gateway" && !deps.settings().roaming_gateways) reportMove(deps, binding, before, rival);
}

function signOf(binding: Binding, rival: Contender) {
  return { subject: bindingText(binding), ip: bindingText(binding), vlanId: binding.vlanId === 0 ? null : binding.vlanId, packet: rival.packet };
}

function reportDuplicate({ incidents, roles }: OutcomeDeps, binding: Binding, rival: Contender): void {
  const [owner, other, ip] = [macText(binding.mac), macText(rival.mac), bindingText(binding)];
  const role = roles.roleOf(binding);
  incidents.report({
    ...signOf(binding, rival), kind: "duplicate_ip", severity: SEVERITY_OF[role], mac: other, expectedMacs: [owner], facts: { first: owner, second: other },
    detail: `Two devices use the address ${ip}${role === "host" ? "" : `, which is a ${role}'s`}: ${owner}, which had it first, and ${other}. Both answer for `
      + "it, so traffic goes to the one or the other. Give one of them another address, and look whether a fixed address lies in a DHCP pool.",
  });
}

function reportFlapping({ incidents, roles }: OutcomeDeps, binding: Binding, before: number, rival: Contender): void {
  const macs = [...new Set([before, rival.mac, ...binding.members])].map(macText);
  incidents.report({
    ...signOf(binding, rival), kind: "address_flapping", severity: SEVERITY_OF[roles.roleOf(binding)], mac: macText(rival.mac), expectedMacs: macs,
    facts: { macs: macs.join(", ") },
    detail: `The address ${bindingText(binding)} moves between ${macs.join(" and ")} again and again. A failover moves it once. Connections break at each move. `
      + "Look at the cluster's own traffic between its members, and for a second device with this address.",
  });
}

function reportTwin({ incidents }: OutcomeDeps, binding: Binding, rival: Contender): void {
  const [owner, other] = [macText(binding.mac), macText(rival.mac)];
  incidents.report({
    ...signOf(binding, rival), kind: "gateway_changed", severity: "medium", mac: other, expectedMacs: [owner], facts: { first: owner, second: other },
    detail: `The gateway ${bindingText(binding)} is claimed by ${other} beside ${owner}, and both answer as one device does that has two network cards (a bond). An attacker can `
      + `forge such answers. If the gateway has no such card, find the switch port of ${other} and disconnect it; else begin the learning period again.`,
  });
}

function reportMove({ incidents }: OutcomeDeps, binding: Binding, before: number, rival: Contender): void {
  incidents.report({
    ...signOf(binding, rival), kind: "gateway_changed", severity: "info", mac: macText(rival.mac), expectedMacs: [macText(before)],
    facts: { before: macText(before), after: macText(rival.mac) },
    detail: `The gateway ${bindingText(binding)} is now ${macText(rival.mac)}; ${macText(before)} no longer answers. This is normal for a failover or a replaced `
      + "router. If neither happened, find out which device that is.",
  });
}
