import type { Device } from "@lanthorn/contract";

/** What a device is called, as far as that is known: its name, else an address. From the network: to be shown as foreign. */
export function deviceName({ hostname, ip, mac }: Pick<Device, "hostname" | "ip" | "mac">): string {
  return hostname || ip || mac;
}
