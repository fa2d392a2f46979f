import { expect, test } from "vitest";
import { createExclusions } from "../egress/exclusions.ts";
import { createScanFindings } from "./scan-findings.ts";
import type { ScanPlan } from "./scan-plan.ts";

const PLAN: ScanPlan = {
  ranges: [], routed: [], neighbors6: [], hostsTotal: 256, packetsPerSecond: Number.POSITIVE_INFINITY, isGentle: false, tcpPorts: [],
  udpPorts: [], hasBanners: true, isDeep: false, exclusions: createExclusions([]),
};

function find(udpPorts: readonly number[], onHost: (ip: string) => void = () => {}) {
  const inVault: string[] = [];
  const identified: string[] = [];
  const findings = createScanFindings({
    plan: { ...PLAN, udpPorts }, nmapStage: null, exclusions: () => PLAN.exclusions, interfaceName: "lan0", onSent() {},
    signal: new AbortController().signal,
    report: { host: ({ ip }) => onHost(ip), port() {}, facts() {}, fault() {}, counts() {}, remark() {} },
    identify: async ({ ip, port }) => (identified.push(`${ip} ${port}`), null),
    vaultPorts: (ip) => (inVault.push(ip), [161, 1610]),
  });
  findings.host("10.0.0.1", "", false);
  findings.host("10.0.0.2", "", false);
  findings.open({ ip: "10.0.0.2", protocol: "udp", port: 161 });
  findings.askSilentAgents();
  return { findings, inVault, identified };
}

test("asks agents that are silent to a scan's packets at those of their ports that the scan is to look at", async () => {
  const { findings, inVault, identified } = find([53, 161]);
  await findings.identified();
  expect([inVault, identified.toSorted()]).toEqual([["10.0.0.1", "10.0.0.2"], ["10.0.0.1 161", "10.0.0.2 161"]]);
});

test("reports each host once", () => {
  const reported: string[] = [];
  const { findings } = find([], (ip) => reported.push(ip));
  findings.host("10.0.0.1", "", false);
  findings.host("10.0.0.3", "", false);
  findings.host("10.0.0.3", "", false);
  expect(reported).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
});

test("looks nobody up in the vault where the scan looks at no UDP port", () => {
  expect(find([]).inVault).toEqual([]);
});
