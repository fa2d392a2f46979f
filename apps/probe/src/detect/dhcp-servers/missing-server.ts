import type { GuardDeps } from "../guard.ts";

/** Notices when no DHCP server answers any more. */
export interface MissingServer {
  /** A server has answered, or a client has chosen one: one is there. */
  answered(vlanId: number | null): void;
  /** A client looks for a server. @param client Its MAC as a number. */
  asked(vlanId: number | null, client: number): void;
  /** Our own search has been sent. */
  searched(now: number): void;
  /** @param isFlooded Somebody drains the pool: that is another incident. */
  tick(now: number, isFlooded: boolean): void;
  /** Whether an answer to our own search is outstanding. */
  isWaiting(): boolean;
}

interface Waiting {
  /** Since the first question without an answer, in monotonic milliseconds. */
  readonly since: number;
  /** By client: when it asked first, and how often. */
  readonly clients: Map<number, { readonly firstAt: number; count: number }>;
  searches: number;
  /** Of our last search; null for none. */
  searchedAt: number | null;
  lastAt: number;
  /** Whether anything was asked since it was last reported. */
  isNews: boolean;
}

/** A server answers within a second; so many rounds of our own without an answer, one after another, are no accident. */
const SEARCHES = 3;
const ANSWER_MS = 3000;
/** A client repeats its question after 4, 8 and 16 s; one alone may be refused on purpose. @see RFC 2131 section 4.1 */
const CLIENTS = 2;
const REPEATS = 3;
const REPEATED_MS = 6000;
/** The same where our own search is not answered either: some servers ping an address for three seconds before they offer it. */
const SEARCHED_MS = 3500;
const SEARCHED_REPEATS = 2;
const SEARCH_MS = 1500;
/** A question is forgotten after this. */
const MEMORY_MS = 120_000;
const MAX_VLANS = 32;
const MAX_CLIENTS = 16;

/** @param deps.expectsAnswer Whether a server is known that answers our own search. @param deps.onHint A search would tell. */
export function createMissingServer(deps: Pick<GuardDeps, "clock" | "incidents"> & { readonly expectsAnswer: () => boolean; readonly onHint: () => void }): MissingServer {
  const { clock, incidents } = deps;
  const waiting = new Map<number | null, Waiting>();
  const subjectOf = (vlanId: number | null) => (vlanId === null ? "link" : `vlan ${vlanId}`);
  function wait(vlanId: number | null): Waiting | null {
    const known = waiting.get(vlanId);
    if (known) return known;
    if (waiting.size >= MAX_VLANS) return null;
    const now = clock.monotonic();
    const fresh: Waiting = { since: now, clients: new Map(), searches: 0, searchedAt: null, lastAt: now, isNews: false };
    waiting.set(vlanId, fresh);
    return fresh;
  }
  function report(vlanId: number | null, { clients, searches, since }: Waiting, now: number): void {
    incidents.report({
      kind: "dhcp_missing", subject: subjectOf(vlanId), severity: "high", ip: "", mac: "", vlanId, packet: null, facts: {},
      detail: `No DHCP server has answered for ${Math.round((now - since) / 1000)} s, though ${clients.size > 0 ? `${clients.size} clients ask` : ""}`
        + `${clients.size > 0 && searches > 0 ? " and " : ""}${searches > 0 ? `the probe has asked ${searches} times` : ""}. New hosts get no address. `
        + "Look whether the server runs, its pool has free addresses, and the relay and the VLAN lead to it.",
    });
  }
  return {
    answered(vlanId) {
      waiting.delete(vlanId);
      if (incidents.isOpen("dhcp_missing", subjectOf(vlanId))) incidents.end("dhcp_missing", subjectOf(vlanId));
    },
    asked(vlanId, client) {
      const state = wait(vlanId);
      if (!state) return;
      state.lastAt = clock.monotonic();
      state.isNews = true;
      const known = state.clients.get(client);
      if (known) known.count += 1;
      else if (state.clients.size < MAX_CLIENTS) state.clients.set(client, { firstAt: state.lastAt, count: 1 });
      if (known && vlanId === null) deps.onHint();
    },
    searched(now) {
      const state = deps.expectsAnswer() ? wait(null) : waiting.get(null);
      if (!state) return;
      state.searches += 1;
      state.searchedAt = state.lastAt = now;
      state.isNews = true;
    },
    isWaiting: () => (waiting.get(null)?.searches ?? 0) > 0,
    tick(now, isFlooded) {
      for (const [vlanId, state] of waiting) {
        if (now - state.lastAt > MEMORY_MS || isFlooded) {
          waiting.delete(vlanId);
          continue;
        }
        const isSilent = deps.expectsAnswer() && state.searches >= SEARCHES && now - state.lastAt >= ANSWER_MS;
        if (state.searches > 0 && state.searches < SEARCHES && now - state.lastAt >= ANSWER_MS) deps.onHint();
        const isSearched = state.searchedAt !== null && now - state.searchedAt >= SEARCH_MS;
        const [repeats, repeatedMs] = isSearched ? [SEARCHED_REPEATS, SEARCHED_MS] : [REPEATS, REPEATED_MS];
        const repeating = [...state.clients.values()].filter(({ count }) => count >= repeats).length;
        const areRefused = repeating >= CLIENTS && now - state.since >= repeatedMs;
        if (!state.isNews || (!isSilent && !areRefused)) continue;
        state.isNews = false;
        report(vlanId, state, now);
      }
    },
  };
}
