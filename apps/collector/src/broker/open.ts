import { createHmac } from "node:crypto";
import type { Clock } from "@lanthorn/runtime";
import type { Authority } from "../certificates/authority.ts";
import type { ServerCertificate } from "../certificates/server-certificate.ts";
import { readPem } from "../data-dir.ts";
import { urlHost } from "../gateway/http/url-host.ts";
import type { Broker } from "./broker.ts";
import type { MqttSettings } from "./configuration.ts";
import { createEmbeddedBroker, type EmbeddedBrokerOptions } from "./embedded.ts";
import { createExternalBroker } from "./external.ts";

/** The broker in this process, or the one that the configuration names; and where probes find it that reached us under `host`. */
export async function openBroker(
  { mqtt, trusted_proxies: trustedProxies }: { readonly mqtt: MqttSettings; readonly trusted_proxies: readonly string[] },
  deps: Pick<EmbeddedBrokerOptions, "admit" | "log"> & {
    readonly authority: Authority; readonly certificate: ServerCertificate; readonly clock: Clock;
    /** What all collectors of the deployment know and nobody else. */
    readonly secret: Uint8Array;
  },
): Promise<{ readonly broker: Broker; readonly mqttUrl: (host: string) => string }> {
  const { authority, certificate, admit, clock, log } = deps;
  if (mqtt.url === undefined) {
    const broker = createEmbeddedBroker({
      host: mqtt.host, port: mqtt.port, certificate, clientCa: authority.certificate, admit, clock, log, trustedProxies,
      limits: { connections: mqtt.connections, strangersPerAddress: mqtt.strangers_per_address },
    });
    return { broker, mqttUrl: (host) => mqtt.public_url ?? `mqtts://${urlHost(host)}:${broker.port()}` };
  }
  const ca = mqtt.ca_file === undefined ? authority.certificate : readPem(mqtt.ca_file);
  const tls = mqtt.url.startsWith("mqtts:") ? { ca, ...(await authority.issueToCollector(mqtt.name)) } : null;
  const shown = new URL(mqtt.url);
  shown.username = "";
  shown.password = "";
  // A probe that knew the group could join it, and would be given messages that are then nobody's.
  const group = createHmac("sha256", deps.secret).update("lanthorn collectors").digest("hex").slice(0, 32);
  const announcementKey = createHmac("sha256", deps.secret).update("lanthorn announcements").digest();
  const broker = createExternalBroker({ name: mqtt.name, group, announcementKey, url: mqtt.url, tls, clock, random: Math.random, log });
  return { broker, mqttUrl: () => mqtt.public_url ?? shown.href };
}
