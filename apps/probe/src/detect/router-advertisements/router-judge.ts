import { parseIpv6, parseMac } from "@lanthorn/packets";
import type { GuardDeps, LearnedRow } from "../guard.ts";
import { type Advert, isContradiction, isHarmless } from "./advert.ts";
import { createKnownRouters, type KnownRouter } from "./known-routers.ts";
import { impersonation, kill, newSettings, twoTongues } from "./router-signs.ts";
import { createUnknownRouters } from "./unknown-routers.ts";

/** Tells routers that belong to the link from those that do not. */
export interface RouterJudge {
  hear(advert: Advert): void;
  /** A host has shown that it has an address. */
  lives(router: string, mac: string, vlanId: number | null): void;
  /** Whether an answer to a check is outstanding. */
  isChecking(): boolean;
  isSuspicious(): boolean;
  tick(now: number): void;
  learned(): readonly LearnedRow[];
}

type JudgeDeps = GuardDeps & {
  /** The guard's name. */
  readonly guard: string;
  /** Something is to be looked at by a search. */
  readonly onHint: () => void;
};

interface Parts extends JudgeDeps {
  readonly known: ReturnType<typeof createKnownRouters>;
  readonly unknown: ReturnType<typeof createUnknownRouters>;
}

/** The router that is asked whether it is alive answers within this. */
const CLAIM_MS = 3000;
/** A router that restarts says once that it ends, and once that it is there again. */
const KILL_MS = 60_000;
/** New settings are normal once the old ones have stayed away for so long. */
const SETTLED_MS = 600_000;
const MAX_CONTENTS = 4;
const MAX_MACS = 16;

/** Wires the judge's parts. */
export function createRouterJudge(deps: JudgeDeps): RouterJudge {
  const known = createKnownRouters(deps.learned, deps.guard);
  const unknown = createUnknownRouters(deps);
  const parts: Parts = { ...deps, known, unknown };
  return {
    hear(advert) {
      const { router, vlanId } = advert;
      const row = known.find(router, vlanId);
      const isAllowed = deps.settings().routers.includes(router);
      if (row) return hearKnown(parts, row, advert);
      if (isHarmless(advert)) return unknown.end(router);
      if (isAllowed) unknown.end(router);
      if (isAllowed || deps.learning.isOn()) return hearNew(parts, advert, isAllowed);
      unknown.accuse(advert, known.all().filter((other) => other.vlanId === vlanId));
      deps.onHint();
    },
    lives(router, mac, vlanId) {
      const row = known.find(router, vlanId);
      if (row?.claim && row.macs.includes(mac)) proveClaim(parts, row);
    },
    isChecking: () => known.all().some(({ claim }) => claim !== null),
    isSuspicious: unknown.isAny,
    tick(now) {
      unknown.tick(now);
      for (const row of known.all()) settle(parts, row, now);
    },
    learned: known.learned,
  };
}

/** A router that is not known may be learned, unless it contradicts one that is. */
function hearNew({ known, unknown, link, settings, clock, onHint }: Parts, advert: Advert, isAllowed: boolean): void {
  const now = clock.monotonic();
  const trust = (router: string) => (settings().routers.includes(router) ? 2 : 0) + (link()?.gateways?.includes(router) === true ? 1 : 0);
  const rivals = known.all().filter((row) => row.vlanId === advert.vlanId && isContradiction(row, advert));
  const isSuspect = rivals.some(({ router, isConfirmed }) =>
    trust(router) > trust(advert.router) || (trust(router) === trust(advert.router) && (isConfirmed || !unknown.isRepeated(advert.router))));
  if (!isAllowed && (isSuspect || (rivals.length === 0 && unknown.isOpen(advert.router)))) {
    unknown.accuse(advert, rivals);
    return onHint();
  }
  // Next to a router that somebody allows others may stay.
  if (!isAllowed) for (const rival of rivals) known.forget(rival);
  unknown.end(advert.router);
  known.learn(advert, now);
  onHint();
}

function hearKnown(parts: Parts, row: KnownRouter, advert: Advert): void {
  const { clock, incidents, known, onHint, learning } = parts;
  const now = clock.monotonic();
  const { content } = advert;
  if (!row.macs.includes(advert.mac)) {
    const isWrong = !row.contents.includes(content) || (row.isDefault && !advert.isDefault);
    if (isWrong) return incidents.report(impersonation(row, { mac: advert.mac, packet: advert.packet, advert }));
    // It may be a failover. Whether the router itself is alive decides.
    if (row.claim === null) row.claim = { mac: advert.mac, at: now, packet: advert.packet.slice(), isAsked: askRouter(parts, row) };
    return onHint();
  }
  if (row.claim) proveClaim(parts, row);
  hearLifetime(parts, row, advert);
  // A router takes everything back as it ends: that is no new setting.
  if (row.isDefault && !advert.isDefault) return;
  if (row.contents.includes(content)) {
    if (row.change && now - row.change.firstAt < SETTLED_MS) incidents.report(twoTongues(row, row.change.advert));
    row.change = null;
  } else if (learning.isOn() && row.contents.length < MAX_CONTENTS) {
    takeContent(row, advert, [...row.contents, content]);
    known.save(row);
  } else if (row.change?.content !== content) {
    row.change = { content, firstAt: now, advert: { ...advert, packet: advert.packet.slice() } };
    // Prefixes change whenever a provider renumbers; a new set of name servers or another preference is rarer.
    if (withoutPrefixes(content) !== withoutPrefixes(row.contents.at(-1) ?? content)) incidents.report(newSettings(row, advert));
    onHint();
  }
  if (!row.isConfirmed && now - row.learnedAt >= 1000) {
    row.isConfirmed = true;
    known.save(row);
  }
}

/** @returns Whether it was asked: without that nothing follows from its silence. */
function askRouter({ probes }: Parts, { router, macs }: KnownRouter): boolean {
  const address = parseIpv6(router);
  return macs.slice(0, 2).map((mac) => {
    const bytes = parseMac(mac);
    return address !== null && bytes !== null && probes.ask(address, bytes);
  }).includes(true);
}

/** Who forges a router's end repeats it, and the router contradicts it each time. */
function hearLifetime({ clock, incidents, onHint }: Parts, row: KnownRouter, advert: Advert): void {
  const now = clock.monotonic();
  if (!row.isDefault && advert.isDefault) row.isDefault = true;
  if (advert.isDefault) {
    if (row.endedAt !== null && now - row.endedAt < KILL_MS) row.revivedAt = now;
    row.endedAt = null;
  } else if (row.isDefault) {
    if (row.revivedAt !== null && now - row.revivedAt < KILL_MS) incidents.report(kill(row, advert));
    row.endedAt = now;
    onHint();
  }
}

function proveClaim({ incidents }: Parts, row: KnownRouter): void {
  if (row.claim) incidents.report(impersonation(row, row.claim));
  row.claim = null;
}

/** What was not contradicted is normal. */
function settle({ known, incidents, clock }: Parts, row: KnownRouter, now: number): void {
  if (row.claim && now - row.claim.at >= CLAIM_MS) {
    const isOpen = incidents.isOpen("router_advertisement", row.claim.mac);
    if (!isOpen && row.claim.isAsked && row.macs.length < MAX_MACS) row.macs = [...row.macs, row.claim.mac];
    row.claim = null;
    known.save(row);
  }
  if (row.change && clock.monotonic() - row.change.firstAt >= SETTLED_MS) {
    takeContent(row, row.change.advert, [row.change.content]);
    row.change = null;
    known.save(row);
  }
}

function takeContent(row: KnownRouter, { prefixes, dns }: Advert, contents: readonly string[]): void {
  row.contents = [...contents];
  row.prefixes = [...new Set([...prefixes, ...(contents.length > 1 ? row.prefixes : [])])].slice(0, 32);
  row.dns = [...new Set([...dns, ...(contents.length > 1 ? row.dns : [])])].slice(0, 32);
}

function withoutPrefixes(content: string): string {
  const parts: unknown = JSON.parse(content);
  return JSON.stringify(Array.isArray(parts) ? parts.slice(2) : parts);
}
