import { createSocket, type Socket } from "node:dgram";
import { DNS_RESPONSE_CODE, DNS_TYPE, decodeDns, encodeDns } from "@lanthorn/packets";
import { createFakeClock } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { createBinding, createHost, type Host } from "../hosts/host.ts";
import { createReverseNames, createReverseResolver } from "./reverse-names.ts";

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A DNS server on loopback that knows the names it is given. @returns Its address with its port. */
async function dnsServer(names: Readonly<Record<string, string>>): Promise<string> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  socket.on("message", (message, from) => {
    const query = decodeDns(message);
    const question = query.ok ? query.value.questions[0] : undefined;
    if (!query.ok || !question) return;
    const name = names[question.name];
    const answers =
      name === undefined ? [] : [{ name: question.name, type: DNS_TYPE.ptr, ttlSeconds: 60, data: { kind: "name", name } as const }];
    const responseCode = name === undefined ? DNS_RESPONSE_CODE.nameError : DNS_RESPONSE_CODE.noError;
    socket.send(encodeDns({ id: query.value.id, isResponse: true, responseCode, questions: [question], answers }), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return `127.0.0.1:${socket.address().port}`;
}

function hostAt(address: string): Host {
  const host = createHost({ key: 1, vendor: "", foundAt: 0, silentFrom: 0 });
  const binding = createBinding(address, "arp", 0, 0);
  if (binding) host.bindings.push(binding);
  return host;
}

describe("the reverse resolver", () => {
  test("asks the given server for both families, and fails for an address without a name", async () => {
    const server = await dnsServer({
      "20.1.168.192.in-addr.arpa": "printer.example.com",
      "0.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa": "printer6.example.com",
    });
    const resolver = createReverseResolver([server]);
    expect(await resolver?.reverseNames("192.168.1.20")).toEqual(["printer.example.com"]);
    expect(await resolver?.reverseNames("2001:db8::20")).toEqual(["printer6.example.com"]);
    await expect(resolver?.reverseNames("192.168.1.21")).rejects.toMatchObject({ code: "ENOTFOUND" });
    resolver?.close();
  });

  test("is none without servers", () => {
    expect(createReverseResolver([])).toBeNull();
  });
});

describe("reverse names", () => {
  test("are asked for again within seconds where no server answered, and not where one says that there is none", async () => {
    const clock = createFakeClock();
    const outcomes: readonly (string | Error)[] = [
      new Error("timeout"), Object.assign(new Error("timeout"), { code: "ETIMEOUT" }), "printer.example.com",
    ];
    let asked = 0;
    const named: string[] = [];
    const names = createReverseNames({
      lookUp: async (address) => {
        if (address === "192.168.1.21") throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
        const outcome = outcomes[asked];
        asked += 1;
        if (typeof outcome === "string") return [outcome];
        throw outcome;
      },
      clock,
      random: () => 0.5,
      onName: (_, name) => void named.push(name),
    });
    names.want(hostAt("192.168.1.20"));
    names.want(hostAt("192.168.1.21"));
    for (let second = 0; second < 30; second += 1) {
      await clock.advance(1000);
      names.retry(clock.monotonic());
    }
    await clock.advance(1000);
    expect([asked, named]).toEqual([3, ["printer.example.com"]]);
  });

  test("are looked up eight at a time, and every host has its turn", async () => {
    const clock = createFakeClock();
    const waiting: (() => void)[] = [];
    const named: string[] = [];
    let most = 0;
    const names = createReverseNames({
      lookUp: (address) =>
        new Promise((resolve) => {
          waiting.push(() => resolve([`host-${address}.example.com`]));
          most = Math.max(most, waiting.length);
        }),
      clock,
      random: () => 0.5,
      onName: (address) => void named.push(address),
    });
    for (let last = 1; last <= 50; last += 1) names.want(hostAt(`192.168.1.${last}`));
    while (waiting.length > 0) {
      waiting.shift()?.();
      await clock.advance(1);
    }
    expect(most).toBe(8);
    expect(new Set(named).size).toBe(50);
  });

  test("of hosts behind routers are looked up by their addresses, and a request is refused for now while too many wait", async () => {
    const clock = createFakeClock();
    const named: string[] = [];
    const names = createReverseNames({
      lookUp: async (address) => [`host-${address}.example.com`],
      clock,
      random: () => 0.5,
      onName: (address, name) => void named.push(`${address} ${name}`),
    });
    const hosts = Array.from({ length: 2000 }, (_, index) =>
      ({ address: `10.9.${index >> 8}.${index & 255}`, reverseDueAt: 0, reverseFailures: 0 }));
    const taken = hosts.filter((host) => names.want(host));
    expect(taken).toHaveLength(1032);
    await clock.advance(1);
    expect(hosts.filter((host) => !taken.includes(host)).every((host) => names.want(host))).toBe(true);
    await clock.advance(1);
    expect(named).toHaveLength(2000);
    expect(named[0]).toBe("10.9.0.0 host-10.9.0.0.example.com");
  });

  test("are asked for less and less often where there are none", async () => {
    const clock = createFakeClock();
    const askedAt: number[] = [];
    const names = createReverseNames({
      async lookUp() {
        askedAt.push(clock.monotonic());
        throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
      },
      clock,
      random: () => 0.5,
      onName: () => undefined,
    });
    const host = hostAt("192.168.1.1");
    for (let minute = 0; minute < 48 * 60; minute += 1) {
      names.want(host);
      await clock.advance(60_000);
    }
    // A minute more than the pause, as it is asked once a minute.
    const pauses = askedAt.slice(1).map((at, index) => Math.round((at - (askedAt[index] as number)) / 60_000));
    expect(pauses.slice(0, 5)).toEqual([11, 21, 41, 81, 161]);
    expect(Math.max(...pauses)).toBe(361);
  });

  test("are looked up by the IPv4 address as soon as there is one, and never by a link-local address", async () => {
    const clock = createFakeClock();
    const asked: string[] = [];
    const names = createReverseNames({
      lookUp: async (address) => {
        asked.push(address);
        throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
      },
      clock,
      random: () => 0.5,
      onName: () => undefined,
    });
    const host = hostAt("fe80::1");
    for (const address of ["2001:db8::1", "192.168.1.1"]) {
      names.want(host);
      await clock.advance(1000);
      host.bindings.push(createBinding(address, "arp", 0, 0) as NonNullable<ReturnType<typeof createBinding>>);
    }
    names.want(host);
    names.want(host);
    await clock.advance(1000);
    expect(asked).toEqual(["2001:db8::1", "192.168.1.1"]);
  });

  test("that come after the host has moved are not its own", async () => {
    const clock = createFakeClock();
    const named: string[] = [];
    let answer: (names: readonly string[]) => void = () => undefined;
    const names = createReverseNames({
      lookUp: () => new Promise((resolve) => void (answer = resolve)),
      clock,
      random: () => 0.5,
      onName: (address) => void named.push(address),
    });
    const host = hostAt("192.168.1.1");
    names.want(host);
    const moved = createBinding("192.168.1.9", "arp", 0, 0);
    if (moved) host.bindings.splice(0, 1, moved);
    answer(["old.example.com"]);
    await clock.advance(1);
    expect(named).toEqual([]);
  });
});
