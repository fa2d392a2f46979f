import type { Device } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { findDeviceId } from "./device-id.ts";

const id = (last: number) => `01939f6e-2a10-7c3e-8f00-00000000000${last}`;
const device = (last: number, ip: string, mac: string, hostname: string): Device => ({
  id: id(last), ip, mac, hostname, vendor: "", os_guess: "", device_type: "unknown", is_online: true, presence_state: "online",
  first_seen: "2026-11-20T08:15:30.250Z", last_seen: "2026-11-20T08:15:30.250Z", site_id: id(0), open_ports: [], tags: [],
});
const asked: unknown[] = [];
const finding = (...devices: readonly Device[]) => ({
  listDevices: async (query: unknown) => {
    asked.push(query);
    return { data: [...devices], meta: { total: devices.length, page: 1, per_page: 100, next_cursor: null } };
  },
}) as unknown as Parameters<typeof findDeviceId>[0];
const nas = device(1, "10.0.0.9", "00:11:32:00:00:09", "nas");
const other = device(2, "10.0.0.90", "00:11:32:00:00:90", "nas-2");

test("an id is taken as it is, without a question", async () => {
  expect(await findDeviceId(finding(), id(7))).toBe(id(7));
  expect(asked).toEqual([]);
});

test.each([
  ["10.0.0.9"], ["00:11:32:00:00:09"], ["00-11-32-00-00-09"], ["0011.3200.0009"], ["NAS"],
])("%s names the device that is just so called, beside others that the search finds", async (name) => {
  expect(await findDeviceId(finding(other, nas), name)).toBe(id(1));
});

test("what the search finds alone is meant: a further address of a device", async () => {
  expect(await findDeviceId(finding(nas), "10.0.0.11")).toBe(id(1));
});

test("no match is an error, and several matches are listed with their ids", async () => {
  await expect(findDeviceId(finding(), "printer")).rejects.toMatchObject({
    code: "not-found", message: 'there is no device "printer"; see: lanthorn devices list',
  });
  await expect(findDeviceId(finding(nas, other), "10.0.0")).rejects.toMatchObject({
    code: "not-found", message: `2 devices match "10.0.0"; give the id of one:\n${id(1)}  10.0.0.9  00:11:32:00:00:09  nas\n${id(2)} `
      + ` 10.0.0.90  00:11:32:00:00:90  nas-2`,
  });
});
