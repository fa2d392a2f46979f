import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, silentLog, systemClock } from "@lanthorn/runtime";
import type { IClientOptions, MqttClient } from "mqtt";
import type { DebianRoot } from "../../../../../test/lab/debian-packages.ts";
import { findFreePort } from "../../../../../test/lab/free-port.ts";
import { findMosquitto, type Mosquitto, startMosquitto } from "../../../../../test/system/mosquitto.ts";
import { waitFor } from "../../../../../test/lab/wait-for.ts";
import { type Authority, type KeyAndCertificate, openAuthority } from "../../certificates/authority.ts";
import { publishCaCertificate, writeBrokerCertificate } from "../../certificates/authority-files.ts";
import type { Broker, Peers, ProbeMessage } from "../broker.ts";
import { createExternalBroker } from "../external.ts";
import { connectProbe, issueProbe, startBrokerBench } from "./bench.ts";

/** A probe that may come in. */
export interface Enrolled {
  readonly tenantId: string;
  readonly probeId: string;
  readonly identity: KeyAndCertificate;
}

/** A broker of either kind with a collector on it. For tests of what holds for both. */
export interface BrokerUnderTest {
  readonly broker: Broker;
  readonly authority: Authority;
  readonly messages: readonly ProbeMessage[];
  enroll(): Promise<Enrolled>;
  connect(
    probe: { readonly probeId: string; readonly identity: Partial<KeyAndCertificate> }, options?: IClientOptions,
  ): Promise<MqttClient>;
  close(): Promise<void>;
}

export interface BrokerKind {
  readonly name: string;
  open(): Promise<BrokerUnderTest>;
}

/** The kinds that can be had here: aedes within this process always, and mosquitto where its package can be fetched. */
export async function brokerKinds(): Promise<readonly BrokerKind[]> {
  const mosquitto = await findMosquitto();
  return [{ name: "aedes", open: openAedes }, ...(mosquitto ? [{ name: "mosquitto", open: () => openMosquitto(mosquitto) }] : [])];
}

async function openAedes(): Promise<BrokerUnderTest> {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-broker-"));
  const bench = await startBrokerBench({ dataDir });
  return {
    broker: bench.broker, authority: bench.authority, messages: bench.messages,
    enroll: () => bench.enroll(),
    connect: (probe, options) => bench.connect(probe, options),
    async close() {
      await bench.broker.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

async function openMosquitto(root: DebianRoot): Promise<BrokerUnderTest> {
  const external = await startExternal(root);
  const messages: ProbeMessage[] = [];
  const broker = await external.collector("lanthorn-collector", (message) => messages.push(message));
  return {
    broker, authority: external.authority, messages,
    async enroll() {
      const probeId = createId();
      return { probeId, tenantId: createId(), identity: await issueProbe(external.authority, probeId) };
    },
    connect: (probe, options) => external.connect(probe, options),
    async close() {
      await broker.close();
      await external.close();
    },
  };
}

/** mosquitto with the configuration that we ship, and collectors on it. For tests. */
export interface ExternalBench extends Pick<BrokerUnderTest, "authority" | "connect" | "close"> {
  readonly url: string;
  daemon(): Mosquitto;
  start(): Promise<void>;
  /** A collector that is connected. @param to Told of each message. */
  collector(name: string, to?: (message: ProbeMessage) => unknown, peers?: Peers): Promise<Broker>;
}

export async function startExternal(root: DebianRoot): Promise<ExternalBench> {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-mosquitto-"));
  const authority = await openAuthority({ dataDir: folder, clock: systemClock });
  publishCaCertificate(folder, authority);
  const certificates = join(folder, "certificates");
  await writeBrokerCertificate({
    dataDir: folder, authority: () => Promise.resolve(authority), names: ["127.0.0.1"], directory: certificates,
  });
  const port = await findFreePort();
  const url = `mqtts://127.0.0.1:${port}`;
  const start = () => startMosquitto(root, { folder, certificates, port });
  let daemon = await start();
  return {
    authority, url, daemon: () => daemon,
    async start() {
      daemon = await start();
    },
    async collector(name, to = () => {}, peers) {
      const { key, certificate } = await authority.issueToCollector(name);
      const broker = createExternalBroker({
        name, group: "tested", announcementKey: new Uint8Array(32).fill(7), url, tls: { ca: authority.certificate, key, certificate },
        clock: systemClock, random: () => 0.1, log: silentLog,
      });
      await broker.start({ receive: async (message) => void (await to(message)), refused: () => {} }, peers);
      await waitFor("the collector at the broker", () => (broker.health().status === "ok" ? true : null));
      return broker;
    },
    connect: (probe, options = {}) => connectProbe(port, authority.certificate, probe.identity, { clientId: probe.probeId, ...options }),
    async close() {
      await daemon.kill();
      rmSync(folder, { recursive: true });
    },
  };
}
