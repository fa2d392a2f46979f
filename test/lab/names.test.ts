import vendors from "oui-data" with { type: "json" };
import { describe, expect, test } from "vitest";
import { HOSTS } from "./host-plan.ts";
import { DEFAULT_LAB_ID, hostName, namesOf, planOfJoining } from "./names.ts";

/** @returns How many bits of a MAC belong to a maker's block, by the longest that matches; 0 when no maker is known. */
function makerBits(mac: string): number {
  const digits = mac.replaceAll(":", "").toUpperCase();
  const length = [9, 7, 6].find((count) => digits.slice(0, count) in vendors);
  return (length ?? 0) * 4;
}

describe("the hosts of the LAN", () => {
  test("have MACs of real makers, in blocks of 24, 28 and 36 bits", () => {
    expect(new Set(HOSTS.map((host) => makerBits(host.mac)))).toEqual(new Set([24, 28, 36]));
  });

  test("are at least twelve and share neither name nor MAC nor address", () => {
    expect(HOSTS.length).toBeGreaterThanOrEqual(12);
    for (const values of [HOSTS.map((host) => host.name), HOSTS.map((host) => host.mac), HOSTS.flatMap((host) => host.addresses)]) {
      expect(new Set(values).size).toBe(values.length);
    }
  });

  test("hold one with a virtual MAC, one that answers late, one with three addresses and one in two families", () => {
    expect(HOSTS.filter((host) => host.mac.startsWith("00:00:5e:00:01:"))).toHaveLength(1);
    expect(HOSTS.filter((host) => host.lateArpMs === 2000)).toHaveLength(1);
    expect(HOSTS.filter((host) => host.addresses.length === 3)).toHaveLength(1);
    expect(HOSTS.filter((host) => host.addresses.some((address) => address.includes(":")))).toHaveLength(1);
  });
});

describe("a host that joins", () => {
  test("has the same MAC of a real maker each time", () => {
    for (let count = 0; count < 200; count += 1) {
      const { mac } = planOfJoining(`host-${count}`);
      expect(mac).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);
      expect(makerBits(mac)).toBeGreaterThan(0);
      expect(planOfJoining(`host-${count}`).mac).toBe(mac);
    }
  });

  test("is called by any host name of up to 32 characters, in lower case", () => {
    for (const name of ["a", "x1", "3com", "new-host", "a".repeat(32)]) expect(hostName(name)).toBe(name);
    expect(hostName("NewHost")).toBe("newhost");
  });

  test("is refused a name that no host may have", () => {
    for (const name of ["", "-a", "a-", "a.b", "a_b", "a b", "a".repeat(33), "é", "../x", "a\n", "$(id)"]) {
      expect(() => hostName(name), name).toThrow(expect.objectContaining({ code: "bad-name" }));
    }
  });
});

describe("a lab's id", () => {
  test("keeps interface names below the kernel's 16 bytes", () => {
    expect(namesOf("12345678").wanPeer.length).toBeLessThan(16);
    expect(namesOf("12345678").namespace("web")).toBe("lab-12345678-web");
    expect(namesOf(DEFAULT_LAB_ID).namespace("web")).toBe("lab-web");
  });

  test("is refused when it is no short word", () => {
    for (const id of ["", "A", "a-b", "123456789", "../x"]) {
      expect(() => namesOf(id), id).toThrow(expect.objectContaining({ code: "bad-id" }));
    }
  });
});
