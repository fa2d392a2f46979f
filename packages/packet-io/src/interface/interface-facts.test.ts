import { describe, expect, test } from "vitest";
import { toInterfaceFacts } from "./interface-facts.ts";
import { runInNamespace, whyNoNamespaces } from "../testing/namespace.ts";

const reason = whyNoNamespaces();
if (reason) console.warn(`packet-io interface facts: ${reason}`);

describe.skipIf(reason !== null)("interface facts", () => {
  test("are what the kernel was configured with", async () => {
    const result = await runInNamespace<Record<string, unknown>>("facts");
    expect(result["facts"]).toEqual({
      name: "va",
      index: 0,
      mac: "02:00:5e:00:53:01",
      mtu: 1400,
      up: false,
      linkType: "ether",
      vlan: null,
      addresses: [
        { family: "ipv4", ip: "192.0.2.10", prefixLength: 24, scope: "global" },
        { family: "ipv4", ip: "198.51.100.1", prefixLength: 25, scope: "global" },
      ],
      gateways: ["192.0.2.2", "192.0.2.1"],
    });
    expect(result).toMatchObject({ unplugged: false, loopback: { linkType: "loopback", up: true } });
    const neighbor = { interface: "va", ip: "192.0.2.77", mac: "02:00:5e:00:53:77", state: "permanent", router: false };
    expect(result["neighbors"]).toEqual([neighbor]);
    expect(result["missing"]).toEqual(Array.from({ length: 6 }, () => "interface-missing"));
  });

  test("of both families are read", async () => {
    expect(await runInNamespace("sixthVersion")).toEqual({
      addresses: [{ family: "ipv6", ip: "2001:db8::10", prefixLength: 64, scope: "global" }],
      gateways: ["2001:db8::1"],
      neighbors: [{ interface: "va", ip: "2001:db8::77", mac: "02:00:5e:00:53:77", state: "permanent", router: true }],
    });
  });
});

describe("what ip says of an interface", () => {
  test("gives the tag of a VLAN interface", () => {
    const link = { ifindex: 7, ifname: "lan.42", flags: ["UP", "LOWER_UP"], mtu: 1500, link_type: "ether" };
    const linkinfo = { info_kind: "vlan", info_data: { protocol: "802.1Q", id: 42, flags: ["REORDER_HDR"] } };
    expect(toInterfaceFacts("lan.42", { ...link, linkinfo }, [])).toMatchObject({ index: 7, up: true, vlan: 42, addresses: [] });
    expect(toInterfaceFacts("lan.42", link, [])).toMatchObject({ vlan: null });
  });

  test("gives each gateway once, of routes with several next hops and next hops of the other family too", () => {
    const routes = [
      { dst: "default", gateway: "192.0.2.9", dev: "other0" },
      { dst: "default", gateway: "192.0.2.3", dev: "lan0", metric: 300 },
      { dst: "default", metric: 50, nexthops: [{ gateway: "192.0.2.1", dev: "lan0" }, { gateway: "192.0.2.8", dev: "other0" }] },
      { dst: "default", via: { family: "inet6", host: "fe80::1" }, dev: "lan0", metric: 60 },
      { dst: "default", gateway: "192.0.2.1", dev: "lan0", metric: 400 },
    ];
    expect(toInterfaceFacts("lan0", {}, [routes]).gateways).toEqual(["192.0.2.1", "fe80::1", "192.0.2.3"]);
  });

  test("may lack anything or be of another kind", () => {
    const odd = { flags: "UP", addr_info: [1, null, { family: "inet" }, { family: "mpls" }], linkinfo: [], mtu: "1500" };
    expect(toInterfaceFacts("lan0", odd, [[{ via: 1, dev: "lan0" }]])).toMatchObject({ up: false, mtu: 0, vlan: null, gateways: [] });
  });
});

describe.skipIf(reason !== null)("a watched interface", () => {
  test("tells of down and up, cable out and in, addresses, routes, removal and return, and nothing after close", async () => {
    expect(await runInNamespace("watch")).toEqual({ anotherIndex: true, afterClose: [null], failures: [] });
  });
});
