import { expect, test } from "vitest";
import { recogClaims } from "./claims.ts";

const match = (parameters: Readonly<Record<string, string>>) => ({ description: "", parameters, certainty: 0.85, index: 0 });
const said = (parameters: Readonly<Record<string, string>>, product = "") =>
  Object.fromEntries(recogClaims(match(parameters), "ssh", { preference: 0.9, product }).map(({ field, value }) => [field, value]));

test("a fingerprint says a service and its device in our words, by a part of what was read", () => {
  expect(said({
    "service.vendor": "OpenBSD", "service.product": "OpenSSH", "service.version": "9.2p1", "service.cpe23": "cpe:/a:openbsd:openssh:9.2p1",
    "os.vendor": "Debian", "os.family": "Linux", "os.product": "Linux", "os.version": "12.0", "hw.device": "Multifunction Device",
    "hw.vendor": "HP", "hw.product": "LaserJet",
  })).toEqual({
    product: "OpenSSH", vendor: "OpenBSD", version: "9.2p1", cpe: "cpe:2.3:a:openbsd:openssh:9.2p1:*:*:*:*:*:*:*", os: "Debian",
    os_version: "12.0",
    device_vendor: "HP", model: "LaserJet", device_type: "printer",
  });
  const [claim] = recogClaims(match({ "os.product": "IOS", "os.vendor": "Cisco" }), "snmp-description", { preference: 0.9, product: "" });
  expect(claim).toMatchObject({ field: "os", value: "Cisco IOS", source: "snmp-description:recog" });
  expect(claim?.confidence).toBeLessThan(0.9);
});

test("of another product than our own rules know, nothing but the device is heard", () => {
  const parameters = { "service.product": "WS_FTP", "service.version": "7", "os.product": "Windows", "hw.device": "Toaster" };
  expect(said(parameters, "vsftpd")).toEqual({ os: "Windows" });
  expect(said(parameters, "WS FTP")).toMatchObject({ product: "WS_FTP", version: "7" });
  expect(said({ "os.product": "JetDirect Firmware" })).toEqual({});
});

test("an appliance whose system is called by its hardware has a model, and a system that people know stays one", () => {
  const procurve = { "os.vendor": "HP", "os.device": "Switch", "os.family": "ProCurve", "os.product": "J4813A" };
  expect(said(procurve)).toEqual({ model: "J4813A", device_type: "switch" });
  const printer = { "os.device": "Printer", "os.product": "4075", "hw.device": "Printer", "hw.product": "4075" };
  expect(said(printer)).toEqual({ model: "4075", device_type: "printer" });
  expect(said({ "os.device": "Switch", "os.product": "CatOS" })).toMatchObject({ os: "CatOS" });
  expect(said({ "os.device": "Device Server", "os.family": "Windows", "os.product": "Windows 10" })).toMatchObject({ os: "Windows 10" });
});
