import { createId, type Clock, silentLog, systemClock } from "@lanthorn/runtime";
import { connectAsync, type IClientOptions, type MqttClient } from "mqtt";
import { type Authority, type KeyAndCertificate, openAuthority } from "../../certificates/authority.ts";
import { createRequest } from "../../certificates/testing/request.ts";
import type { ProbeMessage, ProbeReceiver } from "../broker.ts";
import { createEmbeddedBroker, type EmbeddedBroker } from "../embedded.ts";

/** A probe's key with its certificate. For tests. */
export async function issueProbe(authority: Authority, probeId: string): Promise<KeyAndCertificate> {
  const { key, request } = await createRequest();
  const result = await authority.issueToProbe(probeId, request);
  if (!result.ok) throw new Error(result.message);
  return { key, certificate: result.issued.certificate };
}

/** Connects as a probe does: MQTT 3.1.1 over TLS with a client certificate, and no reconnecting. For tests. */
export function connectProbe(port: number, ca: string, identity: Partial<KeyAndCertificate>, options: IClientOptions): Promise<MqttClient> {
  return connectAsync(`mqtts://127.0.0.1:${port}`, {
    ca, reconnectPeriod: 0, protocolVersion: 4, connectTimeout: 5000,
    ...(identity.key === undefined ? {} : { key: identity.key }),
    ...(identity.certificate === undefined ? {} : { cert: identity.certificate }), ...options,
  }, false);
}

/** An embedded broker on a free port with what it brought. For tests. */
export interface BrokerBench {
  readonly authority: Authority;
  readonly broker: EmbeddedBroker;
  readonly messages: ProbeMessage[];
  readonly refusals: { readonly probeId: string; readonly reason: string; readonly channel: string | null }[];
  readonly admitted: Map<string, string>;
  /** Set to hold messages back. */
  hold: Promise<void>;
  /** A new probe that is let in. */
  enroll(): Promise<{ readonly probeId: string; readonly tenantId: string; readonly identity: KeyAndCertificate }>;
  connect(
    probe: { readonly probeId: string; readonly identity: Partial<KeyAndCertificate> }, options?: IClientOptions,
  ): Promise<MqttClient>;
}

/** @param options.limits As the broker's. */
export async function startBrokerBench(options: {
  readonly dataDir: string;
  readonly clock?: Clock;
  readonly limits?: { readonly connections: number; readonly strangersPerAddress: number };
}): Promise<BrokerBench> {
  const clock = options.clock ?? systemClock;
  const authority = await openAuthority({ dataDir: options.dataDir, clock });
  const server = await authority.issueToServer(["127.0.0.1", "localhost"]);
  const admitted = new Map<string, string>();
  const broker = createEmbeddedBroker({
    host: "127.0.0.1", port: 0, clientCa: authority.certificate, clock, log: silentLog,
    certificate: { current: () => server, onChange: () => {} },
    admit: (probeId) => Promise.resolve(admitted.has(probeId) ? { tenantId: admitted.get(probeId) as string } : null),
    limits: options.limits ?? { connections: 10_000, strangersPerAddress: 64 }, trustedProxies: [],
  });
  const bench: BrokerBench = {
    authority, broker, admitted, messages: [], refusals: [], hold: Promise.resolve(),
    async enroll() {
      const probeId = createId();
      const tenantId = createId();
      admitted.set(probeId, tenantId);
      return { probeId, tenantId, identity: await issueProbe(authority, probeId) };
    },
    connect: (probe, extra = {}) => connectProbe(
      broker.port(), authority.certificate, probe.identity, { clientId: probe.probeId, ...extra },
    ),
  };
  const receiver: ProbeReceiver = {
    async receive(message) {
      bench.messages.push(message);
      await bench.hold;
    },
    refused: (probe, reason, channel) => void bench.refusals.push({ probeId: probe.probeId, reason, channel }),
  };
  await broker.start(receiver);
  return bench;
}
