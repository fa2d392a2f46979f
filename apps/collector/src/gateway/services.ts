import type { OpenAPIHono } from "@hono/zod-openapi";
import type { RESOURCES } from "@lanthorn/contract";
import type { GatewayEnvironment } from "./environment.ts";

interface ServiceDeclaration {
  /** As its documentation is headed. */
  readonly title: string;
  readonly description: string;
  /** Where its documentation is, below `/api` and `/api/v1`. */
  readonly docs: string;
  /** What it answers below `/api` and `/api/v1`; the gateway itself has everything that no other service has. */
  readonly mounts: readonly string[];
  /** Whose scopes it needs where it is another process and a path is none that is declared here. */
  readonly resource: (typeof RESOURCES)[number] | null;
}

/**
 * The services that the specification names. What a service answers is declared by its routes, which `service-module.ts` brings
 * together: they run in this process, or in another one that the configuration names by its URL.
 */
export const SERVICES = {
  gateway: {
    title: "API gateway", docs: "/docs", mounts: [], resource: null,
    description: "Users, sites, devices, scans, alerts and everything that no other service has.",
  },
  vault: {
    title: "Vault server", docs: "/vault/docs", mounts: ["/vault"], resource: "vault",
    description: "Credentials that probes use, encrypted at rest.",
  },
  license: {
    title: "License server", docs: "/license/docs", mounts: ["/license"], resource: "license",
    description: "The license, verified offline.",
  },
  agents: {
    title: "Agent registry", docs: "/agents/docs", mounts: ["/agents"], resource: "agents",
    description: "Enrollment of probes, their certificates and their health.",
  },
  cmod: {
    title: "Configuration module", docs: "/cmod/docs", mounts: ["/cmod"], resource: "config",
    description: "Versions of network devices' configurations.",
  },
  ipam: {
    title: "IPAM service", docs: "/ipam/docs", mounts: ["/ipam"], resource: "ipam",
    description: "Prefixes, addresses and reservations, compared with the network.",
  },
  diplomat: {
    title: "Diplomat service", docs: "/diplomat/docs", mounts: ["/integrations", "/diplomat"], resource: "webhooks",
    description: "Outgoing notifications: webhooks.",
  },
} as const satisfies Record<string, ServiceDeclaration>;

/** A service's key in `SERVICES` and in the configuration's `services`. */
export type ServiceName = keyof typeof SERVICES;
/** In the order in which the merged document lists them and the gateway mounts their routes. */
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[];

/** Those that may be another process: all but the gateway itself. */
export type RemoteName = Exclude<ServiceName, "gateway">;

/** The routes of each service, without the prefix under which they are mounted. One that is left out has none yet. */
export type ServiceRoutes = Readonly<Partial<Record<ServiceName, readonly OpenAPIHono<GatewayEnvironment>[]>>>;
