import { describe, expect, test } from "vitest";
import { classOf, plainAddress } from "./address-classes.ts";
import { createTargetPolicy, isAllowEntry, type TargetPolicy } from "./target-policy.ts";

/** Whether a URL is taken, with the addresses that its name has; those of an address are its own. */
function takes(policy: TargetPolicy, text: string, addresses: readonly string[] = []): boolean {
  const target = policy.parse(text);
  if (typeof target === "string") return false;
  return typeof policy.check(target, target.address === null ? addresses : [target.address]) !== "string";
}

const strict = createTargetPolicy([]);

describe("without an allow-list", () => {
  test.each([
    "https://hooks.example.com/x?y=z", "https://hooks.example.com:8443/", "https://HOOKS.example.com./",
    "https://93.184.216.34/", "https://[2606:2800:220:1::1]/",
  ])("takes %s", (url) => {
    expect(takes(strict, url, ["93.184.216.34", "2606:2800:220:1::1"])).toBe(true);
  });

  test.each([
    "http://hooks.example.com/", "ftp://hooks.example.com/", "file:///etc/passwd", "hooks.example.com", "", "https://",
    "https://user@hooks.example.com/",
    "https://user:password@hooks.example.com/", "https://:x@hooks.example.com/", "https://hooks.example.com:0/",
    "https://hooks.example.com:65536/", "https://a b/", "https://hooks.example.com/\n",
    "javascript:alert(1)", "data:text/plain,x", "//hooks.example.com/",
  ])("refuses %j", (url) => expect(takes(strict, url, ["93.184.216.34"])).toBe(false));

  test.each([
    // Loopback in every spelling that a URL takes.
    "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://0x7f.1/",
    "https://127.0.0.1./", "https://[::1]/", "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::ffff:0:127.0.0.1]/", "https://[::127.0.0.1]/",
    "https://①②⑦.⓪.⓪.①/", "https://0/", "https://[::]/", "https://0.0.0.0/",
    // Metadata, link-local, private, multicast.
    "https://169.254.169.254/latest/meta-data/", "https://2852039166/", "https://0251.0376.0251.0376/", "https://[::ffff:a9fe:a9fe]/",
    "https://[fd00:ec2::254]/", "https://[fe80::1]/",
    "https://100.100.100.200/", "https://168.63.129.16/", "https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/",
    "https://192.168.1.1/", "https://100.64.0.1/", "https://198.18.0.1/",
    "https://224.0.0.1/", "https://255.255.255.255/", "https://240.0.0.1/", "https://[fc00::1]/", "https://[ff02::1]/",
    "https://[fec0::1]/", "https://[2001:db8::1]/",
    // An IPv4 address inside an IPv6 one.
    "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::10.0.0.1]/", "https://[64:ff9b:1::1]/", "https://[2002:7f00:1::]/",
    "https://[2002:a00:1::1]/", "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
  ])("refuses the address in %s, whatever it is called", (url) => {
    expect(takes(strict, url)).toBe(false);
    const { hostname } = new URL(url);
    expect(takes(strict, "https://hooks.example.com/", [hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "")])).toBe(false);
  });

  test("takes a public address behind NAT64 or 6to4", () => {
    expect(takes(strict, "https://hooks.example.com/", ["64:ff9b::5db8:d822"])).toBe(true);
    expect(takes(strict, "https://hooks.example.com/", ["2002:5db8:d822::1"])).toBe(true);
  });

  test("refuses a name of which any address is not allowed, or that has none", () => {
    expect(takes(strict, "https://hooks.example.com/", ["93.184.216.34", "10.0.0.1"])).toBe(false);
    expect(takes(strict, "https://hooks.example.com/", ["93.184.216.34", "::1"])).toBe(false);
    expect(takes(strict, "https://hooks.example.com/", ["93.184.216.34", "fe80::1%eth0"])).toBe(false);
    expect(takes(strict, "https://hooks.example.com/", ["no address"])).toBe(false);
    expect(takes(strict, "https://hooks.example.com/", [])).toBe(false);
  });
});

describe("an allow-list", () => {
  test("opens private addresses and http by prefix", () => {
    const policy = createTargetPolicy(["10.0.0.0/8", "fd12::/16"]);
    const named = ["https://10.1.2.3/", "http://10.1.2.3:8080/", "http://[fd12::1]/", "http://[::ffff:10.0.0.1]/"];
    for (const url of named) expect([url, takes(policy, url)]).toEqual([url, true]);
    for (const url of ["https://192.168.0.1/", "http://93.184.216.34/", "https://[fd13::1]/"]) expect([url, takes(policy, url)]).toEqual([
      url, false,
    ]);
    expect(takes(policy, "http://intra.example.com/", ["10.0.0.5"])).toBe(true);
    expect(takes(policy, "http://intra.example.com/", ["10.0.0.5", "93.184.216.34"])).toBe(false);
  });

  test("opens private addresses and http by the host's own name", () => {
    const policy = createTargetPolicy(["Hooks.lan"]);
    expect(takes(policy, "http://hooks.lan./x", ["192.168.1.5"])).toBe(true);
    expect(takes(policy, "https://HOOKS.LAN/x", ["fd00::5"])).toBe(true);
    expect(takes(policy, "http://other.lan/", ["192.168.1.5"])).toBe(false);
    expect(takes(policy, "http://192.168.1.5/")).toBe(false);
    expect(takes(policy, "https://a.hooks.lan/", ["192.168.1.5"])).toBe(false);
  });

  test("opens this machine, its link and its provider by just that address, never by a prefix or a name", () => {
    const wide = createTargetPolicy(["0.0.0.0/1", "localhost", "metadata.internal", "::/1"]);
    const guarded = ["http://127.0.0.1/", "https://169.254.169.254/", "https://[::1]/", "https://224.0.0.1/"];
    for (const url of guarded) expect([url, takes(wide, url)]).toEqual([url, false]);
    expect(takes(wide, "http://localhost/", ["127.0.0.1"])).toBe(false);
    expect(takes(wide, "https://metadata.internal/", ["169.254.169.254"])).toBe(false);
    const exact = createTargetPolicy(["127.0.0.1", "::1/128"]);
    const opened = ["http://127.0.0.1:9000/", "https://127.0.0.1/", "http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "http://[::1]/"];
    for (const url of opened) expect([url, takes(exact, url)]).toEqual([url, true]);
    for (const url of ["http://127.0.0.2/", "http://0.0.0.0/", "http://10.0.0.1/"]) expect([url, takes(exact, url)]).toEqual([url, false]);
    expect(takes(exact, "http://localhost/", ["127.0.0.1", "::1"])).toBe(true);
  });

  test.each(["10.0.0.1", "10.0.0.0/8", "fd00::/8", "::1", "hooks.lan", "xn--bcher-kva.example", "127.0.0.1/32", "0.0.0.0/0"])(
    "may hold %s", (entry) => expect(isAllowEntry(entry)).toBe(true),
  );
  test.each([
    "", "10.0.0.0/33", "10.0.0.0/8/8", "https://hooks.lan", "hooks.lan:80", "hooks.lan/8", "*.lan",
    "127.0.0.0/8", "169.254.0.0/16", "fe80::/10", "a b",
  ])("may not hold %j", (entry) => {
    expect(isAllowEntry(entry)).toBe(false);
  });
});

describe("an address", () => {
  test("is decided by the range that it ends at", () => {
    expect(["8.8.8.8", "100.63.255.255", "172.32.0.1", "2a00:1450::1"].map(classOf)).toEqual(["public", "public", "public", "public"]);
    expect(["172.16.0.1", "fd00::1", "4000::1", "::2:1", "192.88.99.1"].map(classOf)).toEqual([
      "private", "private", "private", "private", "private",
    ]);
    expect(["0.1.2.3", "127.255.255.254", "::", "::1", "fe80::1", "ff05::1"].map(classOf)).toEqual([
      "guarded", "guarded", "guarded", "guarded", "guarded", "guarded",
    ]);
  });

  test("has one spelling", () => {
    expect(["::FFFF:10.0.0.1", "2001:DB8:0:0:0:0:0:1", "fe80::1%3", "10.0.0.1"].map(plainAddress)).toEqual([
      "10.0.0.1", "2001:db8::1", "fe80::1", "10.0.0.1",
    ]);
    expect(["", "10.0.0", "0x7f.1", "x", "::g"].map(plainAddress)).toEqual([null, null, null, null, null]);
  });
});
