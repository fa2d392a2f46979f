import type { Severity } from "@lanthorn/contract/uplink";
import { createBoundedMap } from "../../bounded-map.ts";
import type { GuardDeps, GuardFrame } from "../guard.ts";
import { createNewcomers } from "../newcomers.ts";
import type { KnownTrees } from "./known-trees.ts";
import type { BpduHeard } from "./read-bpdu.ts";
import type { TreeSigns } from "./tree-signs.ts";

/** Judges senders of BPDUs that are no known switch port. */
export interface UnknownBridges {
  hear(at: GuardFrame, mac: string, bpdu: BpduHeard): void;
  /** Whether one of them claims this root: when our own switch repeats it, it is the same attack. */
  claims(root: string): boolean;
}

/** Three hellos and some jitter: a port that was silent for longer is gone, or blocked. */
const ALIVE_MS = 7000;
/** A bridge that takes the place of one that is gone is believed after this. */
const SETTLE_MS = 60_000;
/** What a switch has where nobody has set it. @see IEEE 802.1D-2004 table 17-2 */
const DEFAULT_PRIORITY = 0x8000;
const MAX_UNKNOWN = 64;
/** As many ports as are learned: a mirror port may show all of a switch's at once, and no link has more. */
const FLOOD = { max: 128, withinMs: 10_000 };

interface UnknownBridge {
  readonly firstAt: number;
  /** It was reported as an attack: it is not learned any more. */
  isSuspect: boolean;
}

/** Keeps 64 bridges and as many roots. */
export function createUnknownBridges(
  { clock, learning, known, signs }: Pick<GuardDeps, "clock" | "learning"> & { readonly known: KnownTrees; readonly signs: TreeSigns },
): UnknownBridges {
  const unknown = createBoundedMap<string, UnknownBridge>(MAX_UNKNOWN);
  const claimed = new Set<string>();
  const newcomers = createNewcomers(FLOOD);
  /** Who was learned last, and when: it may have been the attacker. */
  let newest = { mac: "", at: Number.NEGATIVE_INFINITY };

  function add(mac: string, bridge: UnknownBridge): UnknownBridge {
    unknown.put(mac, bridge);
    return bridge;
  }
  function learn(mac: string, { tree, root }: BpduHeard, now: number): void {
    if (root === "") return;
    known.learnPort(mac, now);
    known.learnRoot(tree, root);
    unknown.delete(mac);
    newest = { mac, at: now };
  }
  function accuse(bridge: UnknownBridge, root: string): void {
    bridge.isSuspect = true;
    if (root !== "" && claimed.size < MAX_UNKNOWN) claimed.add(root);
  }

  /** Who was learned a moment ago claims to be the better root of a tree that another bridge keeps: it is the attacker, the other is not. */
  function blameNewest(at: GuardFrame, mac: string, bpdu: BpduHeard, root: string): void {
    const suspect = newest.mac;
    known.forgetPort(suspect);
    accuse(add(suspect, { firstAt: clock.monotonic(), isSuspect: true }), root);
    learn(mac, bpdu, clock.monotonic());
    newest = { mac: "", at: Number.NEGATIVE_INFINITY };
    signs.unknownBridge(at, suspect, { severity: "high", root, right: bpdu.root });
  }

  /** @returns Null while it is not clear. */
  function judge({ tree, root, priority, isOwnRoot }: BpduHeard, bridge: UnknownBridge, isAlone: boolean): Severity | null {
    if (!known.hasPorts()) {
      if (priority >= DEFAULT_PRIORITY || !isOwnRoot) return "info";
      return priority === 0 ? "high" : "medium";
    }
    const right = known.rootOf(tree);
    const isBetter = root !== "" && right !== null && root < right;
    if (isBetter && (!isAlone || bridge.isSuspect || (priority === 0 && isOwnRoot))) return "high";
    if (bridge.isSuspect) return "medium";
    if (isAlone) return "info";
    // The same tree: another switch on this segment, or the one that takes the known one's place, which is then silent.
    return right === root && known.heardAt() <= bridge.firstAt ? null : "medium";
  }

  return {
    claims: (root) => claimed.has(root),
    hear(at, mac, bpdu) {
      const now = clock.monotonic();
      const right = known.rootOf(bpdu.tree);
      const flood = unknown.has(mac) ? null : newcomers.add(mac, now);
      const bridge = unknown.get(mac) ?? add(mac, { firstAt: now, isSuspect: flood !== null });
      if (flood) {
        for (const name of flood) known.forgetPort(name);
        return signs.unknownBridge(at, mac, { severity: "medium", root: bpdu.root, right });
      }
      const isAlone = now - known.heardAt() > ALIVE_MS;
      const isOther = right !== null && bpdu.root !== "" && right !== bpdu.root;
      if (learning.isOn() && !bridge.isSuspect && (!isOther || isAlone)) return learn(mac, bpdu, now);
      const isNewestBlamed = learning.isOn() && isOther && bpdu.root > right && newest.mac !== "" && now - newest.at < SETTLE_MS;
      if (isNewestBlamed && !bridge.isSuspect) return blameNewest(at, mac, bpdu, right);
      const severity = judge(bpdu, bridge, isAlone);
      if (severity === null) return;
      if (severity === "info" && now - bridge.firstAt >= SETTLE_MS) return learn(mac, bpdu, now);
      if (severity !== "info") accuse(bridge, bpdu.root);
      signs.unknownBridge(at, mac, { severity, root: bpdu.root, right });
    },
  };
}
