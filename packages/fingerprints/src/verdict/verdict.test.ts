import { describe, expect, test } from "vitest";
import { decide } from "./decide.ts";
import { readSystem } from "./families.ts";
import { type DeviceEvidence, decideDevice } from "./device.ts";

const says = (value: string, source: string, confidence = 0.9) => ({ value, source, confidence });
const seen = (field: string, value: string, source: string, confidence = 0.9, seen_at = "2026-11-20T12:00:00.000Z"): DeviceEvidence =>
  ({ field, value, source, confidence, seen_at });

describe("what is said of one field", () => {
  test("is stronger from independent witnesses, and not from parts of one", () => {
    expect(decide([says("printer", "ssdp", 0.8), says("printer", "snmp-object", 0.9)])).toEqual(
      { value: "printer", source: "snmp-object", confidence: 0.98, sources: ["snmp-object", "ssdp"] });
    expect(decide([says("printer", "mdns:_ipp._tcp", 0.8), says("printer", "mdns:_pdl-datastream._tcp", 0.7)])?.confidence).toBe(0.8);
  });

  test("is believed no further than its source's cap, however sure it is of itself", () => {
    expect(decide([says("printer", "hostname", 1)])?.confidence).toBe(0.45);
  });

  test("is less sure where somebody contradicts, by his weight", () => {
    expect(decide([says("printer", "ssdp", 0.8), says("server", "ports", 0.4)])).toMatchObject({ value: "printer", confidence: 0.64 });
    expect(decide([says("printer", "ssdp", 0.8), says("server", "ssh", 0.8)])?.confidence).toBe(0.53);
  });

  test("supports the general by the special, and the special by half of the general", () => {
    const os = (...said: ReturnType<typeof says>[]) => decide(said, readSystem);
    expect(os(says("Linux", "tcp", 0.6), says("Debian", "ssh", 0.9))).toMatchObject({
      value: "Debian", confidence: 0.93, sources: ["ssh"],
    });
    // Two kinds that contradict each other are still the one that they are kinds of.
    expect(os(says("Debian", "ssh", 0.6), says("Ubuntu", "http-server", 0.6))).toEqual(
      { value: "Linux", source: "http-server", confidence: 0.84, sources: ["http-server", "ssh"] });
    expect(os(says("Raspbian", "ssh", 0.6), says("Debian", "http-server", 0.9), says("Linux", "tcp", 0.6))?.value).toBe("Raspbian");
    expect(os(says("Windows", "smb", 0.9), says("Linux", "tcp", 0.6))).toMatchObject({ value: "Windows", confidence: 0.68 });
  });

  test("is nothing where nothing is said", () => {
    expect(decide([])).toBeNull();
    expect(decide([says(" ", "ssh"), says("x", "ssh", 0)])).toBeNull();
  });
});

describe("what is known of a device", () => {
  const evidence = [
    seen("os", "Debian", "ssh", 0.95), seen("os_version", "12", "ssh", 0.95),
    seen("os", "Linux", "snmp-description"), seen("os_version", "6.1.0-18-amd64", "snmp-description"),
    seen("device_type", "server", "ports", 0.6), seen("device_type", "unknown", "nmap"),
    seen("vendor", "Dell Inc.", "oui", 0.6), seen("ip", "10.0.0.1", "arp"),
  ];

  test("is one verdict for each field, and the version is the system's that was decided for", () => {
    expect(decideDevice(evidence)).toEqual({
      os: { value: "Debian", confidence: 0.97, sources: ["ssh"] },
      os_version: { value: "12", confidence: 0.95, sources: ["ssh"] },
      device_type: { value: "server", confidence: 0.6, sources: ["ports"] },
      vendor: { value: "Dell Inc.", confidence: 0.6, sources: ["oui"] },
    });
  });

  test("does not depend on the order in which it was learned", () => {
    const more = [
      ...evidence, seen("os", "Ubuntu", "ssh", 0.95, "2026-11-19T12:00:00.000Z"), seen("device_type", "router", "ssdp", 0.6),
      seen("device_type", "iot", "mdns", 0.6),
    ];
    const expected = decideDevice(more);
    let state = 7;
    for (let round = 0; round < 200; round += 1) {
      const shuffled = more.map((one) => ({ one, at: (state = (state * 48_271) % 2_147_483_647) })).toSorted((a, b) => a.at - b.at)
        .map(({ one }) => one);
      expect(decideDevice(shuffled)).toEqual(expected);
    }
  });

  test("is not flipped by what is weaker or comes late, and is by what a source says anew", () => {
    expect(decideDevice([...evidence, seen("os", "Windows", "http-server", 0.5)]).os?.value).toBe("Debian");
    expect(decideDevice([...evidence, seen("os", "Windows", "ssh", 0.95, "2026-11-01T12:00:00.000Z")]).os?.value).toBe("Debian");
    expect(decideDevice([...evidence, seen("os_version", "13", "ssh", 0.95, "2026-11-21T12:00:00.000Z")]).os_version?.value).toBe("13");
  });

  test("forgets slowly: a system that was replaced a month ago counts half", () => {
    const now = "2026-12-24T12:00:00.000Z";
    expect(decideDevice([seen("os", "Windows", "smb", 0.9), seen("os", "Debian", "ssh", 0.9, now)]).os)
      .toMatchObject({ value: "Debian", confidence: 0.72 });
  });

  test("takes one maker for one, however he is spelled, and one name with and without its domain", () => {
    expect(decideDevice([seen("vendor", "Synology Incorporated", "oui", 0.6), seen("vendor", "Synology", "http-title", 0.7)]).vendor)
      .toEqual({ value: "Synology Incorporated", confidence: 0.88, sources: ["http-title", "oui"] });
    expect(decideDevice([seen("vendor", "Hewlett Packard", "oui", 0.6), seen("vendor", "HP", "snmp-object", 0.9)]).vendor?.value)
      .toBe("HP");
    expect(decideDevice([seen("hostname", "printer.local", "mdns", 0.8), seen("hostname", "Printer", "snmp", 0.8)]).hostname?.confidence)
      .toBe(0.96);
    expect(decideDevice([seen("vendor", "Intel Corporate", "oui", 0.3)]).vendor).toBeUndefined();
  });

  test("is of the specific kind where other sources say only that it is a computer, and of no kind where none is specific", () => {
    const type = (...said: readonly (readonly [value: string, source: string, confidence: number])[]) =>
      decideDevice(said.map(([value, source, confidence]) => seen("device_type", value, source, confidence))).device_type;
    expect(type(["computer", "oui", 0.5], ["server", "ports", 0.4])).toEqual({ value: "server", confidence: 0.55, sources: ["ports"] });
    expect(type(["computer", "oui", 0.4], ["workstation", "hostname", 0.4])?.value).toBe("workstation");
    expect(type(["computer", "oui", 0.5], ["computer", "ports", 0.6])).toBeUndefined();
    expect(type(["computer", "oui", 0.5], ["iot", "modbus:502", 0.9])?.value).toBe("iot");
    expect(type(["server", "ports", 0.75], ["workstation", "hostname", 0.4])?.value).toBe("server");
    expect(type(["server", "ports", 0.5], ["workstation", "hostname", 0.45])).toBeUndefined();
  });

  test("is of the kind that its system is for, unless the source of the system gave the kind as well", () => {
    const mac = seen("os", "macOS", "dhcp:parameters", 0.65);
    expect(decideDevice([mac]).device_type).toEqual({ value: "workstation", confidence: 0.65, sources: ["os"] });
    const windows = seen("os", "Windows", "dhcp:class");
    expect(decideDevice([windows]).device_type).toBeUndefined();
    expect(decideDevice([windows, seen("device_type", "workstation", "hostname", 0.45)]).device_type?.confidence).toBe(0.62);
    const router = [seen("os", "RouterOS", "http-title:80", 0.7), seen("device_type", "router", "http-title:80", 0.7)];
    expect(decideDevice(router).device_type).toEqual({ value: "router", confidence: 0.7, sources: ["http-title:80"] });
  });

  test("is nothing below one half, and no version is given without its system", () => {
    expect(decideDevice([seen("device_type", "camera", "hostname"), seen("os_version", "12", "ssh")])).toEqual({});
    expect(decideDevice([])).toEqual({});
  });
});
