import { describe, expect, test } from "vitest";
import { readDhcpClient } from "./dhcp-client.ts";
import { readMaker } from "./maker.ts";
import { readMdnsService } from "./mdns-service.ts";
import { readNeighbor } from "./neighbor.ts";
import { readOpenPorts } from "./open-ports.ts";
import { readSsdp } from "./ssdp.ts";
import { readTcpSignature } from "./tcp-signature.ts";

const said = (claims: readonly { readonly field: string; readonly value: string }[]) =>
  Object.fromEntries(claims.map(({ field, value }) => [field, value]));
const txt = (fields: Readonly<Record<string, string>>) => new Map(Object.entries(fields));

describe("a DHCP client", () => {
  test.each([
    ["1,3,6,15,31,33,43,44,46,47,119,121,249,252", "MSFT 5.0", { os: "Windows" }],
    ["1,121,3,6,15,108,114,119,252", null, { os: "Darwin" }],
    ["1,3,6,12,15,28,42", "udhcp 1.35.0", { os: "Linux" }],
    ["1,66,6,3,15,150,35", "Cisco Systems, Inc. IP Phone CP-7960G", { device_type: "phone", vendor: "Cisco", model: "CP-7960G" }],
    ["1,2,3", null, {}],
  ])("that asks for %s as %s is known by it", (list, vendorClass, expected) => {
    expect(said(readDhcpClient({ parameters: list.split(",").map(Number), vendorClass }))).toEqual(expected);
  });

  test("says so by two parts of one source", () => {
    expect(readDhcpClient({ parameters: [1, 3, 6, 12, 15, 28, 42], vendorClass: "udhcp 1.35.0" }).map(({ source }) => source))
      .toEqual(["dhcp:parameters", "dhcp:class"]);
    expect(readDhcpClient({ parameters: null, vendorClass: null })).toEqual([]);
  });
});

describe("a handshake", () => {
  test.each([
    [{ isAnswer: false, hopLimit: 64, window: 64_240, options: "MSTNW" }, "Linux"],
    [{ isAnswer: false, hopLimit: 128, window: 64_240, options: "MNWNNS" }, "Windows"],
    [{ isAnswer: true, hopLimit: 128, window: 8192, options: "MNWST" }, "Windows"],
    [{ isAnswer: false, hopLimit: 64, window: 65_535, options: "MNWNNTS" }, "Darwin"],
    [{ isAnswer: true, hopLimit: 64, window: 65_535, options: "MNWST" }, "FreeBSD"],
    [{ isAnswer: true, hopLimit: 255, window: 4128, options: "M" }, "Cisco IOS"],
    [{ isAnswer: false, hopLimit: 63, window: 64_240, options: "MSTNW" }, undefined],
    [{ isAnswer: false, hopLimit: 64, window: 64_240, options: "M" }, undefined],
  ])("of %j is %s's", (signature, os) => {
    expect(said(readTcpSignature(signature))["os"]).toBe(os);
  });
});

describe("a service that is offered by mDNS", () => {
  test.each([
    [
      "_ipp._tcp", { rp: "ipp/print", ty: "Brother HL-L2350DW series", usb_mfg: "Brother", usb_mdl: "HL-L2350DW series" },
      { device_type: "printer", vendor: "Brother", model: "HL-L2350DW series" },
    ],
    ["_ipp._tcp", { rp: "printers/office", ty: "Brother HL-L2350DW" }, { device_type: "server" }],
    ["_airplay._tcp", { model: "AppleTV6,2" }, { device_type: "iot", vendor: "Apple", os: "tvOS", model: "AppleTV6,2" }],
    ["_raop._tcp", { am: "MacBookPro18,1" }, { device_type: "workstation", vendor: "Apple", os: "macOS", model: "MacBookPro18,1" }],
    ["_device-info._tcp", { model: "RackMac" }, { device_type: "server" }],
    ["_googlecast._tcp", { md: "Chromecast" }, { device_type: "iot", vendor: "Google", model: "Chromecast" }],
    ["_hap._tcp", { md: "Cam 2", ci: "17" }, { device_type: "camera", model: "Cam 2" }],
    ["_workstation._tcp", {}, { os: "Linux" }],
    ["_http._tcp", {}, {}],
  ])("as %s with %j says what its host is", (type, fields, expected) => {
    expect(said(readMdnsService({ type, txt: txt(fields) }))).toEqual(expected);
  });
});

test("a UPnP device says its kind and its server, a control point nothing", () => {
  const notify = (...lines: readonly string[]) => ["NOTIFY * HTTP/1.1", "HOST: 239.255.255.250:1900", ...lines, "", ""].join("\r\n");
  const router = notify(
    "NT: urn:schemas-upnp-org:device:InternetGatewayDevice:1", "NTS: ssdp:alive", "SERVER: OpenWRT/23.05 UPnP/1.1 MiniUPnPd/2.3.3",
  );
  expect(said(readSsdp(router))).toEqual({ device_type: "router", os: "OpenWrt" });
  expect(readSsdp(router.replace("ssdp:alive", "ssdp:byebye"))).toEqual([]);
  expect(readSsdp("M-SEARCH * HTTP/1.1\r\nST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\n\r\n")).toEqual([]);
});

describe("a set of open ports", () => {
  test.each([
    [["135", "139", "445"], { device_type: "workstation", os: "Windows" }],
    [["80", "515", "9100"], { device_type: "printer" }],
    [["5432"], { device_type: "server" }],
    [["80", "554"], { device_type: "camera" }],
    [["22", "80", "554"], { device_type: "server" }],
    [["22"], {}],
    [[], {}],
  ])("of %j says", (ports, expected) => {
    expect(said(readOpenPorts(new Map(ports.map((port) => [port, ""]))))).toEqual(expected);
  });

  test.each([
    [{ "22": "ssh OpenSSH 9.2p1", "5432": "postgresql PostgreSQL DB" }, "server", 0.6],
    [{ "25": "smtp Postfix smtpd", "143": "imap Dovecot imapd", "993": "imaps Dovecot imapd" }, "server", 0.75],
    // One name server at both is no two.
    [{ "53": "domain ISC BIND 9.18.49", "53/udp": "domain ISC BIND 9.18.49" }, "server", 0.55],
    [{ "53": "domain dnsmasq 2.90", "53/udp": "domain dnsmasq 2.90" }, undefined, undefined],
    // A print server is a computer, and so is one with Windows' screen: which kind, others know.
    [{ "631": "ipp CUPS 2.4" }, "computer", 0.6],
    [{ "3389": "ms-wbt-server", "445": "microsoft-ds Samba smbd" }, "server", 0.65],
    [{ "80": "http nginx 1.22.1", "443": "https nginx 1.22.1" }, undefined, undefined],
    [{ "5900": "vnc VNC protocol 3.8", "6000": "X11 The X.Org Foundation 21.1.7" }, "workstation", 0.75],
    // What calls itself otherwise at a database's port is none.
    [{ "5432": "http nginx" }, undefined, undefined],
  ])("at which %j answers says %s", (open, type, confidence) => {
    const [claim] = readOpenPorts(new Map(Object.entries(open)));
    expect([claim?.value, claim?.confidence]).toEqual([type, confidence]);
  });
});

describe("a neighbor", () => {
  const neighbor = (rest: Partial<Parameters<typeof readNeighbor>[0]>) =>
    readNeighbor({ protocol: "cdp", capabilities: [], systemDescription: "", platform: "", ...rest });
  test("is what it does, and what it says of its system and its hardware", () => {
    expect(said(neighbor({
      capabilities: ["bridge"], platform: "cisco WS-C2950-12",
      systemDescription: "Cisco IOS Software, C2950 Software, Version 12.1(22)EA14, RELEASE",
    }))).toEqual({ device_type: "switch", os: "Cisco IOS", os_version: "12.1(22)EA14", vendor: "Cisco", model: "WS-C2950-12" });
    expect(said(neighbor({ capabilities: ["telephone", "bridge"], platform: "Cisco IP Phone 7960" })))
      .toEqual({ device_type: "phone", vendor: "Cisco", model: "7960" });
  });

  test("that is a computer is no switch because it bridges for its guests", () => {
    const claims = neighbor({
      protocol: "lldp", capabilities: ["bridge", "router"],
      systemDescription: "Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 #1 SMP x86_64",
    });
    expect(said(claims)).toEqual({ device_type: "switch", os: "Debian", os_version: "12" });
    expect(claims[0]?.confidence).toBeLessThan(0.5);
  });
});

test("who made the interface is the device's maker, unless he makes parts for others", () => {
  expect(said(readMaker("Brother industries, LTD."))).toEqual({ vendor: "Brother industries, LTD.", device_type: "printer" });
  expect(said(readMaker("Hon Hai Precision Ind. Co.,Ltd."))).toEqual({});
  // Whose cards computers have, is not their maker.
  expect(said(readMaker("Intel Corporate"))).toEqual({ device_type: "computer" });
  expect(said(readMaker("Example"))).toEqual({ vendor: "Example" });
  expect(readMaker("")).toEqual([]);
});
