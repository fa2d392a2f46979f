/** How much new software devices may bring: a probe that makes it up without end costs time and room. */
export interface Allowance {
  /** A device brought software that nobody has seen before. */
  took(tenantId: string, deviceId: string): void;
  /** Whether the tenant's changes wait until the hour is over. */
  isSpent(tenantId: string): boolean;
  /** Devices of the tenant whose changes wait until the hour is over. */
  spentDevices(tenantId: string): readonly string[];
}

const HOUR_MS = 3_600_000;
/** A server with that many different services, all never seen before, is none. */
const MAX_OF_DEVICE = 256;
/** A whole network that is seen for the first time is less. */
const MAX_OF_TENANT = 20_000;
/** Devices that wait one by one; beyond, their tenant does. */
const MAX_DEVICES = 500;

/** Counts by the hour, in memory: who starts anew forgets it. */
export function createAllowance(clock: { now(): number }): Allowance {
  let beganAt = clock.now();
  const tenants = new Map<string, { software: number; readonly devices: Map<string, number>; readonly spent: Set<string> }>();
  const of = (tenantId: string) => {
    const now = clock.now();
    if (now - beganAt >= HOUR_MS || now < beganAt) {
      beganAt = now;
      tenants.clear();
    }
    const known = tenants.get(tenantId) ?? { software: 0, devices: new Map<string, number>(), spent: new Set<string>() };
    tenants.set(tenantId, known);
    return known;
  };
  return {
    took(tenantId, deviceId) {
      const tenant = of(tenantId);
      tenant.software += 1;
      const count = (tenant.devices.get(deviceId) ?? 0) + 1;
      tenant.devices.set(deviceId, count);
      if (count >= MAX_OF_DEVICE) tenant.spent.add(deviceId);
    },
    isSpent(tenantId) {
      const { software, spent } = of(tenantId);
      return software >= MAX_OF_TENANT || spent.size > MAX_DEVICES;
    },
    spentDevices: (tenantId) => [...of(tenantId).spent],
  };
}
