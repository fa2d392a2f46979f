/** What a device may keep where a test does not care: as the configuration's defaults. */
export const DEVICE_KEEP = { device_changes: 1000, addresses: 256, evidence: 256, ports: 4096, device_keys: 64, port_looks: 16 };
