import type { LearnedStore } from "../learned/learned-store.ts";

/** Who sends BPDUs here, and who is root of which tree: what is known as right. */
export interface KnownTrees {
  /** The root of a tree, or null where the tree is not known. */
  rootOf(tree: string): string | null;
  learnRoot(tree: string, root: string): void;
  isPort(mac: string): boolean;
  hasPorts(): boolean;
  learnPort(mac: string, now: number): void;
  forgetPort(mac: string): void;
  /** A known port was heard. */
  touch(now: number): void;
  /** When any known port was heard last, monotonic milliseconds. Those of an earlier run count as heard at the start. */
  heardAt(): number;
}

const SCOPE = "spanning_tree";
/** A Cisco switch has a tree for each VLAN. */
const MAX_TREES = 512;
/** A mirror port shows those of many ports. */
const MAX_PORTS = 128;

/** @param now Monotonic milliseconds of the start. */
export function createKnownTrees(learned: LearnedStore, now: number): KnownTrees {
  const roots = new Map<string, string>();
  const ports = new Set<string>();
  let heardAt = Number.NEGATIVE_INFINITY;
  for (const [key, value] of learned.load(SCOPE)) {
    const [what, name] = [key.slice(0, 4), key.slice(5)];
    if (what === "root" && typeof value === "string" && /^[0-9a-f]{16}$/.test(value)) roots.set(name, value);
    if (what !== "port") continue;
    ports.add(name);
    heardAt = now;
  }
  return {
    rootOf: (tree) => roots.get(tree) ?? null,
    learnRoot(tree, root) {
      if (!roots.has(tree) && roots.size >= MAX_TREES) return;
      roots.set(tree, root);
      learned.put(SCOPE, `root ${tree}`, root);
    },
    isPort: (mac) => ports.has(mac),
    hasPorts: () => ports.size > 0,
    learnPort(mac, at) {
      if (ports.size >= MAX_PORTS) return;
      ports.add(mac);
      learned.put(SCOPE, `port ${mac}`, true);
      heardAt = at;
    },
    forgetPort(mac) {
      ports.delete(mac);
      learned.remove(SCOPE, `port ${mac}`);
    },
    touch(at) {
      heardAt = at;
    },
    heardAt: () => heardAt,
  };
}
