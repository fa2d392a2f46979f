import type { OpenAPIHono } from "@hono/zod-openapi";
import type { GatewayEnvironment } from "./environment.ts";

interface ServiceDeclaration {
  /** As its documentation is headed. */
  readonly title: string;
  readonly description: string;
  /** Where its documentation is, below `/api` and `/api/v1`. */
  readonly docs: string;
}

/** The services that the specification names. What a service answers is declared by its routes; which ones it has, `main.ts` says. */
export const SERVICES = {
  gateway: { title: "API gateway", docs: "/docs", description: "People, sites, devices, scans, alerts and everything else that is not one of the other services'." },
  vault: { title: "Vault server", docs: "/vault/docs", description: "Credentials that probes use, sealed at rest." },
  license: { title: "License server", docs: "/license/docs", description: "The licence of this deployment, verified offline." },
  agents: { title: "Agent registry", docs: "/agents/docs", description: "Enrollment of probes, their certificates and their health." },
  cmod: { title: "Configuration module", docs: "/cmod/docs", description: "Versions of network devices' configurations." },
  ipam: { title: "IPAM service", docs: "/ipam/docs", description: "Prefixes, addresses and reservations, compared with what is observed." },
  diplomat: { title: "Diplomat service", docs: "/diplomat/docs", description: "Speaks to the outside: webhooks." },
} as const satisfies Record<string, ServiceDeclaration>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[];

/** The routes of each service, without the prefix under which they are mounted. One that is left out has none yet. */
export type ServiceRoutes = Readonly<Partial<Record<ServiceName, readonly OpenAPIHono<GatewayEnvironment>[]>>>;
