import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readProbeConfiguration } from "./configuration.ts";
import { packetsPerSecond } from "./sweep/settings.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-config-"));
  file = join(directory, "probe.toml");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const read = (text: string, environment: Record<string, string> = {}) => {
  writeFileSync(file, text);
  return readProbeConfiguration(file, environment);
};

describe("the probe's configuration", () => {
  test("has a default for everything", () => {
    expect(read("")).toMatchObject({
      data_dir: "/var/lib/lanthorn-probe", interface: null, excluded: [], queue: { disk_budget_bytes: 536_870_912 },
      sweep: { enabled: true, packets_per_second: 200 }, health: { interval_seconds: 30, limits: { cpu_percent: 80 } },
    });
  });

  test("is overridden by the environment", () => {
    const environment = { LANTHORN_DATA_DIR: "/data", LANTHORN_INTERFACE: "lan0", LANTHORN_MQTT_URL: "mqtts://broker:8883" };
    expect(read('interface = "eth0"', environment)).toMatchObject({
      data_dir: "/data", interface: "lan0", collector: { mqtt_url: "mqtts://broker:8883" },
    });
  });

  test("holds a gentle sweep to twelve packets a second", () => {
    expect(packetsPerSecond(read("[sweep]\ngentle = true\npackets_per_second = 500").sweep)).toBe(12);
    expect(packetsPerSecond(read("[sweep]\ngentle = true\npackets_per_second = 5").sweep)).toBe(5);
    expect(packetsPerSecond(read("").sweep)).toBe(200);
  });

  test("takes networks behind routers, of both families, up to a /16 in all", () => {
    expect(read("").sweep.routed).toEqual([]);
    expect(read('[sweep]\nrouted = ["10.9.0.0/17", "10.10.0.0/24", "2001:db8:9::/114"]').sweep.routed).toHaveLength(3);
  });

  test.each([
    ["sweeep = 1", "sweeep"],
    ["[sweep]\npace = 3", "sweep"],
    ["[sweep]\npackets_per_second = 0", "sweep.packets_per_second"],
    ["[sweep]\ninterval_seconds = 5", "sweep.interval_seconds"],
    ['excluded = ["10.0.0.0/33"]', "excluded.0"],
    ['excluded = ["printer"]', "excluded.0"],
    ['networks = ["fd00::/64"]', "networks.0"],
    ['[sweep]\nrouted = ["10.0.0.0/15"]', "sweep.routed"],
    ['[sweep]\nrouted = ["10.0.0.0/16", "10.1.0.0/24"]', "sweep.routed"],
    ['[sweep]\nrouted = ["2001:db8::/64"]', "sweep.routed"],
    ['[sweep]\nrouted = ["branch"]', "sweep.routed.0"],
    ['interface = "an interface"', "interface"],
    ["[queue]\ndisk_budget_bytes = 10", "queue.disk_budget_bytes"],
    ["[health.limits]\ncpu_percent = -1", "health.limits.cpu_percent"],
    ['[collector]\nmqtt_url = "http://broker"', "collector.mqtt_url"],
  ])("refuses %j, naming %s", (text, key) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "config-invalid", message: expect.stringContaining(key) as string }));
  });

  test("refuses a file that is no TOML, and one that was named and is not there", () => {
    expect(() => read("interface =")).toThrow(expect.objectContaining({ code: "config-unreadable" }));
    expect(() => readProbeConfiguration(join(directory, "other.toml"), {})).toThrow(expect.objectContaining({ code: "config-unreadable" }));
  });
});
