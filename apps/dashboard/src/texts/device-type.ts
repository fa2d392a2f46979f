import type { DeviceType } from "@lanthorn/contract";

/** Kinds of devices as people write them. */
export const DEVICE_TYPE_NAMES: Readonly<Record<DeviceType, string>> = {
  workstation: "workstation", server: "server", router: "router", switch: "switch", firewall: "firewall", printer: "printer", camera: "camera",
  phone: "phone", iot: "IoT", access_point: "access point", unknown: "unknown",
};
