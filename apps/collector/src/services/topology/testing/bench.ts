import { type NeighborDiscovered, Topology } from "@lanthorn/contract";
import { expect } from "vitest";
import { hostState } from "../../../ingest/testing/bench.ts";
import { createScansBench, type FakeProbe, type ScansBench } from "../../scans/testing/bench.ts";

/** Of the neighbor that `hear` tells of. */
export const CHASSIS = "00:1c:73:00:99:10";
export const PORT_MAC = "00:1c:73:00:99:1c";

/** A site with a probe that tells of neighbors, switches and hosts. For tests. */
export interface TopologyBench extends ScansBench {
  readonly probe: FakeProbe;
  /** Store-12's switch is heard, with these values of its own. */
  hear(values?: Partial<NeighborDiscovered>, of?: FakeProbe): Promise<void>;
  found(ip: string, mac: string, hostname?: string): Promise<void>;
  readTopology(query?: string, token?: string): Promise<Topology>;
  /** The id of the device there, empty for none. */
  deviceAt(ip: string): Promise<string>;
}

export async function createTopologyBench(): Promise<TopologyBench> {
  const bench = await createScansBench();
  const probe = await bench.addProbe();
  return {
    ...bench,
    probe,
    hear: (values, of = probe) => bench.tell(of, { type: "neighbor_discovered", data: neighbor(values) }),
    found: (ip, mac, hostname = "") => bench.tell(probe, { type: "host_found", data: hostState({ ip, mac, hostname }, bench.now()) }),
    async readTopology(query = "", token = bench.tenant.token) {
      // Past what was drawn a moment ago.
      await bench.clock.advance(2000);
      const answer = await bench.server.get(`/api/v1/topology${query}`, token);
      expect(answer.status).toBe(200);
      return Topology.parse(answer.body);
    },
    async deviceAt(ip) {
      return (await bench.server.db.selectFrom("devices").selectAll().where("ip", "=", ip).executeTakeFirst())?.id ?? "";
    },
  };
}

/** What the probe hears of store-12's switch. */
export function neighbor(values: Partial<NeighborDiscovered> = {}): NeighborDiscovered {
  return {
    protocol: "lldp", local_interface: "lan0", chassis_id: CHASSIS, chassis_id_type: "mac", port_id: "Ethernet12",
    port_description: "to probe", system_name: "sw-store12", system_description: "EOS", capabilities: ["bridge", "router"],
    management_addresses: ["192.0.2.2"], vlan_ids: [20], ttl_seconds: 120, source_mac: PORT_MAC, native_vlan: 20, changed: [], ...values,
  };
}
