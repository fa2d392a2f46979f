import { isIP } from "node:net";
import * as z from "zod";

const DEFAULT_PORT = { udp: 53, tcp: 53, tls: 853, https: 443 } as const;

/** A server that questions are forwarded to. */
export const UpstreamSettings = z.strictObject({
  address: z.string().refine((text) => isIP(text) !== 0, "an IP address: a name would have to be asked of somebody first"),
  protocol: z.enum(["udp", "tcp", "tls", "https"]).default("udp"),
  port: z.int().min(1).max(65_535).optional(),
  /** Whose certificate it must show, with `tls` and `https`. */
  name: z.string().min(1).max(253).optional(),
  /** Of the URL, with `https`. */
  path: z.string().startsWith("/").max(256).default("/dns-query"),
  /** Certificates of further authorities, PEM. */
  authorities: z.string().max(1_048_576).optional(),
}).transform((given) => ({ ...given, port: given.port ?? DEFAULT_PORT[given.protocol] }))
  .refine(({ protocol, name }) => protocol !== "https" || name !== undefined, { error: "https needs name: whose certificate the server must show", path: ["name"] });
/** With its port filled in. */
export type UpstreamSettings = z.infer<typeof UpstreamSettings>;
