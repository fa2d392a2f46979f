import { createPrivateKey } from "node:crypto";
import { EnrollmentToken, EnrollResponse, DeliveredCredentials, ProbeConfiguration, type ProbeHealth, probeTopic } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { generalDecrypt } from "jose";
import { vi } from "vitest";
import { createRequest } from "../../../certificates/testing/request.ts";
import type { KeyAndCertificate } from "../../../certificates/authority.ts";
import type { Stack } from "./stack.ts";

/** An enrolled probe that is connected and receives its configuration. For tests. */
export interface ListeningProbe {
  readonly probeId: string;
  identity: KeyAndCertificate;
  /** The configurations that it received, the newest last. */
  readonly received: ProbeConfiguration[];
  /** Waits for the next configuration that is as wanted. */
  hears(wanted: (configuration: ProbeConfiguration) => boolean): Promise<ProbeConfiguration>;
  /** What it opens with its key. */
  open(configuration: ProbeConfiguration): Promise<DeliveredCredentials["credentials"]>;
  /** Says how it is. */
  report(health: Partial<ProbeHealth>): Promise<void>;
  end(): void;
}

export async function enrollListening(
  stack: Stack, options: { readonly kind?: "Ed25519" | "RSA-2048" | "P-384" } = {},
): Promise<ListeningProbe> {
  const { token } = EnrollmentToken.parse((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId } })).body);
  const { key, request } = await createRequest(options);
  const body = { token, certificate_request: request, name: "box" };
  const { probe_id: probeId, certificate } = EnrollResponse.parse((await stack.call("POST", "/api/v1/agents/enroll", { body })).body);
  const topic = (channel: "config" | "status" | "health") => probeTopic(stack.tenantId, probeId, channel);
  const client = await stack.connect(probeId, { key, certificate });
  const received: ProbeConfiguration[] = [];
  client.on("message", (_, payload) => received.push(ProbeConfiguration.parse(JSON.parse(payload.toString()))));
  await client.subscribeAsync(topic("config"), { qos: 1 });
  const at = () => toInstant(Date.now());
  await client.publishAsync(
    topic("status"), JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at: at() }), { qos: 1 },
  );
  const probe: ListeningProbe = {
    probeId, identity: { key, certificate }, received,
    async hears(wanted) {
      await vi.waitFor(() => {
        const last = received.at(-1);
        if (!last || !wanted(last)) throw new Error(`received ${JSON.stringify(last)}`);
      }, { timeout: 300_000, interval: 10 });
      return received.at(-1) as ProbeConfiguration;
    },
    async open({ credentials }) {
      if (credentials === undefined) return [];
      const { plaintext } = await generalDecrypt(
        JSON.parse(credentials) as Parameters<typeof generalDecrypt>[0], createPrivateKey(probe.identity.key),
      );
      return DeliveredCredentials.parse(JSON.parse(new TextDecoder().decode(plaintext))).credentials;
    },
    async report(health) {
      await client.publishAsync(topic("health"), JSON.stringify({ ...CALM, at: at(), ...health }), { qos: 1 });
    },
    end: () => void client.end(true),
  };
  await probe.hears(() => true);
  return probe;
}

const CALM: Omit<ProbeHealth, "at"> = {
  v: 1, version: "1", uptime_seconds: 1, cpu_percent: 1, load_1m: 0, memory: { rss_bytes: 1, available_bytes: 1, total_bytes: 2 },
  disk: { free_bytes: 1, total_bytes: 2 }, temperature_celsius: null, capture: { frames: 0, dropped: 0 },
  queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 }, clock_offset_ms: null, interface: { name: "lan0", up: true },
  hosts: { online: 0, known: 0 },
};
