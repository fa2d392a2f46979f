import type { RestClient } from "@lanthorn/client";
import type { Topology } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { showTopology } from "./topology.ts";

const SITE = "01989f2e-7c11-7aa0-b3c4-5d6e7f809102";
const AT = "2026-11-20T08:15:30.250Z";
const NODE: Omit<Topology["nodes"][number], "id" | "kind" | "name"> = {
  site_id: SITE, device_id: null, probe_id: null, ip: "", mac: "", device_type: "unknown", presence_state: "online", platform: "",
  capabilities: [],
};
const TOPOLOGY: Topology = {
  nodes: [
    { ...NODE, id: "probe:1", kind: "probe", name: "store-12" },
    { ...NODE, id: "neighbor:1", kind: "neighbor", name: "sw\u001b[2J-1", ip: "10.0.0.2", capabilities: ["bridge"] },
  ],
  edges: [{
    id: "1", kind: "probe", source: "probe:1", target: "neighbor:1", source_port: "lan0", target_port: "Gi1/0/2", target_port_names: [],
    protocols: ["lldp", "cdp"], state: "up", native_vlan: 20, voice_vlan: 30, vlan_ids: [20, 40],
    power: { role: "source", class: 4, requested_milliwatts: 25_500, allocated_milliwatts: 20_000 }, matched_by: null, confidence: null,
    first_seen: AT, last_seen: AT,
  }],
  notes: [{ site_id: SITE, code: "access-port-only", message: "Only the switch at their own cable." }],
  truncated: false,
};

test("the topology is one line for each cable, and says what cannot be seen", async () => {
  const asked: unknown[] = [];
  const rest: Pick<RestClient, "readTopology" | "listSites"> = {
    readTopology: (query) => {
      asked.push(query);
      return Promise.resolve(TOPOLOGY);
    },
    listSites: () => Promise.reject(new Error("no site was named")),
  };
  const answer = await showTopology({ rest } as unknown as Connection, {});
  expect(formatAnswer(answer, false).split("\n")).toEqual([
    "STATE  KIND   FROM      PORT  NEIGHBOR  ITS PORT  TYPE    ADDRESS   VLANS       POWER          BY        LAST SEEN",
    "up     probe  store-12  lan0  sw?[2J-1  Gi1/0/2   bridge  10.0.0.2  20u,30v,40  source 20.0 W  lldp,cdp  2026-11-20T08:15:30.250Z",
    "", "Only the switch at their own cable.",
  ]);
  expect(asked).toEqual([{ site_id: undefined, include_gone: false }]);
});
