import { expect, test } from "vitest";
import { HARD_HOSTS } from "./hard-hosts.ts";
import { HOSTS, plannedServices } from "./host-plan.ts";
import { SERVICE_DAEMONS, SERVICE_HOSTS } from "./service-hosts.ts";
import { SERVICE_STARTS } from "./service-starts.ts";

const all = [...HOSTS, ...SERVICE_HOSTS, ...HARD_HOSTS];

test("the larger lab has over forty hosts, each with a name, a MAC and addresses of its own", () => {
  expect(all.length).toBeGreaterThanOrEqual(40);
  const values = [all.map((plan) => plan.name), all.map((plan) => plan.mac), all.flatMap((plan) => plan.addresses)];
  for (const list of values) expect(new Set(list).size).toBe(list.length);
});

test("the larger lab has over twenty-five kinds of daemons, each started on some host and listening somewhere", () => {
  const used = new Set(all.flatMap((plan) => plan.daemons));
  expect(used.size).toBeGreaterThan(25);
  expect(Object.keys(SERVICE_DAEMONS).filter((name) => !used.has(name as keyof typeof SERVICE_DAEMONS))).toEqual([]);
  expect(Object.keys(SERVICE_STARTS)).toEqual(Object.keys(SERVICE_DAEMONS));
  for (const plan of SERVICE_HOSTS) expect(plannedServices(plan).length).toBeGreaterThan(0);
});
