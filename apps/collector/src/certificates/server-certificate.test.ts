import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Authority, openAuthority } from "./authority.ts";
import { startJobs } from "../jobs/start-jobs.ts";
import { machineNames } from "./names.ts";
import { openServerCertificate } from "./server-certificate.ts";

let dataDir = "";
let authority: Authority;
let clock: FakeClock;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-server-"));
  authority = await openAuthority({ dataDir, clock });
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const open = (names: () => readonly string[]) => openServerCertificate({ authority, dataDir, names, clock, log: silentLog });
const serial = (pem: string) => new X509Certificate(pem).serialNumber;

describe("the server certificate", () => {
  test("is for servers only, names every name and address, and is kept over a restart with its key for its owner only", async () => {
    const names = () => ["collector.example", "192.0.2.1", "2001:db8::1"];
    const first = await open(names);
    const certificate = new X509Certificate(first.current().certificate);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(certificate.checkHost("collector.example")).toBe("collector.example");
    expect(certificate.checkIP("192.0.2.1")).toBe("192.0.2.1");
    expect(certificate.checkIP("2001:db8::1")).toBeDefined();
    expect(certificate.checkHost("other.example")).toBeUndefined();
    expect(statSync(join(dataDir, "server.pem")).mode & 0o777).toBe(0o600);
    const again = await open(names);
    expect(serial(again.current().certificate)).toBe(serial(first.current().certificate));
  });

  test("is made anew for a new name, for damage, and near its end; not when a name goes away", async () => {
    let names = ["a.example"];
    const one = await open(() => names);
    const serials = [serial(one.current().certificate)];
    const jobs = await startJobs([one.job], { clock, lease: null });
    one.onChange((certificate) => serials.push(serial(certificate.certificate)));
    names = ["a.example", "192.0.2.7"];
    await clock.advance(3_600_000);
    await expect.poll(() => serials.length).toBe(2);
    names = ["a.example"];
    await clock.advance(3_600_000);
    expect(serials.length).toBe(2);
    clock.jump(370 * 86_400_000);
    await clock.advance(3_600_000);
    await expect.poll(() => serials.length).toBe(3);
    await jobs.close();
    writeFileSync(join(dataDir, "server.pem"), "garbage");
    const two = await open(() => names);
    expect(serials).not.toContain(serial(two.current().certificate));
  });

  test("is trusted by a TLS client that knows the CA, under this machine's own names", async () => {
    const certificate = await open(machineNames);
    const { key, certificate: cert } = certificate.current();
    const server = createServer({ key, cert }, (socket) => socket.end("hello")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", ca: authority.certificate });
    const [chunk] = (await once(socket, "data")) as [Buffer];
    expect(chunk.toString()).toBe("hello");
    socket.destroy();
    server.close();
  });
});
