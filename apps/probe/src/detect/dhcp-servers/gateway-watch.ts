import type { GuardDeps } from "../guard.ts";
import { type Handout, hasMore, newOnes } from "./handout.ts";
import type { KnownServer, KnownServers } from "./known-servers.ts";
import type { ServerMessage } from "./server-message.ts";

/** Watches which gateways known servers hand out. */
export interface GatewayWatch {
  /** @returns Whether the handout leads to a gateway that is not learned; it is then reported, and not learned yet. */
  isChange(row: KnownServer, handout: Handout, said: ServerMessage): boolean;
  /** Whether a handout has nothing that neither the known one has nor the settings allow. */
  areAllowed(handout: Handout, known: Handout): boolean;
  tick(now: number): void;
}

/** A new gateway is normal once the server has handed out no other for so long. */
const SETTLED_MS = 600_000;
/** It is also repeated so often before it is believed. */
const MIN_REPEATED = 2;

/** @param deps.known Whose rows it changes once a new gateway has settled. */
export function createGatewayWatch(deps: GuardDeps & { readonly known: KnownServers }): GatewayWatch {
  const { clock, incidents, learning, settings } = deps;
  const newGateways = (handout: Handout, known: Handout) => newOnes(handout.gateways, [...known.gateways, ...(known.gateways.length > 0 ? settings().routers : [])]);
  return {
    areAllowed: (handout, known) => !hasMore(handout, { ...known, gateways: [...known.gateways, ...settings().routers] }),
    isChange(row, handout, said) {
      if (!row.handout || learning.isOn()) return false;
      const foreign = newGateways(handout, row.handout);
      const now = clock.monotonic();
      if (foreign.length === 0) {
        if (!row.change || handout.gateways.length === 0) return false;
        // It speaks with two tongues: the new gateway is not its own word, or its settings are wrong. Or it was taken back.
        row.change = now - row.change.lastAt >= SETTLED_MS ? null : { ...row.change, firstAt: now, count: 0 };
        return false;
      }
      const isTorn = row.change?.count === 0;
      row.change = { gateways: foreign, firstAt: row.change?.firstAt ?? now, lastAt: now, count: (row.change?.count ?? 0) + 1 };
      incidents.report({
        kind: "gateway_changed", subject: subjectOf(row), severity: isTorn ? "high" : "medium", ip: foreign[0] ?? "", mac: said.mac, vlanId: row.vlanId,
        expectedMacs: row.macs, packet: said.packet,
        facts: { server: row.server, gateway: handout.gateways.join(" "), known_gateway: row.handout.gateways.join(" ") },
        detail: `The DHCP server ${row.server} hands out the gateway ${foreign.join(", ")}; it was ${row.handout.gateways.join(", ")} before. `
          + `${isTorn ? "It hands out both in turn, so somebody may answer in its name. " : ""}Look at the server's settings, or allow the gateway in routers.`,
      });
      return true;
    },
    tick(now) {
      for (const row of deps.known.all()) {
        const { change, handout } = row;
        if (!change || !handout || change.count < MIN_REPEATED || now - change.firstAt < SETTLED_MS) continue;
        row.handout = { ...handout, gateways: [...change.gateways] };
        row.change = null;
        deps.known.save(row);
        incidents.end("gateway_changed", subjectOf(row));
      }
    },
  };
}

/** Of one place of the server; no address alone, which is the subject where the gateway's MAC changes. */
function subjectOf({ server, vlanId, giaddr }: KnownServer): string {
  return ["dhcp", server, ...(vlanId === null ? [] : ["vlan", vlanId]), ...(giaddr ? ["relay", giaddr] : [])].join(" ");
}
