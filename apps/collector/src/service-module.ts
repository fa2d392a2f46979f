import type { OpenAPIHono } from "@hono/zod-openapi";
import type { GatewayEnvironment } from "./gateway/environment.ts";
import type { HealthParts } from "./gateway/health.ts";
import type { ServiceName, ServiceRoutes } from "./gateway/services.ts";
import type { AnyJob, Job } from "./jobs/job.ts";
import type { LabelledReading, Reading } from "./metrics/metrics.ts";
import { REACTION_ORDER, type ServiceReactions } from "./reactions.ts";

/** What a service gives to the collector: one shape for all of them. `open-services.ts` is the list. */
export interface ServiceModule {
  /** For the log. */
  readonly name: string;
  /** The service of the specification whose routes these are. */
  readonly mount: ServiceName;
  readonly routes: readonly OpenAPIHono<GatewayEnvironment>[];
  /** What it does when events are appended, by the names that the rows of the table of reactions have. */
  readonly reactions?: Partial<ServiceReactions>;
  readonly jobs?: readonly AnyJob[];
  /** Jobs that forget its rows. */
  readonly retention?: readonly Job<number>[];
  /** Parts of `/health`. */
  readonly health?: HealthParts;
  /** Numbers of `/metrics`. */
  readonly metrics?: readonly (Reading | LabelledReading)[];
  /** Begins what is more than jobs, when all services are there. */
  readonly start?: () => Promise<void>;
  /** Ends what is more than jobs. */
  readonly close?: () => void | Promise<void>;
}

/** The routes of all services, by the service of the specification, in the order of the list. */
export function routesOf(modules: readonly ServiceModule[]): ServiceRoutes {
  const routes: Partial<Record<ServiceName, readonly OpenAPIHono<GatewayEnvironment>[]>> = {};
  for (const { mount, routes: own } of modules) routes[mount] = [...(routes[mount] ?? []), ...own];
  return routes;
}

/** The reactions of all services. @throws Error where one that the table names is missing, or two services give it. */
export function reactionsOf(modules: readonly ServiceModule[]): ServiceReactions {
  for (const reaction of REACTION_ORDER) {
    const givers = modules.filter(({ reactions }) => reactions?.[reaction]).map(({ name }) => name);
    if (givers.length !== 1) throw new Error(`the reaction ${reaction} is given by ${givers.join(" and ") || "no service"}`);
  }
  return Object.assign({}, ...modules.map(({ reactions }) => reactions)) as ServiceReactions;
}

/** The jobs of all services, retention included. */
export function jobsOf(modules: readonly ServiceModule[]): readonly AnyJob[] {
  return modules.flatMap(({ jobs = [], retention = [] }) => [...jobs, ...retention]);
}

/** The parts of `/health` of all services. */
export function healthOf(modules: readonly ServiceModule[]): HealthParts {
  return Object.assign({}, ...modules.map(({ health }) => health)) as HealthParts;
}

/** What all services tell by `/metrics`. */
export function metricsOf(modules: readonly ServiceModule[]): readonly (Reading | LabelledReading)[] {
  return modules.flatMap(({ metrics = [] }) => metrics);
}
