/** Counts what clients ask of names that do harm, until the daemon has written it down. */
import type { DnsQuery, Verdict } from "@lanthorn/dns";
import { severityOf } from "../../dns-lists/category.ts";
import { worstRule } from "../../dns-lists/worst-rule.ts";
import { type ListedThreat, MAX_LISTS, MAX_SAMPLES } from "./messages.ts";

/** The findings that wait. */
export interface ThreatTally {
  /** Counts a question where a list of what does harm has its name, or a record of its answer. @param address Of the client. */
  judged(query: DnsQuery, verdict: Verdict, address: string): void;
  /** Sends what is not on its way, the longest waiting first. @param send Whether it went out. */
  flush(nowMs: number, send: (number: number, threat: ListedThreat) => boolean): void;
  taken(number: number): void;
  /** The other side is gone: what it did not take waits again. */
  lost(): void;
  readonly size: number;
  /** Findings that there was no room for. */
  readonly leftOut: number;
}

interface Waiting {
  threat: ListedThreat;
  sent: { readonly number: number; readonly times: number; readonly atMs: number } | null;
}

/** Clients and lists at once. */
const MAX_WAITING = 1024;
/** What one flush sends: a second's share. */
const MAX_OF_FLUSH = 50;
const RESEND_MS = 30_000;
const MAX_TIMES = 1_000_000_000;
const DAY_MS = 86_400_000;
/** The machine itself: what it looks up is the probe's own work. */
export const OWN_ADDRESSES: ReadonlySet<string> = new Set(["127.0.0.1", "::1"]);

/** @param policyName Of a policy's id, for people. @returns One in which nothing waits. */
export function createThreatTally(policyName: (policyId: string | null) => string): ThreatTally {
  const waiting = new Map<string, Waiting>();
  let [leftOut, lastNumber] = [0, 0];
  return {
    get size() {
      return waiting.size;
    },
    get leftOut() {
      return leftOut;
    },
    judged(query, verdict, address) {
      const rule = worstRule(verdict);
      const severity = rule && severityOf(rule.category);
      if (!rule || !severity || OWN_ADDRESSES.has(address)) return;
      const key = `${address} ${rule.category} ${rule.listId}`;
      const known = waiting.get(key);
      if (!known && waiting.size >= MAX_WAITING) {
        leftOut += 1;
        return;
      }
      const name = query.name.toLowerCase().slice(0, 1024);
      const samples = known?.threat.samples ?? [];
      const threat: ListedThreat = {
        client_ip: address, times: Math.min(MAX_TIMES, (known?.threat.times ?? 0) + 1), at: query.atMs, list: rule.listName.slice(0, 128), category: rule.category.slice(0, 64), severity,
        action: verdict.action === "allow" ? "reported" : "blocked", name, type: query.type, samples: samples.includes(name) ? samples : [...samples, name].slice(-MAX_SAMPLES),
        lists: [...new Set(verdict.matches.filter(({ effect }) => effect.kind !== "allow").map(({ listName }) => listName.slice(0, 128)))].slice(0, MAX_LISTS), policy: policyName(verdict.policyId).slice(0, 128),
        blocked_record: rule.record.section === "question" ? null : rule.record.value.slice(0, 1024), listed_at: rule.firstSeenDay > 0 ? rule.firstSeenDay * DAY_MS : null,
      };
      if (known) known.threat = threat;
      else waiting.set(key, { threat, sent: null });
    },
    flush(nowMs, send) {
      let room = MAX_OF_FLUSH;
      for (const one of waiting.values()) {
        if (room === 0) return;
        if (one.sent && nowMs - one.sent.atMs < RESEND_MS) continue;
        if (!send(lastNumber + 1, one.threat)) return;
        lastNumber += 1;
        one.sent = { number: lastNumber, times: one.threat.times, atMs: nowMs };
        room -= 1;
      }
    },
    taken(number) {
      for (const [key, one] of waiting) {
        if (one.sent?.number !== number) continue;
        const times = one.threat.times - one.sent.times;
        waiting.delete(key);
        // Behind all others.
        if (times > 0) waiting.set(key, { threat: { ...one.threat, times }, sent: null });
        return;
      }
    },
    lost() {
      for (const one of waiting.values()) one.sent = null;
    },
  };
}
