import * as z from "zod";
import type { LearnedRow } from "../guard.ts";
import type { LearnedStore } from "../learned/learned-store.ts";
import type { Advert } from "./advert.ts";

const Texts = z.array(z.string().max(64)).max(32);
const Stored = z.strictObject({
  router: z.string().max(64), vlanId: z.int().nullable(), macs: z.array(z.string().max(17)).max(16), contents: z.array(z.string().max(16_384)).max(4),
  prefixes: Texts, dns: Texts, isDefault: z.boolean(), isConfirmed: z.boolean(),
});

/** A router that is known in one VLAN. */
export interface KnownRouter extends z.infer<typeof Stored> {
  /** Monotonic milliseconds. */
  readonly learnedAt: number;
  /** Another MAC has spoken in its name, and what it says is not wrong in itself. */
  claim: {
    readonly mac: string; readonly at: number; readonly packet: Uint8Array;
    /** The router was asked whether it is alive. */
    readonly isAsked: boolean;
  } | null;
  /** When it was said that it is no router any more, and when it said after that that it is. */
  endedAt: number | null;
  revivedAt: number | null;
  /** What it has begun to say. */
  change: { readonly content: string; readonly firstAt: number; readonly advert: Advert } | null;
}

/** Routers that are taken for normal; kept over restarts. */
export interface KnownRouters {
  find(router: string, vlanId: number | null): KnownRouter | null;
  all(): readonly KnownRouter[];
  /** @returns Whether there was room. */
  learn(advert: Advert, now: number): boolean;
  /** Writes a row that has changed. */
  save(row: KnownRouter): void;
  forget(row: KnownRouter): void;
  learned(): readonly LearnedRow[];
}

const SCOPE = "routers";
const MAX_ROUTERS = 64;
const NEW = { claim: null, endedAt: null, revivedAt: null, change: null } as const;

/** @param guard The guard's name, for the rows that people read. */
export function createKnownRouters(store: LearnedStore, guard: string): KnownRouters {
  const rows = new Map<string, KnownRouter>();
  const keyOf = ({ router, vlanId }: Pick<KnownRouter, "router" | "vlanId">) => `${router} ${vlanId ?? ""}`;
  for (const [key, value] of store.load(SCOPE)) {
    const read = Stored.safeParse(value);
    if (read.success && rows.size < MAX_ROUTERS) rows.set(key, { ...read.data, ...NEW, learnedAt: Number.NEGATIVE_INFINITY });
  }
  const save = (row: KnownRouter) => void store.put(SCOPE, keyOf(row), Stored.strip().parse(row));
  return {
    find: (router, vlanId) => rows.get(keyOf({ router, vlanId })) ?? null,
    all: () => [...rows.values()],
    learn(advert, now) {
      const { router, vlanId, mac, prefixes, dns, isDefault } = advert;
      if (rows.size >= MAX_ROUTERS) return false;
      const row: KnownRouter = {
        router, vlanId, macs: [mac], contents: [advert.content], prefixes: [...prefixes], dns: [...dns], isDefault, isConfirmed: false, ...NEW, learnedAt: now,
      };
      rows.set(keyOf(row), row);
      save(row);
      return true;
    },
    save,
    forget(row) {
      rows.delete(keyOf(row));
      store.remove(SCOPE, keyOf(row));
    },
    learned: () => [...rows.values()].map(({ router, vlanId, macs, prefixes, dns, isDefault }) => ({
      guard, what: "router", name: router, macs, vlanId, facts: { prefixes: prefixes.join(" "), dns: dns.join(" "), default: isDefault ? "yes" : "no" },
    })),
  };
}
