import * as z from "zod";
import { Host, Port } from "../configuration-values.ts";

const BrokerUrl = z.url({ protocol: /^mqtts?$/, error: "a URL that begins with mqtts:// or mqtt://" });

/** `[mqtt]`: The way to the probes. */
export const MqttSettings = z.strictObject({
  host: Host.default("0.0.0.0"),
  port: Port.default(8883),
  /** Connections to the embedded broker, and from one address or one /64 before they have shown a certificate. */
  connections: z.int().min(1).max(1_000_000).default(10_000),
  strangers_per_address: z.int().min(1).max(1_000_000).default(64),
  /** An external broker instead of the embedded one. */
  url: BrokerUrl.optional(),
  /** Who has signed the external broker's certificate, in PEM, where that is not the collector's own CA. */
  ca_file: z.string().min(1).optional(),
  /** What this collector is called at an external broker; each that runs at the same time has a name of its own. */
  name: z.string().regex(/^lanthorn-collector(-[a-z0-9-]{1,40})?$/, "lanthorn-collector, or that and - with small letters and digits")
    .default("lanthorn-collector"),
  /** The URL that enrolled probes connect to, where that is not this machine's own name and port. */
  public_url: BrokerUrl.optional(),
}).prefault({});
export type MqttSettings = z.infer<typeof MqttSettings>;
