import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { alertIdOf, createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { toAlertNotice } from "./alert-notice.ts";
import { AlertNotice } from "./messages.ts";

const PROBE = createId();
const INCIDENT = createId();
const FRAME = Buffer.from("ffffffffffff0200000000660806", "hex").toString("base64");

function rogue(more: object): ProbeEvent {
  return {
    type: "rogue_detected", occurred_at: "2026-11-20T08:00:00.000Z", data: {
      kind: "arp_spoofing", state: "seen", subject: "x", severity: "high", ip: "10.0.0.1", mac: "02:00:00:00:00:66", expected_macs: [], vlan_id: null, detail: "",
      facts: {}, count: 1, since: "2026-11-20T08:00:00.000Z", incident_id: INCIDENT, packets: [FRAME], ...more,
    },
  };
}

test("an incident's notice names the device, not the address that it claims, and the alert's id", () => {
  const notice = toAlertNotice(rogue({}), PROBE);
  expect(AlertNotice.parse(notice)).toEqual({
    alert_id: alertIdOf(PROBE, INCIDENT), kind: "arp_spoofing", at: Date.parse("2026-11-20T08:00:00.000Z"), device: { macs: ["02:00:00:00:00:66"], ips: [] },
    peer: null, packets: [FRAME],
  });
  expect(toAlertNotice(rogue({ kind: "duplicate_ip" }), PROBE)?.device.ips).toEqual(["10.0.0.1"]);
});

test("where nobody is named, who sent the frames that raised it is meant", () => {
  expect(toAlertNotice(rogue({ mac: "", ip: "" }), PROBE)?.device).toEqual({ macs: ["02:00:00:00:00:66"], ips: [] });
  expect(toAlertNotice(rogue({ mac: "", ip: "10.0.0.9" }), PROBE)?.device).toEqual({ macs: [], ips: ["10.0.0.9"] });
});

test("an incident's end, an incident of an older version, and other events have no notice", () => {
  expect(toAlertNotice(rogue({ state: "ended" }), PROBE)).toBeNull();
  expect(toAlertNotice(rogue({ incident_id: undefined }), PROBE)).toBeNull();
  expect(toAlertNotice({ type: "error", occurred_at: "2026-11-20T08:00:00.000Z", data: { code: "x", message: "y" } }, PROBE)).toBeNull();
});
