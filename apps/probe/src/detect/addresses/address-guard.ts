import { ARP_OPERATION, type ArpPacket, isUnspecifiedIp, type NdpMessage } from "@lanthorn/packets";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createAddressScan } from "./address-scan.ts";
import { createAttackTimes } from "./attack-times.ts";
import { createAttackers } from "./attackers.ts";
import type { Binding } from "./binding.ts";
import { addressKey, bindingAddress, createBindingTable, hashAddress } from "./binding-table.ts";
import { type Claim, isHostAddress, readArpClaim, readNdpClaim, sourceOf, vlanOf } from "./claim.ts";
import { createClaimStorm } from "./claim-storm.ts";
import { createChecks } from "./conflicts/checks.ts";
import { createDadDenial } from "./dad-denial.ts";
import { learnedRows } from "./roles/learned-rows.ts";
import { createLinkQuestions } from "./link-questions.ts";
import { createLoadSharing } from "./load-sharing.ts";
import { macBytes, macNumber, macText } from "./mac-number.ts";
import { accusedSource, addMember, applyOutcome } from "./outcomes.ts";
import { createRecentAddresses } from "./recent-addresses.ts";
import { createRoles } from "./roles/roles.ts";
import { createSavedBindings } from "./saved-bindings.ts";

/** Who claims an address without contradiction for so long is trusted to have it. */
const TRUST_MS = 10_000;
/** A host repeats a request after a second and takes an answer for as long. */
const REQUESTS = { slots: 4096, ms: 2000 } as const;
/** For so long hosts look for forged routers by the thousand, and take addresses of their prefixes. */
const FORGED_ROUTERS_MS = 600_000;
/** In an Ethernet frame without a tag. @see RFC 826 */
const ARP_SENDER_MAC_AT = 22;
const ARP_SENDER_IP_AT = 28;

/** Who has which address, by ARP and Neighbor Discovery: spoofing, duplicates, flapping, scans, and storms of replies. */
export function createAddressGuard(deps: GuardDeps): Guard {
  const parts = createParts(deps);
  const { roles, checks, sharing, attackers, scan, storm, attackTimes } = parts;
  return {
    name: "ARP and NDP",
    onArp: (packet, at) => hearArp(parts, packet, at),
    onNdp(message, at) {
      roles.onNdp(message, at);
      hearNdp(parts, message, at);
    },
    onDhcp: (message, at) => roles.onDhcp(message, at),
    onUdp: (at) => roles.onUdp(at),
    onAny(at) {
      if (checks.conflicts.size > 0 && at.frame.ipLength > 0) hearTraffic(parts, at);
    },
    needsAnswer: (bytes) => needsAnswer(parts, bytes),
    learned: () => learnedRows(parts),
    tick(now) {
      refresh(parts, now);
      sharing.tick(now);
      checks.tick(now);
      attackers.tick();
      scan.tick();
      storm.tick(now);
      attackTimes.tick(now);
    },
  };
}

type Parts = ReturnType<typeof createParts>;

function createParts(deps: GuardDeps) {
  const seed = Math.floor(deps.random() * 2 ** 32) | 0;
  const { clock, incidents, settings, learning } = deps;
  const table = createBindingTable(seed);
  const roles = createRoles(deps);
  const attackers = createAttackers({ incidents, roles, hasAddress: (mac) => table.ownedBy(mac) !== null });
  const saved = createSavedBindings(deps.learned, roles);
  const dad = createDadDenial();
  const sharing = createLoadSharing({
    onMember: (binding, mac, now) => addMember(saved, binding, mac, now), onContested: (binding, claim, now) => checks.onClaim(binding, claim, now),
  });
  const questions = createLinkQuestions(deps, {
    isKnown: (address) => table.find(address, 0) !== null,
    onAskedAll(binding, now) {
      const { mac } = questions.own();
      if (mac && sharing.isShared(binding)) sharing.onRequest(binding, macNumber(mac), now);
    },
  });
  const outcomes = { incidents, settings, learning, table, roles, attackers, saved };
  saved.load(table, clock.monotonic());
  const askDecoy = (like: Uint8Array, vlanId: number, source: number): boolean => {
    const now = clock.monotonic();
    if (dad.isDecoyed(source, like.length, now)) return true;
    const decoy = vlanId === 0 ? questions.askDecoy(like, macBytes(source)) : null;
    if (decoy) dad.onDecoy(decoy, source, now);
    return decoy !== null;
  };
  const checks = createChecks({
    clock, after: deps.after, table, isOwn: ({ key, vlanId }) => vlanId === 0 && questions.own().keys.has(key),
    ask(binding, mac) {
      // One of the group answers for all, whose MAC need not be the owner's.
      if (sharing.isShared(binding) && macNumber(mac) === binding.mac) questions.askAll(binding, clock.monotonic());
      else questions.ask(binding, mac);
    },
    isLiar: (source, length) => dad.isLiar(source, clock.monotonic()) || attackers.isAccused(source, length),
    answersAll: (source) => dad.isLiar(source, clock.monotonic()),
    askDecoy: (binding, source) => askDecoy(bindingAddress(binding), binding.vlanId, source),
    rankOf: (binding) => (roles.isOwnGateway(binding) ? 2 : roles.roleOf(binding) === "host" ? 0 : 1),
    quietMs: () => settings().quiet_seconds * 1000,
    decide: (outcome, now) => applyOutcome(outcomes, outcome, now),
  });
  return {
    deps, seed, table, roles, attackers, saved, dad, questions, checks, sharing, askDecoy, requests: createRecentAddresses(seed, REQUESTS), scan: createAddressScan(deps),
    storm: createClaimStorm(deps), attackTimes: createAttackTimes(deps),
    /** When forged routers were reported last, monotonic milliseconds. */
    forgedRoutersAt: Number.NEGATIVE_INFINITY,
    /** MACs of gateways and servers, which ask for whatever others want. */
    askers: new Set<number>(),
    ownMac: -1,
    /** The address in question; answers of a search come by the ten thousand, and cost no object. */
    sender: new Uint8Array(4),
  };
}

function refresh(parts: Parts, now: number): void {
  const { roles, questions, table, askers, deps: { incidents } } = parts;
  roles.refresh(now);
  if (incidents.hasMany("router_advertisement") || incidents.hasMany("unexpected_ipv6")) parts.forgedRoutersAt = now;
  const own = questions.own();
  parts.ownMac = own.mac ? macNumber(own.mac) : -1;
  for (const key of own.keys) {
    const address = bindingAddress({ key });
    const binding = table.find(address, 0) ?? (own.mac && isHostAddress(address) ? table.add(address, 0, parts.ownMac, now) : null);
    if (!binding || (binding.isTrusted && binding.mac === parts.ownMac)) continue;
    table.setOwner(binding, parts.ownMac);
    table.trust(binding, now);
  }
  askers.clear();
  for (const key of roles.addresses()) {
    const binding = table.find(bindingAddress({ key }), 0);
    if (binding) askers.add(binding.mac);
  }
  questions.askGateways(roles.gateways(), (address) => table.find(address, 0), now);
}

function hearArp(parts: Parts, packet: ArpPacket, at: GuardFrame): void {
  const source = sourceOf(at);
  const isEcho = source === parts.ownMac;
  const now = parts.deps.clock.monotonic();
  const vlanId = vlanOf(at);
  const isProbe = isUnspecifiedIp(packet.senderProtocolAddress);
  if (packet.operation === ARP_OPERATION.request && !isEcho) hearRequest(parts, { address: packet.targetProtocolAddress, vlanId, source, isProbe, at }, now);
  if (isProbe) return;
  const { requests, ownMac } = parts;
  const isForUs = ownMac >= 0 && macNumber(packet.targetHardwareAddress) === ownMac;
  const claim = readArpClaim(packet, at, (address) => isForUs || requests.has(address, vlanId, now));
  if (claim && isEcho) hearEcho(parts, claim, now);
  else if (claim) hearClaim(parts, claim, now);
}

/** One from another MAC than the owner's, or of an address that is being checked. */
function needsAnswer({ table, sender }: Parts, bytes: Uint8Array): boolean {
  for (let at = 0; at < sender.length; at += 1) sender[at] = bytes[ARP_SENDER_IP_AT + at] as number;
  const binding = table.find(sender, 0);
  return binding !== null && (binding.conflict !== null || binding.mac !== macNumber(bytes, ARP_SENDER_MAC_AT));
}

function hearNdp(parts: Parts, message: NdpMessage, at: GuardFrame): void {
  const source = sourceOf(at);
  const isEcho = source === parts.ownMac;
  const now = parts.deps.clock.monotonic();
  const vlanId = vlanOf(at);
  if (message.kind === "neighbor-solicitation" && !isEcho) {
    const isProbe = at.frame.sourceIp === null || isUnspecifiedIp(at.frame.sourceIp);
    hearRequest(parts, { address: message.target, vlanId, source, isProbe, at }, now);
    if (isProbe) return;
  }
  const { requests, ownMac } = parts;
  const isForUs = ownMac >= 0 && macNumber(at.frame.bytes, at.frame.destinationMacOffset) === ownMac;
  const claim = readNdpClaim(message, at, (address) => isForUs || requests.has(address, vlanId, now));
  if (claim && isEcho) hearEcho(parts, claim, now);
  else if (claim) hearClaim(parts, claim, now);
}

/** A claim from our own MAC. A mirror port shows us our own, which claim what we have; any other comes from who wears our MAC. */
function hearEcho(parts: Parts, claim: Claim, now: number): void {
  const { address, vlanId, mac } = claim;
  const isOurs = mac === parts.ownMac && (vlanId !== 0 || parts.questions.own().keys.has(addressKey(address)));
  if (!isOurs) hearClaim(parts, { ...claim, source: mac }, now);
}

interface Request {
  readonly address: Uint8Array;
  readonly vlanId: number;
  readonly source: number;
  /** It claims no address: duplicate address detection. */
  readonly isProbe: boolean;
  readonly at: GuardFrame;
}

function hearRequest(parts: Parts, { address, vlanId, source, isProbe, at }: Request, now: number): void {
  if (!isHostAddress(address)) return;
  parts.requests.note(address, vlanId, now);
  if (isProbe && vlanId === 0) parts.dad.onProbe(address, source, now);
  const binding = parts.table.find(address, vlanId);
  if (binding && at.frame.audience !== "unicast") {
    binding.othersAskedAt = now;
    if (parts.sharing.isShared(binding)) parts.sharing.onRequest(binding, source, now);
  }
  if (binding === null || isMadeUp(parts, binding)) {
    if (parts.askers.has(source) || (address.length === 16 && now - parts.forgedRoutersAt <= FORGED_ROUTERS_MS)) return;
    parts.scan.note({ source, hash: hashAddress(address, vlanId, parts.seed), length: address.length, packet: at.captured.bytes }, now);
  } else if (binding.mac !== source && !isProbe && at.frame.audience !== "unicast") {
    // The answer goes to the one who asked: our own question shows who answers.
    parts.questions.askEverybody(binding, now);
  }
}

/** Nothing shows that anybody has the address but a claim that nobody asked for, made while somebody claimed what is not its own. */
function isMadeUp({ attackTimes }: Parts, { isTrusted, isHearsay, conflict, firstAt }: Binding): boolean {
  return isHearsay && !isTrusted && conflict === null && attackTimes.has(firstAt);
}

function hearClaim(parts: Parts, claim: Claim, now: number): void {
  const { table, storm, sharing, seed } = parts;
  const known = table.find(claim.address, claim.vlanId);
  const binding = known !== null && known.mac !== claim.mac && isMadeUp(parts, known) ? null : known;
  if (claim.isUnsolicited) {
    const hash = known?.hash ?? hashAddress(claim.address, claim.vlanId, seed);
    storm.note({ source: claim.source, hash, isNew: binding === null, length: claim.address.length, packet: claim.packet }, now);
  }
  if (binding === null) hearNewcomer(parts, claim, known, now);
  else if (sharing.isShared(binding)) hearShared(parts, binding, claim, now);
  else if (binding.mac !== claim.mac) hearRival(parts, binding, claim, now);
  else hearOwner(parts, binding, claim, now);
}

function hearOwner(parts: Parts, binding: Binding, claim: Claim, now: number): void {
  binding.seenAt = now;
  if (!claim.isUnsolicited) binding.isHearsay = false;
  if (binding.conflict || claim.isAnswer) parts.checks.onClaim(binding, claim, now);
  if (!binding.isTrusted && !binding.conflict && now - binding.firstAt >= TRUST_MS) trust(parts, binding, now);
}

/** A gateway of the group speaks for all of it. One that is not known yet is none of it when it is being checked, or nobody asked for it. */
function hearShared(parts: Parts, binding: Binding, claim: Claim, now: number): void {
  const { sharing } = parts;
  const mayBeMember = sharing.onReply(binding, claim, now);
  const isMember = claim.mac === binding.mac || sharing.isMember(binding, claim.mac);
  const isChecked = binding.conflict?.rivals.some(({ mac }) => mac === claim.mac) === true;
  if (isMember || (mayBeMember && !isChecked)) hearOwner(parts, binding, { ...claim, mac: binding.mac }, now);
  else hearRival(parts, binding, claim, now);
}

function trust({ deps, table, saved, attackers }: Parts, binding: Binding, now: number): void {
  if (attackers.isAccused(binding.mac, binding.key.length) || deps.incidents.isOpen("arp_storm", macText(binding.mac))) return;
  table.trust(binding, now);
  if (binding.isTrusted) saved.save(binding, now);
}

/** @param madeUp What was made up about the address before; null for nothing. */
function hearNewcomer(parts: Parts, claim: Claim, madeUp: Binding | null, now: number): void {
  const { table, dad, attackers, questions, roles, askDecoy } = parts;
  const { address, vlanId, source, mac, isUnsolicited } = claim;
  const denial = parts.askers.has(source) || roles.isSleepProxy(source) ? "none" : dad.onNewClaim(address, source, now);
  if (denial !== "none") {
    const isForged = denial === "forged" || attackers.isLinkDenied(address.length);
    if (isForged || denial === "lie") attackers.reportLie({ address, vlanId, source: isForged ? null : source, packet: claim.packet });
    else askDecoy(address, vlanId, source);
    return;
  }
  if (isUnsolicited && attackers.isAccused(source, address.length)) return;
  const binding = madeUp ?? table.add(address, vlanId, mac, now);
  if (!binding) return;
  table.setOwner(binding, mac);
  binding.firstAt = binding.seenAt = now;
  binding.isHearsay = isUnsolicited;
  if (isUnsolicited || roles.roleOf(binding) !== "host") questions.askEverybody(binding, now);
}

function hearRival({ checks, attackers }: Parts, binding: Binding, claim: Claim, now: number): void {
  const source = accusedSource(binding, claim);
  if (claim.isUnsolicited && binding.isTrusted && binding.conflict?.phase !== "reported") {
    const falseClaim = { binding, mac: claim.mac, source, packet: claim.packet };
    const known = attackers.repeats(falseClaim, now);
    if (known === "known") return;
    if (known === "new-victim" && !binding.members.includes(claim.mac)) {
      attackers.accuse({ ...falseClaim, packet: claim.packet.slice() }, now);
      return;
    }
  }
  checks.onClaim(binding, claim, now);
}

/** Traffic from an owner's MAC and address shows that it is there, as its claim would. */
function hearTraffic({ deps, table, checks, ownMac }: Parts, at: GuardFrame): void {
  const address = at.frame.sourceIp;
  const vlanId = vlanOf(at);
  const binding = address ? table.find(address, vlanId) : null;
  if (!address || !binding?.conflict || at.frame.transport === "icmpv6") return;
  const source = sourceOf(at);
  if (source !== binding.mac || source === ownMac) return;
  const claim = { address, vlanId, mac: source, source, isAnswer: false, isUnsolicited: false, repliesTo: null, packet: at.captured.bytes };
  checks.onClaim(binding, claim, deps.clock.monotonic());
}
