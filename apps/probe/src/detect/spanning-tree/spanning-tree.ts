import { formatMac, isMulticastMac } from "@lanthorn/packets";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createKnownTrees } from "./known-trees.ts";
import { createRateWindows } from "./rate-windows.ts";
import { type BpduHeard, isLike, readBpdu } from "./read-bpdu.ts";
import { createRootChanges } from "./root-changes.ts";
import { createTreeSigns } from "./tree-signs.ts";
import { createUnknownBridges } from "./unknown-bridges.ts";

/** Who takes part in the spanning tree without being one of its switches. @see README.md "Spanning tree" */
export function createSpanningTreeGuard(deps: GuardDeps): Guard {
  const { clock } = deps;
  const known = createKnownTrees(deps.learned, clock.monotonic());
  const signs = createTreeSigns(deps.incidents);
  const unknown = createUnknownBridges({ ...deps, known, signs });
  const changes = createRootChanges();
  const rates = createRateWindows();

  function hearPort(at: GuardFrame, mac: string, { tree, root, priority }: BpduHeard): void {
    const now = clock.monotonic();
    known.touch(now);
    const right = known.rootOf(tree);
    if (root === "") return;
    if (right === null) return known.learnRoot(tree, root);
    if (right === root) return changes.isBack(tree);
    if (unknown.claims(root)) return;
    const isSuspect = root < right && ((priority === 0 && !right.startsWith("0")) || isLike(root, right));
    const state = changes.other(tree, root, { now, isSuspect });
    if (state === "settled") return known.learnRoot(tree, root);
    if (state === "new") return;
    signs.rootChange(at, mac, { what: state === "contested" ? "fought" : isSuspect ? "suspect" : "changed", root, right });
  }

  return {
    name: "Spanning tree",
    onLink(at) {
      const bpdu = readBpdu(at.frame);
      const { sourceMac } = at.frame;
      if (!bpdu || !sourceMac || isMulticastMac(sourceMac)) return;
      const mac = formatMac(sourceMac);
      if (mac === deps.link()?.mac) return;
      if (rates.isFlood(`${bpdu.tree} ${mac}`, { now: clock.monotonic(), isTopologyChange: bpdu.isTopologyChange })) signs.flood(at, mac);
      if (known.isPort(mac)) hearPort(at, mac, bpdu);
      else unknown.hear(at, mac, bpdu);
    },
  };
}
