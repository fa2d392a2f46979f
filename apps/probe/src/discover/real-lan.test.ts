import { describe, expect, test } from "vitest";
import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { createRealLan, whyNoNamespaces } from "./testing/real-lan.ts";

const reason = whyNoNamespaces();
if (reason) console.warn(`host discovery on a real LAN: ${reason}`);

const foundWith = (mac: string) => (events: readonly ProbeEvent[]) =>
  events
    .filter((event) => event.type === "host_found")
    .map(({ data }) => data)
    .find((host) => host.mac === mac);

describe.skipIf(reason !== null)("a real LAN of network namespaces", () => {
  test("is swept: kernel hosts are found with vendor and addresses, "
    + "and so are one that answers after 2.5 s and one that joins", async () => {
    const lan = createRealLan();
    try {
      lan.join("printer", "3c:d9:2b:00:00:11", ["10.77.0.11/24"]);
      lan.join("server", "00:1b:21:00:00:12", ["10.77.0.12/24", "10.77.0.13/24"]);
      await lan.joinLate("phone", "a4:83:e7:00:00:14", "10.77.0.14", 2500);
      lan.watch();
      const printer = await lan.until(foundWith("3c:d9:2b:00:00:11"));
      expect(printer).toMatchObject({ ip: "10.77.0.11", vendor: expect.stringMatching(/hewlett/i) });
      const server = await lan.until(foundWith("00:1b:21:00:00:12"));
      expect(server.ip).toBe("10.77.0.12");
      expect(server.addresses).toEqual(expect.arrayContaining(["10.77.0.12", "10.77.0.13"]));
      expect((await lan.until(foundWith("a4:83:e7:00:00:14"))).ip).toBe("10.77.0.14");
      const joinedAt = Date.now();
      lan.join("newcomer", "00:1b:21:00:00:99", ["10.77.0.99/24"]);
      expect((await lan.until(foundWith("00:1b:21:00:00:99"))).ip).toBe("10.77.0.99");
      console.log(`a host with a fixed address was published ${Date.now() - joinedAt} ms after it joined`);
      const macs = await lan.until((events) => events.filter((event) => event.type === "host_found").map(({ data }) => data.mac));
      expect(macs.toSorted()).toEqual(["00:1b:21:00:00:12", "00:1b:21:00:00:99", "3c:d9:2b:00:00:11", "a4:83:e7:00:00:14"]);
    } finally {
      await lan.close();
    }
  });

  test("shows a host that answers no echo and has no IPv4 address, by the multicast groups that it is asked for", async () => {
    const lan = createRealLan();
    try {
      lan.join("quiet", "00:1b:21:00:00:66", []);
      lan.run(
        "quiet", "sysctl", "-qw", "net.ipv6.icmp.echo_ignore_multicast=1", "net.ipv6.icmp.echo_ignore_all=1",
        "net.ipv6.conf.lan0.router_solicitations=0",
      );
      // What it says by itself when it comes is over.
      await lan.silence("quiet", 5000);
      expect(await lan.queryListeners()).toEqual(["00:1b:21:00:00:66 fe80::21b:21ff:fe00:66"]);
    } finally {
      await lan.close();
    }
  });
});
