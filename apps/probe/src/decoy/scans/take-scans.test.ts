import { afterEach, expect, test } from "vitest";
import { describeHit } from "../link/describe-hit.ts";
import { connectTo, converse } from "../testing/converse.ts";
import { CLIENT, openForTest, type OpenedDecoys } from "../testing/opened.ts";
import type { ScanLook } from "./scan-look.ts";

let decoys: OpenedDecoys;
afterEach(() => decoys.close());

const look = (source: string, more: Partial<ScanLook> = {}): ScanLook => ({ kind: "syn-scan", source, address: "127.0.0.1", source_port: 40_000, ports: [21, 22], port_count: 2, at: 1_000, ...more });

test("a scan is a touch of the same incident as what its source does at the decoy, with its kind where services stand", async () => {
  decoys = await openForTest(["ftp"]);
  expect(decoys.daemon()).toBeNull();
  decoys.listen();
  await expect.poll(() => decoys.daemon()?.state() ?? null).not.toBeNull();
  expect(decoys.daemon()?.scanned([look(CLIENT, { ports: [1, 2, 3, 4, 5, 6, 7, 8, 9], port_count: 1000 })])).toBe(true);
  await expect.poll(() => decoys.hits).toMatchObject([{ report: "first", stage: "touch", severity: "low", service: "syn-scan", destination_port: 1, source_port: 40_000, detail: "SYN scan of port 1, 2, 3, 4, 5, 6, 7, 8 and 992 others", techniques: ["T1046"] }]);
  await converse(await connectTo(decoys.portOf("ftp")), [[/^220/, "USER root\r\n"], [/^331/, "PASS x\r\n"]], /^530/);
  await expect.poll(() => decoys.hits.at(-1)?.stage).toBe("credential");
  const last = decoys.hits.at(-1);
  expect(last).toMatchObject({ incident_id: decoys.hits[0]?.incident_id, services: ["syn-scan", "ftp"], service: "ftp" });
  expect(last && describeHit(last)).toMatch(/^2 touches, ftp, syn-scan; 1 password tried for root/);
});

test("who is exempt is counted once for each scan, and for other ports than theirs reported; so is the collector, and this machine", async () => {
  decoys = await openForTest(["ftp"], { exempt: [{ name: "scanner", addresses: ["192.0.2.10"], ports: [21] }] });
  decoys.listen(() => true, [{ name: "the collector", addresses: ["192.0.2.1"], ports: [] }]);
  await expect.poll(() => decoys.exemptions.counts().map(({ name }) => name)).toEqual(["this machine", "scanner", "the collector"]);
  decoys.daemon()?.scanned([
    look("127.0.0.1"), look("192.0.2.1"), look("192.0.2.10", { ports: [21], port_count: 1 }), look("192.0.2.10", { kind: "ping", ports: [0], port_count: 1 }), look("192.0.2.66", { address: "192.0.2.200" }), look("192.0.2.10"),
  ]);
  await expect.poll(() => decoys.hits.map(({ source_ip: ip, destination_port: port, detail }) => [ip, port, detail])).toEqual([["192.0.2.10", 22, "SYN scan of port 22"]]);
  expect(decoys.exemptions.counts().map(({ connections }) => connections)).toEqual([1, 3, 1]);
});

test("a flood of scans from forged sources takes no room from who connects", async () => {
  decoys = await openForTest(["ftp"]);
  decoys.listen();
  await expect.poll(() => decoys.daemon()?.state() ?? null).not.toBeNull();
  for (let round = 0; round < 40; round += 1) decoys.daemon()?.scanned(Array.from({ length: 64 }, (_, index) => look(`10.0.${round}.${index}`)));
  await expect.poll(() => decoys.ladder.leftOut).toBeGreaterThan(1000);
  await converse(await connectTo(decoys.portOf("ftp")), [[/^220/, "QUIT\r\n"]], /^221/);
  await expect.poll(() => decoys.hits.some(({ source_ip: ip }) => ip === CLIENT)).toBe(true);
  expect(decoys.ladder.size).toBeLessThanOrEqual(1025);
});
