import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../../broker/broker.ts";
import { readVerdicts } from "../../identity/verdicts.ts";
import { createIngestBench, hostState, type IngestBench } from "../testing/bench.ts";

let bench: IngestBench;
let probe: ProbeAddress;
let queueId = "";
let after = 0;
beforeEach(async () => {
  bench = await createIngestBench();
  probe = await bench.addProbe();
  queueId = createId();
  after = 0;
});
afterEach(() => bench.close());

const T0 = Date.UTC(2026, 10, 20, 11);
const at = (seconds: number) => toInstant(T0 + seconds * 1000);
const NAS = { ip: "192.0.2.10", mac: "00:11:32:00:00:01", hostname: "nas", vendor: "Synology Incorporated" };
const seen = (field: string, value: string, source: string, confidence: number, seconds: number) =>
  ({ field, value, source, confidence, seen_at: at(seconds) });
const tell = async (type: "host_found" | "host_changed", seconds: number, evidence: readonly ReturnType<typeof seen>[]) => {
  const state = hostState(NAS, at(seconds));
  const data = { ...state, evidence: [...state.evidence, ...evidence] };
  const event = type === "host_found"
    ? { type, occurred_at: at(seconds), data }
    : { type, occurred_at: at(seconds), data: { ...data, changed: ["evidence" as const] } };
  await bench.sendBatch(probe, queueId, after, [event]);
  after += 1;
};
const device = () => bench.database.db.selectFrom("devices").selectAll().executeTakeFirstOrThrow();
const history = () => bench.database.db.selectFrom("device_changes").select(["field", "before", "after", "source"]).orderBy("id").execute();

test("another system lets the device's software be judged anew, and more evidence of the same does not", async () => {
  const waiting = () => bench.database.db.selectFrom("software_changes").select("since").execute();
  await tell("host_found", 0, [seen("device_type", "server", "mdns:_smb._tcp", 0.6, 0)]);
  expect(await waiting()).toEqual([]);
  await tell("host_changed", 10, [seen("os", "Debian", "ssh", 0.95, 10), seen("os_version", "12", "ssh", 0.95, 10)]);
  expect(await waiting()).toEqual([{ since: at(10) }]);
  await bench.database.db.deleteFrom("software_changes").execute();
  await tell("host_changed", 20, [seen("os", "Debian", "snmp-object", 0.9, 20), seen("device_type", "nas", "snmp-object", 0.9, 20)]);
  expect(await waiting()).toEqual([]);
  await tell("host_changed", 30, [seen("os_version", "13", "ssh", 0.95, 30)]);
  expect(await waiting()).toEqual([{ since: at(30) }]);
});

describe("evidence of what a device is", () => {
  test("makes its type, system and maker, with how sure that is and by whose word; the first is no change", async () => {
    await tell("host_found", 0, [
      seen("os", "Debian", "ssh", 0.95, 0), seen("os_version", "12", "ssh", 0.95, 0),
      seen("device_type", "server", "mdns:_smb._tcp", 0.6, 0), seen("vendor", "Synology", "http-title", 0.8, 0),
      seen("vendor", "Synology Incorporated", "oui", 0.7, 0), seen("model", "DS920+", "ssdp", 0.9, 0),
    ]);
    const row = await device();
    expect(row).toMatchObject({ os_guess: "Debian 12", device_type: "server", vendor: "Synology Incorporated" });
    expect(readVerdicts(row.verdicts)).toEqual({
      os: { value: "Debian", confidence: 0.95, sources: ["ssh"] }, os_version: { value: "12", confidence: 0.95, sources: ["ssh"] },
      device_type: { value: "server", confidence: 0.6, sources: ["mdns:_smb._tcp"] },
      vendor: { value: "Synology Incorporated", confidence: 0.94, sources: ["http-title", "oui"] },
      model: { value: "DS920+", confidence: 0.9, sources: ["ssdp"] }, hostname: { value: "nas", confidence: 0.8, sources: ["dhcp"] },
    });
    expect(await history()).toEqual([]);
  });

  test("counts from every event and probe together; what changes is history, "
    + "and the maker of the interface does not take the device's place", async () => {
    await tell("host_found", 0, [seen("device_type", "printer", "oui", 0.6, 0), seen("vendor", "Synology Incorporated", "oui", 0.7, 0)]);
    await tell("host_changed", 10, [seen("device_type", "server", "snmp-object", 0.9, 10), seen("vendor", "ACME", "snmp-object", 0.9, 10)]);
    expect(await device()).toMatchObject({ device_type: "server", vendor: "ACME" });
    // Another probe knows nothing but the interface's maker.
    probe = await bench.addProbe();
    queueId = createId();
    after = 0;
    await tell("host_found", 20, [seen("vendor", "Synology Incorporated", "oui", 0.7, 20)]);
    expect(await device()).toMatchObject({ device_type: "server", vendor: "ACME" });
    expect(await history()).toEqual([
      { field: "device_type", before: "printer", after: "server", source: "snmp-object" },
      { field: "vendor", before: "Synology Incorporated", after: "ACME", source: "snmp-object" },
    ]);
  });

  test("that is late or weaker flips nothing, and its source's newer word does", async () => {
    await tell("host_found", 100, [seen("os", "Debian", "ssh", 0.95, 100), seen("os_version", "12", "ssh", 0.95, 100)]);
    await tell("host_changed", 110, [seen("os", "Windows", "ssh", 0.95, 50), seen("os", "Windows", "http-server", 0.5, 110)]);
    expect((await device()).os_guess).toBe("Debian 12");
    expect(await history()).toEqual([]);
    await tell("host_changed", 120, [seen("os", "Debian", "ssh", 0.95, 120), seen("os_version", "13", "ssh", 0.95, 120)]);
    expect((await device()).os_guess).toBe("Debian 13");
    expect(await history()).toEqual([{ field: "os_guess", before: "Debian 12", after: "Debian 13", source: "ssh" }]);
  });

  test("leaves alone what a person set, and is kept for when he lets go of it", async () => {
    await tell("host_found", 0, []);
    await bench.database.db.updateTable("devices").set({ device_type: "camera", locked_fields: '["device_type"]' }).execute();
    await tell("host_changed", 10, [seen("device_type", "printer", "snmp-object", 0.9, 10), seen("os", "Linux", "tcp", 0.6, 10)]);
    const row = await device();
    expect(row).toMatchObject({ device_type: "camera", os_guess: "Linux" });
    expect(readVerdicts(row.verdicts).device_type?.value).toBe("printer");
  });

  test("of a type that there is none of, or of no field that is concluded about, says nothing", async () => {
    await tell("host_found", 0, [seen("device_type", "toaster", "snmp-object", 0.9, 0), seen("platform", "cisco WS-C2960", "cdp", 0.9, 0)]);
    const row = await device();
    expect(row).toMatchObject({ device_type: "unknown", os_guess: "" });
    expect(Object.keys(readVerdicts(row.verdicts))).toEqual(["hostname"]);
  });
});
