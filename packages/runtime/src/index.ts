export { type Backoff, createBackoff } from "./backoff.ts";
export { type Clock, createFakeClock, type FakeClock, pause, settleFakeClocks, systemClock } from "./clock.ts";
export { type EnvironmentNames, readConfiguration } from "./configuration.ts";
export { describeError, RuntimeError } from "./errors.ts";
export { createId, toInstant } from "./identity.ts";
export { parseJson } from "./json.ts";
export { createLifecycle, type Lifecycle, stopSignal } from "./lifecycle.ts";
export { createLog, type Log, silentLog } from "./log.ts";
export { createServiceManager, type ServiceManager } from "./service-manager.ts";
