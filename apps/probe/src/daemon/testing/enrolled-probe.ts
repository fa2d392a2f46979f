import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  ARP_OPERATION, BROADCAST_MAC, createPcapWriter, encodeArp, encodeEthernet, ETHER_TYPE, parseIp, parseMac,
} from "@lanthorn/packets";
import { createId } from "@lanthorn/runtime";
import { createKeyAndRequest } from "../../identity/certificate-request.ts";
import { type Identity, writeIdentity } from "../../identity/identity.ts";
import { createTestCa, type TestCa } from "../../identity/testing/collector.ts";
import { startTestCollector, type TestCollector } from "../../uplink/testing/collector.ts";

/** An enrolled probe's folder, and a broker over TLS that lets it in. */
export interface EnrolledProbe {
  readonly dataDir: string;
  readonly identity: Identity;
  collector: TestCollector;
  /** Ends the broker and begins it again on the same port, with nothing in it. */
  restartCollector(): Promise<void>;
  /** Runs the command in a process of its own. */
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): RunningCommand;
  /** Writes a capture file in which each host claims its address. */
  writeCapture(hosts: readonly { readonly mac: string; readonly ip: string }[]): string;
  close(): Promise<void>;
}

/** A process of the probe's command. `ended` resolves whatever its exit code; `code` is null after a signal. */
export interface RunningCommand {
  readonly pid: number;
  /** The `ready` line's content. */
  readonly ready: Promise<Record<string, unknown>>;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  /** What it has logged so far. */
  log(): string;
  kill(signal: NodeJS.Signals): void;
}

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/**
 * @param options.certificateFrom When the probe's certificate began; it ends in an hour if that is given.
 * @param options.collectorUrl Where it was enrolled.
 */
export async function createEnrolledProbe(options: {
  readonly ca?: TestCa; readonly probeId?: string; readonly certificateFrom?: number; readonly collectorUrl?: string;
} = {}): Promise<EnrolledProbe> {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-daemon-"));
  const ca = options.ca ?? await createTestCa();
  const server = await ca.issueWithKey("collector");
  const names = { tenantId: createId(), probeId: options.probeId ?? createId() };
  const tls = { key: server.key, cert: server.cert, ca: ca.pem, requestCert: true, rejectUnauthorized: true };
  const { privateKey, certificateRequest } = await createKeyAndRequest("probe");
  const lifetime = options.certificateFrom === undefined ? {} : { from: options.certificateFrom, to: Date.now() + 3_600_000 };
  const certificate = await ca.issueForRequest(names.probeId, certificateRequest, lifetime);
  const first = await startTestCollector({ ...names, tls });
  const identity: Identity = {
    probe_id: names.probeId, tenant_id: names.tenantId, site_id: createId(), name: "probe",
    collector_url: options.collectorUrl ?? "https://127.0.0.1:1", trust: "pinned",
    mqtt_url: `mqtts://127.0.0.1:${first.port}`, private_key: privateKey, certificate, ca_certificate: ca.pem,
  };
  writeIdentity(dataDir, identity);
  const running = new Set<RunningCommand>();
  const probe: EnrolledProbe = {
    dataDir, identity, collector: first,
    async restartCollector() {
      const { port } = probe.collector;
      await probe.collector.close();
      probe.collector = await startTestCollector({ ...names, tls, port });
    },
    start(args, environment = {}) {
      const command = startCommand(args, { LANTHORN_DATA_DIR: dataDir, ...environment });
      running.add(command);
      void command.ended.then(() => running.delete(command));
      return command;
    },
    writeCapture(hosts) {
      const path = join(dataDir, "hosts.pcap");
      const writer = createPcapWriter({ linkType: 1 });
      const frames = hosts.map(({ mac, ip }, index) => {
        const [hardware, address] = [parseMac(mac) as Uint8Array, parseIp(ip) as Uint8Array];
        const payload = encodeArp({
          operation: ARP_OPERATION.request, senderHardwareAddress: hardware, senderProtocolAddress: address,
          targetHardwareAddress: new Uint8Array(6), targetProtocolAddress: parseIp("10.20.255.254") as Uint8Array,
        });
        const bytes = encodeEthernet({ destination: BROADCAST_MAC, source: hardware, etherType: ETHER_TYPE.arp, payload });
        return writer.record({ seconds: 1_700_000_000 + index, nanoseconds: 0, bytes, originalLength: bytes.length });
      });
      writeFileSync(path, Buffer.concat([writer.header(), ...frames]));
      return path;
    },
    async close() {
      for (const command of running) command.kill("SIGKILL");
      await Promise.all([...running].map((command) => command.ended));
      await probe.collector.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return probe;
}

function startCommand(args: readonly string[], environment: Readonly<Record<string, string>>): RunningCommand {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LANTHORN_")));
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...inherited, ...environment }, stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  const ready = new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      stdout += `${line}\n`;
      if (line.startsWith("ready ")) resolve(JSON.parse(line.slice(6)) as Record<string, unknown>);
    });
    void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  ready.catch(() => undefined);
  return { pid: child.pid ?? 0, ready, ended, log: () => stderr, kill: (signal) => void child.kill(signal) };
}
